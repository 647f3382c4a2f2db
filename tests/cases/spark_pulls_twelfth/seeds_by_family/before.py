import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ORDER = "order_id string, variety string, packets int, price double, ordered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    orders = spark.readStream.schema(ORDER).json(f"{LAKE}/seed_orders")
    sold = (
        orders.filter(F.col("packets") > 0)
        .groupBy("variety")
        .agg(F.sum("packets").alias("packets"), F.sum(F.expr("packets * price")).alias("turnover"))
    )
    return sold.writeStream.outputMode("update").foreachBatch(publish)
