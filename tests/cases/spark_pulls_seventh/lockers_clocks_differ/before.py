import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
DROPS = "parcel string, locker string, size string, dropped timestamp"
PICKUPS = "parcel string, code string, picked timestamp"
MATCH = "d.parcel = p.parcel AND picked >= dropped AND picked <= dropped + INTERVAL 1 HOUR"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    drops = spark.readStream.schema(DROPS).json(f"{LAKE}/drops").withWatermark("dropped", "10 minutes")
    pickups = spark.readStream.schema(PICKUPS).json(f"{LAKE}/pickups").withWatermark("picked", "10 minutes")
    matched = drops.alias("d").join(pickups.alias("p"), F.expr(MATCH), "leftOuter")
    lockers = matched.groupBy(F.window("dropped", "30 minutes"), "locker").agg(
        F.count("*").alias("drops"), F.count("picked").alias("picked"), F.max("code").alias("code")
    )
    return lockers.writeStream.outputMode("append").foreachBatch(publish)
