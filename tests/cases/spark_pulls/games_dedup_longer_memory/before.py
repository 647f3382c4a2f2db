import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, match string, region string, level int, score long, event string, ts timestamp"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    appearances = events(spark).withWatermark("ts", "5 minutes").dropDuplicatesWithinWatermark(["player", "match"])
    return appearances.select("player", "match", "ts").writeStream.outputMode("append").foreachBatch(publish)
