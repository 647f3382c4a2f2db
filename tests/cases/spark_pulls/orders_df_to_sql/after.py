import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "order_id string, customer string, country string, status string, amount double, qty int, coupon string, ts timestamp"


def orders(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/orders")


REVENUE = """
    SELECT country, sum(amount) AS revenue, count(*) AS orders
    FROM orders
    WHERE status = 'PAID'
    GROUP BY country
"""


def build(spark):
    orders(spark).createOrReplaceTempView("orders")
    return spark.sql(REVENUE).writeStream.outputMode("update").format("console")
