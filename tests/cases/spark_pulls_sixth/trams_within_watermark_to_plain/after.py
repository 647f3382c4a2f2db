import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tap string, card string, line string, tapped timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taps = spark.readStream.schema(SCHEMA).json(f"{LAKE}/taps").withWatermark("tapped", "20 minutes")
    once = taps.dropDuplicates(["tap"])
    lines = once.groupBy(F.window("tapped", "1 hour"), "line").agg(F.count("*").alias("taps"))
    return lines.writeStream.outputMode("append").foreachBatch(publish)
