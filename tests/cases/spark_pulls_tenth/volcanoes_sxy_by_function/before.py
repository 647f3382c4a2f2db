import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "reading string, crater string, tremor double, tilt double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/crater_readings").withWatermark("measured", "20 minutes")
    once = read.dropDuplicatesWithinWatermark(["reading"])
    craters = once.groupBy(F.window("measured", "1 hour"), "crater").agg(
        (F.covar_pop("tilt", "tremor") * F.regr_count("tilt", "tremor")).alias("sxy"), F.max("tremor").alias("tremor")
    )
    return craters.writeStream.outputMode("append").foreachBatch(publish)
