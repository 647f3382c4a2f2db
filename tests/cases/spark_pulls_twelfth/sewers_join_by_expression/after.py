import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LEVELS = "gauge string, level_cm double, measured timestamp"
GAUGES = "gauge string, district string, alarm_cm double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def with_gauges(levels, gauges):
    same_gauge = F.col("l.gauge") == F.col("g.gauge")
    return levels.alias("l").join(F.broadcast(gauges.alias("g")), same_gauge, "left_outer")


def build(spark):
    gauges = spark.read.schema(GAUGES).json(f"{LAKE}/tables/gauges")
    levels = spark.readStream.schema(LEVELS).json(f"{LAKE}/sewer_levels").withWatermark("measured", "15 minutes")
    districts = (
        with_gauges(levels, gauges)
        .select("l.measured", "l.level_cm", "g.district", F.expr("l.level_cm - g.alarm_cm").alias("above"))
        .groupBy(F.window("measured", "30 minutes"), "district")
        .agg(F.max("above").alias("above"), F.count("level_cm").alias("measurements"))
    )
    return districts.writeStream.outputMode("append").foreachBatch(publish)
