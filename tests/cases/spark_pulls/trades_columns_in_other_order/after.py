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
    ohlc = (
        trades(spark)
        .withWatermark("ts", "2 minutes")
        .groupBy("symbol", F.window("ts", "1 minute"))
        .agg(F.min("price").alias("low"), F.max("price").alias("high"), F.sum("qty").alias("volume"))
        .select(
            F.col("window.start").alias("minute"), "symbol", "volume", "high", "low"
        )
    )
    return ohlc.writeStream.outputMode("append").foreachBatch(publish)
