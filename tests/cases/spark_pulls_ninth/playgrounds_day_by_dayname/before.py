import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "swing string, ground string, pushes int, swung timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def readings(spark, folder):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/{folder}").withWatermark("swung", "1 hour")


def build(spark):
    swung = readings(spark, "swings").unionByName(readings(spark, "baby_swings"))
    once = swung.dropDuplicatesWithinWatermark(["swing", "swung"])
    days = once.groupBy(F.window("swung", "6 hours"), "ground", F.date_format("swung", "E").alias("day")).agg(
        F.sum("pushes").alias("pushes"), F.count_if(F.col("pushes") < 10).alias("gentle")
    )
    return days.writeStream.outputMode("append").foreachBatch(publish)
