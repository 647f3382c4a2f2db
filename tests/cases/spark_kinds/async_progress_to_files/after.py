import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "station string, kind string, level double, visits bigint"


def build(spark):
    rows = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gauges")
    kept = rows.writeStream.format("parquet").option("path", f"{LAKE}/kept")
    return kept.option("asyncProgressTrackingEnabled", "true")
