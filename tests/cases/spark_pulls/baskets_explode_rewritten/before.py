import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "basket string, items array<struct<sku: string, qty: int, price: double>>, ts timestamp"


def baskets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/baskets")


def build(spark):
    items = baskets(spark).select("basket", F.explode("items").alias("item"))
    by_sku = items.groupBy(F.col("item.sku").alias("sku")).agg(
        F.sum("item.qty").alias("pieces"),
        F.sum(F.col("item.qty") * F.col("item.price")).alias("revenue"),
    )
    return by_sku.writeStream.outputMode("update").format("console")
