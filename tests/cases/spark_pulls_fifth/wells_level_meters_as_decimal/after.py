import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "well string, basin string, level_m decimal(6,2), pumped int, read_at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings").withWatermark("read_at", "30 minutes")
    levels = readings.groupBy(F.window("read_at", "45 minutes"), "basin").agg(
        F.min("level_m").alias("lowest"), F.approx_count_distinct("well").alias("wells")
    )
    return levels.select("window.end", "basin", "lowest", "wells").writeStream.outputMode("append").foreachBatch(publish)
