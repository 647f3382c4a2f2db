import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "item string, customer string, site string, step string, kg decimal(6,2), scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans").withWatermark("scanned", "30 minutes")
    slots = scans.groupBy("customer", F.window("scanned", "1 hour", "30 minutes"))
    weights = slots.agg(
        F.sum("kg").alias("kg"), F.avg("kg").alias("kg_per_item"), F.count("item").alias("items")
    ).select("window.start", "window.end", "customer", "kg", "kg_per_item", "items")
    return weights.writeStream.outputMode("append").foreachBatch(publish)
