import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "loom string, piece string, fault string, metres double, found timestamp"
FAULTS = ["knot", "hole", "stain"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    found = spark.readStream.schema(SCHEMA).json(f"{LAKE}/found_faults").withWatermark("found", "15 minutes")
    once = found.dropDuplicatesWithinWatermark(["piece", "fault"]).withColumn("hour", F.window("found", "1 hour"))
    looms = once.groupBy("hour", "loom").pivot("fault", FAULTS).agg(F.sum("metres"))
    return looms.writeStream.outputMode("append").foreachBatch(publish)
