import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "boat string, lock string, metres double, passed timestamp"
SLOT = "30 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/lock_passages").withWatermark("passed", "20 minutes")
    slots = read.where("boat IS NOT NULL").select(F.window("passed", SLOT), "boat", "lock", "metres")
    once = slots.dropDuplicates(["window", "boat", "lock"])
    locks = once.groupBy(F.window(F.window_time("window"), "2 hours"), "lock").agg(
        F.count("*").alias("boats"), F.sum("metres").alias("metres")
    )
    return locks.writeStream.outputMode("append").foreachBatch(publish)
