import os
from decimal import Decimal

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, line int, machine string, kind string, pieces int, fed timestamp"
DEPOSITS = {"can": "0.25", "glass": "0.15", "crate": "1.50"}


def price(text):
    return F.lit(Decimal(text)).cast("decimal(6,2)")


def deposit(kind):
    entries = [F.struct(F.lit(name), price(text)) for name, text in DEPOSITS.items()]
    return F.map_from_entries(F.array(*entries))[kind]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    returned = spark.readStream.schema(SCHEMA).json(f"{LAKE}/returned_bottles")
    once = returned.withWatermark("fed", "15 minutes").dropDuplicatesWithinWatermark(["receipt", "line"])
    paid = once.withColumn("paid", F.col("pieces") * F.coalesce(deposit(F.col("kind")), price("0.00")))
    sums = paid.groupBy(F.window("fed", "30 minutes"), "machine").agg(
        F.sum("paid").alias("paid"), F.count("*").alias("lines")
    )
    return sums.writeStream.outputMode("append").foreachBatch(publish)
