import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "trip string, jetty string, boat long, left timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def boats():
    return F.bitmap_count(F.bitmap_construct_agg(F.bitmap_bit_position("boat")))


def build(spark):
    trips = spark.readStream.schema(SCHEMA).json(f"{LAKE}/kayaks_out").withWatermark("left", "20 minutes")
    once = trips.dropDuplicatesWithinWatermark(["trip"])
    jetties = once.groupBy(F.window("left", "1 hour"), "jetty").agg(boats().alias("boats"), F.count("*").alias("trips"))
    return jetties.writeStream.outputMode("append").foreachBatch(publish)
