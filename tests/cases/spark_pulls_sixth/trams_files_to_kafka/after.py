import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "tram string, line string, boarded int, at timestamp"


def doors(spark):
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "tram-doors")
        .option("startingOffsets", "earliest")
        .load()
    )
    return records.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("d")).select("d.*")


def build(spark):
    lines = (
        doors(spark)
        .withWatermark("at", "20 minutes")
        .groupBy(F.window("at", "1 hour"), "line")
        .agg(F.sum("boarded").alias("boarded"), F.count("*").alias("doors"))
    )
    return lines.writeStream.format("noop").outputMode("update")
