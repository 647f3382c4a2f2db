import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "meter string, site string, kwh double, read timestamp"
SITES = "site string, closed boolean"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    closed = spark.read.schema(SITES).json(f"{LAKE}/tables/sites").where("closed")
    used = spark.readStream.schema(SCHEMA).json(f"{LAKE}/meters_of_sites").withWatermark("read", "15 minutes")
    quarters = (
        used.join(closed, "site", "left_anti")
        .groupBy(F.window("read", "15 minutes").alias("quarter"), "site")
        .agg(F.sum("kwh").alias("kwh"))
    )
    hours = (
        quarters.where("kwh > 0")
        .groupBy(F.window(F.window_time("quarter"), "1 hour").alias("hour"), "site")
        .agg(F.max("kwh").alias("peak"), F.count("*").alias("quarters"))
    )
    return hours.select("hour.start", "site", "peak", "quarters").writeStream.outputMode("append").foreachBatch(publish)
