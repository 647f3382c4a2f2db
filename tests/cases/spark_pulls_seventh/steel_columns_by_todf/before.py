import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "c string, l string, t double, w double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def coils(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rolled")
    return read.select(
        F.col("c").alias("coil"), F.col("l").alias("line"), F.col("t").alias("heat"), F.col("w").alias("mm"), "at"
    )


def build(spark):
    once = coils(spark).withWatermark("at", "15 minutes").dropDuplicates(["coil", "line", "at"])
    lines = once.groupBy(F.window("at", "30 minutes"), "line").agg(
        F.count("coil").alias("coils"), F.avg("heat").alias("heat"), F.max("mm").alias("mm")
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
