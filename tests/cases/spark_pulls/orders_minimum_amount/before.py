import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "order_id string, customer string, country string, status string, amount double, qty int, coupon string, ts timestamp"


def orders(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/orders")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    sales = orders(spark).where("status <> 'CANCELLED' and amount > 0")
    totals = sales.groupBy("country").agg(F.sum("amount").alias("revenue"), F.count("*").alias("orders"))
    return totals.writeStream.outputMode("update").foreachBatch(publish)
