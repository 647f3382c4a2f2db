import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "symbol string, venue string, side string, price double, qty long, ts timestamp"


def trades(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trades")


def build(spark):
    clean = trades(spark).where("qty > 0").select("symbol", "venue", "price", "qty")
    return clean.writeStream.format("parquet").option("path", f"{LAKE}/out/trades")
