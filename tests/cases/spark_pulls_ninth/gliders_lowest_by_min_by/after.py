import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fix string, field string, pilot string, height double, seen timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    fixes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/fixes_of_gliders").withWatermark("seen", "15 minutes")
    once = fixes.dropDuplicatesWithinWatermark(["fix"]).where(F.col("height") > 0)
    fields = once.groupBy(F.window("seen", "1 hour"), "field").agg(
        F.min_by("pilot", "height").alias("lowest"), F.max("height").alias("highest"), F.count("*").alias("n")
    )
    return fields.writeStream.outputMode("append").foreachBatch(publish)
