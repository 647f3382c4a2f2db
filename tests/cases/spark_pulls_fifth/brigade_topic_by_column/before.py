import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "call string, station string, district string, kind string, crew int, raised timestamp"


def build(spark):
    calls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls").where("kind IS NOT NULL")
    messages = calls.select(F.col("station").alias("key"), F.to_json(F.struct("call", "kind", "crew")).alias("value"))
    return (
        messages.writeStream.format("kafka")
        .outputMode("append")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "brigade-alarms")
    )
