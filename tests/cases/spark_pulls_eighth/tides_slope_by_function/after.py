import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gauge string, port string, level double, battery int, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gauges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/tide_gauges").where("level BETWEEN -10 AND 20")
    once = gauges.withWatermark("at", "20 minutes").dropDuplicatesWithinWatermark(["gauge", "at"])
    trends = once.groupBy(F.window("at", "1 hour"), "port").agg(
        (3600 * F.regr_slope("level", F.unix_seconds("at"))).alias("rise"),
        F.percentile("level", 0.5).alias("middle"),
        F.count("*").alias("n"),
    )
    return trends.writeStream.outputMode("append").foreachBatch(publish)
