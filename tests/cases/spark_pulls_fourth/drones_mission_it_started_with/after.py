import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "drone string, pos struct<lat:double,lon:double,alt:int,raw:string>, battery int, mission string, sent timestamp"


def telemetry(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/telemetry")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    missions = telemetry(spark).groupBy("drone").agg(F.min_by("mission", "sent").alias("mission"), F.count("*").alias("messages"))
    return missions.writeStream.outputMode("update").foreachBatch(publish)
