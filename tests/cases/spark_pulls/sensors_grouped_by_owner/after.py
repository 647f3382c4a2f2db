import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def devices(spark):
    return spark.read.schema("device string, owner string, floor string").json(f"{LAKE}/devices")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    owned = readings(spark).join(devices(spark), "device")
    per_owner = owned.groupBy("owner").agg(F.count("*").alias("n"), F.max("temp").alias("max_temp"))
    return per_owner.writeStream.outputMode("update").foreachBatch(publish)
