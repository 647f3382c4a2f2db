import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "turbine string, farm string, code int, sent timestamp"


def messages(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/alarms_of_turbines")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    alarms = messages(spark).where("code >= 100").withWatermark("sent", "15 minutes")
    counted = (
        alarms.dropDuplicatesWithinWatermark(["turbine", "code"])
        .groupBy(F.window("sent", "1 hour"), "farm")
        .agg(F.count("*").alias("alarms"), F.max_by("turbine", "code").alias("worst"))
    )
    return counted.writeStream.outputMode("append").foreachBatch(publish)
