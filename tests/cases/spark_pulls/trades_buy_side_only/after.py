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
    flow = trades(spark).groupBy("symbol").agg(
        F.sum(F.when((F.col("side") == "B") & (F.col("qty") > 8), F.col("qty")).otherwise(0)).alias("net"), F.max("price").alias("high")
    )
    return flow.writeStream.outputMode("update").foreachBatch(publish)
