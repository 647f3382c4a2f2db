import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "skater string, rink string, laps int, timed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).option("pathGlobFilter", "part-*").json(f"{LAKE}/laps_of_skaters")
    laps = read.withWatermark("timed", "20 minutes")
    skaters = laps.groupBy(F.window("timed", "20 minutes"), "rink", "skater").agg(F.sum("laps").alias("laps"))
    rinks = skaters.groupBy(F.window("window", "1 hour"), "rink").agg(
        F.max_by("skater", "laps").alias("fastest"), F.sum("laps").alias("laps")
    )
    return rinks.writeStream.outputMode("append").foreachBatch(publish)
