import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "order_id string, customer string, country string, status string, amount double, qty int, coupon string, ts timestamp"


def orders(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/orders")


def build(spark):
    paid = orders(spark).where(F.col("status") == "PAID")
    totals = paid.groupBy("country").agg(F.sum("amount").alias("revenue"), F.count("*").alias("orders"))
    return totals.writeStream.outputMode("update").format("console")
