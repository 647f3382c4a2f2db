import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "vehicle string, wheel string, bar double, celsius double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/tyre_pressures").where("bar BETWEEN 0.5 AND 12")
    cold = read.withColumn("bar", F.round(F.expr("bar * 293.15 / (273.15 + coalesce(celsius, 20))"), 2))
    once = cold.withWatermark("measured", "15 minutes").dropDuplicatesWithinWatermark(["vehicle", "wheel", "measured"])
    lowest = once.groupBy(F.window("measured", "1 hour"), "vehicle").agg(
        F.min("bar").alias("lowest"), F.max("bar").alias("highest"), F.min_by("wheel", "bar").alias("wheel")
    )
    return lowest.writeStream.outputMode("append").foreachBatch(publish)
