import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "order_id string, press string, cider string, bottles long, ordered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    orders = spark.readStream.schema(SCHEMA).json(f"{LAKE}/cider_orders").fillna({"bottles": 1})
    sold = orders.groupBy("press", "cider").agg(
        F.sum("bottles").alias("sold"),
        F.max("ordered").alias("last_order"),
    )
    return sold.writeStream.outputMode("update").foreachBatch(publish)
