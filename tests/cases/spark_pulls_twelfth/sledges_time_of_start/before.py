import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = """
    ride_id string,
    track string,
    riders int,
    started timestamp,
    arrived timestamp
"""
TIME = "arrived"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rides = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sledge_rides")
    tracks = (
        rides.dropna(subset=["track"])
        .withWatermark(TIME, "15 minutes")
        .groupBy(F.window(TIME, "20 minutes").alias("slot"), "track")
        .agg(F.sum("riders").alias("riders"), F.count("ride_id").alias("rides"))
        .select("slot.start", "slot.end", "track", "riders", "rides")
    )
    return tracks.writeStream.outputMode("append").foreachBatch(publish)
