import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "message string, boat string, class string, knots double, seen timestamp"


def record(boats):
    value = F.to_json(F.struct(F.col("window.end").alias("until"), "class", "boats", "knots"))
    return boats.select(F.col("class").alias("key"), value.alias("value"))


def build(spark):
    seen = spark.readStream.schema(SCHEMA).json(f"{LAKE}/tracked_boats").withWatermark("seen", "15 minutes")
    once = seen.dropDuplicatesWithinWatermark(["message"])
    classes = once.groupBy(F.window("seen", "1 hour", "30 minutes"), "class").agg(
        F.approx_count_distinct("boat").alias("boats"), F.max("knots").alias("knots")
    )
    return (
        record(classes)
        .writeStream.outputMode("append")
        .format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "regatta-classes")
    )
