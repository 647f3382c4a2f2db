import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "bid string, lot string, bidder string, cents long, currency string, at timestamp"


def bids(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/bids")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    halves = (
        bids(spark)
        .withWatermark("at", "10 minutes")
        .groupBy(F.window("at", "30 minutes"), "lot")
        .agg(F.count("*").alias("bids"), F.max("cents").alias("highest"))
        .select("window.start", "lot", "bids", "highest")
    )
    return halves.writeStream.outputMode("append").foreachBatch(publish)
