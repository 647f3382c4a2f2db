import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "segment string, translator string, pair string, text string, score double, saved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    segments = spark.readStream.schema(SCHEMA).json(f"{LAKE}/segments").withWatermark("saved", "10 minutes")
    sittings = (
        segments.where(F.col("translator").isNotNull())
        .groupBy("translator", F.session_window("saved", "25 minutes").alias("sitting"))
        .agg(F.count("*").alias("segments"), F.avg("score").alias("score"))
        .select("translator", "sitting.start", "sitting.end", "segments", "score")
    )
    return sittings.writeStream.outputMode("append").foreachBatch(publish)
