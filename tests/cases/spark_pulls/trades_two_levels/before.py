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
    minutes = (
        trades(spark)
        .withWatermark("ts", "30 seconds")
        .groupBy(F.window("ts", "1 minute"), "symbol")
        .agg(F.sum("qty").alias("qty"))
    )
    hours = minutes.groupBy(F.window("window", "1 hour"), "symbol").agg(F.max("qty").alias("qty"))
    return hours.writeStream.outputMode("append").foreachBatch(publish)
