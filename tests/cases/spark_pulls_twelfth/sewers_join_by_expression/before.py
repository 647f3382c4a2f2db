import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LEVELS = "gauge string, level_cm double, measured timestamp"
GAUGES = "gauge string, district string, alarm_cm double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gauges = spark.read.schema(GAUGES).json(f"{LAKE}/tables/gauges")
    levels = spark.readStream.schema(LEVELS).json(f"{LAKE}/sewer_levels").withWatermark("measured", "15 minutes")
    districts = (
        levels.join(gauges, "gauge", "left")
        .withColumn("above", F.col("level_cm") - F.col("alarm_cm"))
        .groupBy(F.window("measured", "30 minutes"), "district")
        .agg(F.max("above").alias("above"), F.count("level_cm").alias("measurements"))
    )
    return districts.writeStream.outputMode("append").foreachBatch(publish)
