import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "call string, station string, district string, kind string, crew int, raised timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    calls = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")
        .withWatermark("raised", "40 minutes")
        .where(F.col("kind").isNotNull() & (F.col("kind") != "false alarm"))
    )
    once = calls.select("*").dropDuplicatesWithinWatermark(["call"])
    return once.drop("district", "crew").writeStream.outputMode("append").foreachBatch(publish)
