import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "order_id string, customer string, country string, status string, amount double, qty int, coupon string, ts timestamp"


def shop(spark, folder):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/{folder}")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    everything = shop(spark, "web").unionByName(shop(spark, "stores"))
    totals = everything.groupBy("country").agg(F.sum("amount").alias("revenue"))
    return totals.writeStream.outputMode("update").foreachBatch(publish)
