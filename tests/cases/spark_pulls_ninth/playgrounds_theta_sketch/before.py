import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "scan string, ground string, band string, scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/playground_scans").withWatermark("scanned", "20 minutes")
    once = scans.dropDuplicatesWithinWatermark(["scan"])
    grounds = once.groupBy(F.window("scanned", "1 hour"), "ground").agg(
        F.hll_sketch_estimate(F.hll_sketch_agg("band")).alias("children"), F.count("*").alias("scans")
    )
    return grounds.writeStream.outputMode("append").foreachBatch(publish)
