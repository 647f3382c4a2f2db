import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "room string, user string, text string, ts timestamp"


def chat(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/chat")


def build(spark):
    rooms = chat(spark).groupBy(F.lower(F.trim("room")).alias("room")).agg(
        F.count("*").alias("messages"), F.sum(F.length("text")).alias("characters")
    )
    return rooms.writeStream.outputMode("update").format("console")
