import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gauge string, river string, level_cm int, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def usual():
    return F.percentile("level_cm", 0.75)


def build(spark):
    levels = spark.readStream.schema(SCHEMA).json(f"{LAKE}/levels_of_rivers").withWatermark("measured", "20 minutes")
    rivers = levels.groupBy(F.window("measured", "1 hour"), "river").agg(
        usual().cast("double").alias("level_cm"), F.min("level_cm").alias("lowest")
    )
    open_ = rivers.withColumn("open", F.col("level_cm").between(60, 180))
    return open_.writeStream.outputMode("append").foreachBatch(publish)
