import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "ring string, falconer string, height_m double, seen timestamp"
OUT = "falcon-flights"


def build(spark):
    seen = spark.readStream.schema(SCHEMA).json(f"{LAKE}/falcons").filter("ring IS NOT NULL")
    birds = seen.groupBy("ring").agg(
        F.max("height_m").alias("highest"), F.count("*").alias("flights"), F.max("seen").alias("last_seen")
    )
    return (
        birds.select(F.col("ring").alias("key"), F.to_json(F.struct("*")).alias("value"))
        .writeStream.outputMode("update")
        .format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", OUT)
    )
