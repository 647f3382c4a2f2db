"""Deduplication within a watermark; `foreachBatch` appends each batch's rows to JSON files."""

import json
from pathlib import Path

from pyspark.sql import functions as f

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())
ROW = "id string, key string, at bigint"


def append(frame, batch):
    frame.select("id", "at").write.mode("append").json(SETTINGS["output"])


def build(spark):
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", SETTINGS["broker"])
        .option("subscribe", SETTINGS["input"])
        .option("startingOffsets", "earliest")
        .load()
        .select(f.from_json(f.col("value").cast("string"), ROW).alias("v"))
        .select("v.id", (f.col("v.at") / 1000).cast("timestamp").alias("at"))
        .withWatermark("at", "60 seconds")
        .dropDuplicates(["id", "at"])
        .writeStream.foreachBatch(append)
        .outputMode("append")
        .queryName("distinct")
        .trigger(processingTime="1 second")
    )
