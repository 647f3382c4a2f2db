import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, match string, region string, level int, score long, event string, ts timestamp"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")


def build(spark):
    board = (
        events(spark)
        .withColumn("hour", F.date_trunc("hour", "ts"))
        .withColumn("is_kill", F.col("event") == "kill")
        .groupBy("player", "hour")
        .agg(F.sum("score").alias("score"), F.max("level").alias("level"))
    )
    return board.writeStream.outputMode("complete").format("console")
