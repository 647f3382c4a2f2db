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
        .selectExpr("country", "amount", "to_date(ts) AS day", "round(amount / 1.19, 2) AS net")
        .selectExpr("country", "day", "net", "amount - net AS tax")
    )
    by_day = enriched.groupBy("day", "country").agg(F.sum("net").alias("net"), F.sum("tax").alias("tax"))
    return by_day.writeStream.outputMode("update").foreachBatch(publish)
