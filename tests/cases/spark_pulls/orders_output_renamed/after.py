import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "order_id string, customer string, country string, status string, amount double, qty int, coupon string, ts timestamp"


def orders(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/orders")


def build(spark):
    by_customer = orders(spark).groupBy("customer").agg(
        F.sum("amount").alias("revenue_eur"), F.max("qty").alias("largest_qty")
    )
    return by_customer.writeStream.outputMode("update").format("console")
