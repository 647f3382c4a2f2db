import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, level int, score long, ts timestamp"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")


def build(spark):
    board = (
        events(spark)
        .withColumn("hour", F.date_trunc("hour", "ts"))
        .groupBy("player", "hour")
        .agg(F.sum("score").alias("score"), F.max("level").alias("level"))
    )
    return board.writeStream.outputMode("complete").format("console")
