import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "bid string, lot string, bidder string, cents long, currency string, at timestamp"


def bids(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/bids")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


MINIMUM = 500


def build(spark):
    serious = bids(spark).where(F.col("cents") >= MINIMUM)
    lots = serious.groupBy("lot").agg(
        F.count("*").alias("bids"),
        F.min("cents").alias("lowest"),
        F.max("cents").alias("highest"),
    )
    return lots.writeStream.outputMode("update").foreachBatch(publish)
