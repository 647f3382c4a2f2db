import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tractor string, farm string, field string, crop string, hectares double, worked timestamp"
KEYS = ["farm"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    worked = spark.readStream.schema(SCHEMA).json(f"{LAKE}/farm_tractors")
    hours = (
        worked.withWatermark("worked", "30 minutes")
        .groupBy(F.window("worked", "2 hours").alias("hours"), *KEYS)
        .agg(F.sum("hectares").alias("hectares"), F.count("tractor").alias("passes"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
