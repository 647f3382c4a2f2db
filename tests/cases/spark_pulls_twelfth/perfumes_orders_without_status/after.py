import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "order_id string, perfume string, status string, ml int, ordered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    orders = spark.readStream.schema(SCHEMA).json(f"{LAKE}/perfume_orders")
    open_orders = (
        orders.filter(F.col("status").isNull() | (F.col("status") != "cancelled"))
        .withWatermark("ordered", "1 hour")
        .dropDuplicates(["order_id", "ordered"])
        .select("order_id", "perfume", "ml", F.col("ordered").cast("date").alias("day"))
    )
    return open_orders.writeStream.outputMode("append").format("parquet").option("path", f"{LAKE}/out/perfume_orders")
