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
    enriched = (
        orders(spark)
        .withColumn("net", F.round(F.col("amount") / 1.19, 2))
        .withColumn("tax", F.col("amount") - F.col("net"))
        .withColumn("day", F.to_date("ts"))
        .drop("coupon", "customer")
    )
    by_day = enriched.groupBy("day", "country").agg(F.sum("net").alias("net"), F.sum("tax").alias("tax"))
    return by_day.writeStream.outputMode("update").foreachBatch(publish)
