import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "c string, l string, t double, w double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def coils(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rolled")
    return read.toDF("coil_id", "mill_line", "temperature_c", "thickness_mm", "rolled_at")


def build(spark):
    once = coils(spark).withWatermark("rolled_at", "15 minutes").dropDuplicates(["coil_id", "mill_line", "rolled_at"])
    lines = once.groupBy(F.window("rolled_at", "30 minutes"), F.col("mill_line").alias("line")).agg(
        F.count("coil_id").alias("coils"), F.avg("temperature_c").alias("heat"), F.max("thickness_mm").alias("mm")
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
