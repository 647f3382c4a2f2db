import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LIFTS = "lift string, forklift string, pallet string, aisle string, lifted timestamp"
DROPS = "pallet string, forklift string, dock string, dropped timestamp"
SAME = """
    pallet = of AND forklift = by AND dropped BETWEEN lifted AND lifted + INTERVAL 40 MINUTES
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    lifts = spark.readStream.schema(LIFTS).json(f"{LAKE}/forklift_lifts").withWatermark("lifted", "15 minutes")
    lifts = lifts.dropDuplicatesWithinWatermark(["lift"])
    drops = spark.readStream.schema(DROPS).json(f"{LAKE}/forklift_drops").withWatermark("dropped", "15 minutes")
    drops = drops.withColumnsRenamed({"pallet": "of", "forklift": "by"})
    moves = lifts.join(drops, F.expr(SAME))
    docks = moves.groupBy(F.window("dropped", "1 hour"), "dock").agg(
        F.count("*").alias("moves"), F.avg(F.expr("timestampdiff(SECOND, lifted, dropped)")).alias("seconds")
    )
    return docks.writeStream.outputMode("append").foreachBatch(publish)
