import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "basket string, items array<struct<sku: string, qty: int, price: double>>, ts timestamp"


def baskets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/baskets")


def build(spark):
    items = baskets(spark).select(F.inline("items"))
    by_sku = items.groupBy("sku").agg(
        F.sum("qty").alias("pieces"),
        F.sum(F.col("qty") * F.col("price")).alias("revenue"),
    )
    return by_sku.writeStream.outputMode("update").format("console")
