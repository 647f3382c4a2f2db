import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "parcel string, locker string, size string, customer string, dropped timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def working(spark):
    dropped = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dropped_parcels").withWatermark("dropped", "30 minutes")
    broken = spark.read.schema("locker string, since date").json(f"{LAKE}/broken_lockers")
    return dropped.join(broken, "locker", "left_anti")


def build(spark):
    once = working(spark).dropDuplicatesWithinWatermark(["parcel"])
    sizes = once.groupBy(F.window("dropped", "1 hour"), "size").agg(
        F.count("*").alias("parcels"), F.approx_count_distinct("customer").alias("customers")
    )
    return sizes.writeStream.outputMode("append").foreachBatch(publish)
