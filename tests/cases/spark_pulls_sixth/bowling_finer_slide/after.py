import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, alley string, lane int, pins int, bowled timestamp"
LENGTH, SLIDE = "1 hour", "15 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rolls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rolls").withWatermark("bowled", "10 minutes")
    hours = (
        rolls.where("pins IS NOT NULL")
        .groupBy(F.window("bowled", LENGTH, SLIDE), "alley")
        .agg(
            F.count("*").alias("rolls"),
            F.count_if(F.col("pins") == 10).alias("strikes"),
            F.bit_xor("lane").alias("lanes"),
        )
    )
    return (
        hours.selectExpr("window.start", "alley", "rolls", "strikes")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
