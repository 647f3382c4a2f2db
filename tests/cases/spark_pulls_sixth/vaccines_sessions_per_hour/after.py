import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fridge string, clinic string, event string, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def openings(spark):
    events = spark.readStream.schema(SCHEMA).json(f"{LAKE}/door_events").where("event = 'open'")
    return (
        events.withWatermark("at", "10 minutes")
        .groupBy(F.session_window("at", "5 minutes").alias("session"), "fridge", "clinic")
        .agg(F.count("*").alias("times"))
    )


def build(spark):
    hourly = openings(spark).groupBy(F.window(F.window_time("session"), "1 hour").alias("hour"), "clinic")
    opened = hourly.agg(F.count("*").alias("openings"), F.sum("times").alias("times"))
    return opened.writeStream.outputMode("append").foreachBatch(publish)
