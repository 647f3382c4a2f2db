import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "play string, station string, song string, seconds int, started timestamp"
MOST = "mode(song)"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    plays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/songs_on_air").withWatermark("started", "20 minutes")
    once = plays.dropDuplicatesWithinWatermark(["play"])
    stations = once.groupBy(F.window("started", "1 hour"), "station").agg(
        F.count("*").alias("plays"), F.expr(MOST).alias("most"), F.sum("seconds").alias("seconds")
    )
    return stations.writeStream.outputMode("append").foreachBatch(publish)
