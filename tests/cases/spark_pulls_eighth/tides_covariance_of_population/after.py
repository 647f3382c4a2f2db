import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gauge string, basin string, level double, wind double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gauges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/surge_gauges").where("level IS NOT NULL")
    once = gauges.withWatermark("at", "15 minutes").dropDuplicates(["gauge", "at"])
    surges = once.groupBy(F.window("at", "1 hour", "30 minutes"), "basin").agg(
        F.covar_pop("level", "wind").alias("together"), F.max("level").alias("highest"), F.count("wind").alias("n")
    )
    return surges.writeStream.outputMode("append").foreachBatch(publish)
