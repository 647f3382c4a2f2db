import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sale_id string, shop string, isbn string, copies int, price double, sold_at timestamp"


def build(spark):
    sales = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/book_sales")
        .withWatermark("sold_at", "20 minutes")
        .filter(F.col("copies") > 0)
    )
    hourly = (
        sales.groupBy(F.window("sold_at", "1 hour"), "shop")
        .agg(
            F.sum(F.col("copies") * F.col("price")).alias("revenue"),
            F.count("*").alias("sales"),
            F.max("price").alias("dearest"),
        )
        .select("shop", F.col("window.start").alias("hour"), "revenue", "sales", "dearest")
    )
    return hourly.writeStream.outputMode("append").format("console").option("truncate", "false")
