import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "id string, rec string, usr string, sec int, ts timestamp"
NAMES = {"id": "play_id", "rec": "record_no", "usr": "listener", "sec": "seconds", "ts": "played_at"}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    plays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/vinyl_plays").withColumnsRenamed(NAMES)
    records = (
        plays.filter("seconds >= 30")
        .dropDuplicates(["play_id"])
        .groupBy("record_no")
        .agg(
            F.count("play_id").alias("plays"),
            F.sum("seconds").alias("seconds_played"),
            F.max("played_at").alias("last_played_at"),
        )
    )
    return records.writeStream.outputMode("update").foreachBatch(publish)
