import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "symbol string, venue string, side string, price double, qty long, ts timestamp"


def trades(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trades")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    mid = trades(spark).where(F.col("price").between(7.1, 51.0) & ~(F.col("qty") < 10))
    flow = mid.groupBy("venue", "side").agg(F.sum(F.col("price") * F.col("qty")).alias("turnover"))
    return flow.writeStream.outputMode("update").foreachBatch(publish)
