import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "wristband string, hall string, zone string, entered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    entered = spark.readStream.schema(SCHEMA).json(f"{LAKE}/trampolines")
    zones = (
        entered.filter("zone IS NOT NULL")
        .withWatermark("entered", "10 minutes")
        .groupBy(F.window("entered", "30 minutes"), "hall", "zone")
        .count()
    )
    return zones.writeStream.outputMode("append").foreachBatch(publish)
