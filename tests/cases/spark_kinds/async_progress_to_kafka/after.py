import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "station string, kind string, level double, visits bigint"


def build(spark):
    rows = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gauges")
    value = F.to_json(F.struct("*")).alias("value")
    return (
        rows.select(value)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "gauge-values")
        .option("asyncProgressTrackingEnabled", "true")
    )
