import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, payload string, ts timestamp"


def telemetry(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/telemetry")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    parsed = telemetry(spark).select("player", "ts", F.get_json_object("payload", "$.map").alias("map"), F.get_json_object("payload", "$.pos.x").cast("double").alias("x"))
    return parsed.where("map is not null").writeStream.outputMode("append").foreachBatch(publish)
