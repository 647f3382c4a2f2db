import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
PILOTS = "ship string, berth string, ordered timestamp, pilot string"
TUGS = "ship string, berth string, ordered timestamp, tug string, power int"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    pilots = spark.readStream.schema(PILOTS).json(f"{LAKE}/pilots_ordered").withWatermark("ordered", "20 minutes")
    tugs = spark.readStream.schema(TUGS).json(f"{LAKE}/tugs_ordered").withWatermark("ordered", "20 minutes")
    orders = pilots.unionByName(tugs, allowMissingColumns=True)
    once = orders.dropDuplicatesWithinWatermark(["ship", "ordered", "pilot", "tug"])
    berths = once.groupBy(F.window("ordered", "1 hour"), "berth").agg(
        F.count("pilot").alias("pilots"), F.count("tug").alias("tugs"), F.sum("power").alias("power")
    )
    return berths.writeStream.outputMode("append").foreachBatch(publish)
