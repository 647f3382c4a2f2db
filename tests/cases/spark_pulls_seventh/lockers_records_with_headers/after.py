import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "parcel string, locker string, size string, customer string, dropped timestamp"


def records(reminders):
    size = F.struct(F.lit("size").alias("key"), F.encode(F.coalesce("size", F.lit("?")), "UTF-8").alias("value"))
    return reminders.select(
        F.col("customer").alias("key"),
        F.to_json(F.struct("parcel", "locker", "size")).alias("value"),
        F.array(size).alias("headers"),
    )


def build(spark):
    waiting = spark.readStream.schema(SCHEMA).json(f"{LAKE}/waiting_parcels")
    once = waiting.withWatermark("dropped", "2 hours").dropDuplicatesWithinWatermark(["parcel", "customer"])
    return (
        records(once.where("locker IS NOT NULL"))
        .writeStream.outputMode("append")
        .format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "locker-reminders")
    )
