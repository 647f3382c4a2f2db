import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "parcel string, locker string, size string, customer string, dropped timestamp"


def records(reminders):
    return reminders.select(
        F.col("customer").alias("key"), F.to_json(F.struct("parcel", "locker", "size")).alias("value")
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
