import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "light string, keeper string, logged string, arrived timestamp_ltz"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/logs_of_keepers")
    logs = read.selectExpr("light", "keeper", "CAST(logged AS timestamp) AS logged", "arrived")
    once = logs.withWatermark("arrived", "30 minutes").dropDuplicatesWithinWatermark(["light", "logged"])
    lights = once.groupBy(F.window("arrived", "1 hour"), "light").agg(
        F.count("*").alias("logs"), F.max("logged").alias("newest"), F.any_value("keeper", True).alias("keeper")
    )
    return lights.writeStream.outputMode("append").foreachBatch(publish)
