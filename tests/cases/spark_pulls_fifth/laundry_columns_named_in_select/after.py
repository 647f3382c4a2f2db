import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "item string, customer string, site string, step string, kg decimal(6,2), scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans").withWatermark("scanned", "30 minutes")
    slots = scans.groupBy("customer", F.window("scanned", "1 hour", "30 minutes"))
    weights = slots.agg(F.sum("kg"), F.avg("kg"), F.count("item")).selectExpr(
        "customer",
        "window.start AS start",
        "window.end AS end",
        "`count(item)` AS items",
        "`sum(kg)` AS kg",
        "`avg(kg)` AS kg_per_item",
    )
    return weights.writeStream.outputMode("append").foreachBatch(publish)
