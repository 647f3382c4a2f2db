import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "surfer string, height double, metres double, rode timestamp"
LOWEST = 0.5


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    waves = spark.readStream.schema(SCHEMA).json(f"{LAKE}/waves_ridden").withWatermark("rode", "20 minutes")
    surfs = (
        waves.filter(F.col("height") >= LOWEST)
        .groupBy("surfer", F.session_window("rode", "25 minutes").alias("surf"))
        .agg(F.count("*").alias("waves"), F.max("height").alias("highest"), F.sum("metres").alias("metres"))
    )
    return (
        surfs.select("surfer", "surf.*", "waves", "highest", "metres")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
