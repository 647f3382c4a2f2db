"""Session windows in append mode, Kafka to Kafka: one row a session, with the ids of its clicks."""

import json
from pathlib import Path

from pyspark.sql import functions as f

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())
CLICK = "id string, key string, at bigint"


def build(spark):
    clicks = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", SETTINGS["broker"])
        .option("subscribe", SETTINGS["input"])
        .option("startingOffsets", "earliest")
        .load()
        .select(f.from_json(f.col("value").cast("string"), CLICK).alias("v"))
        .select("v.id", "v.key", (f.col("v.at") / 1000).cast("timestamp").alias("at"))
    )
    sessions = (
        clicks.withWatermark("at", "10 seconds")
        .groupBy(f.session_window("at", "30 seconds").alias("session"), "key")
        .agg(f.collect_list("id").alias("ids"))
    )
    return (
        sessions.select(
            f.col("key"),
            f.to_json(f.struct("key", f.col("session.start").alias("start"), "ids")).alias("value"),
        )
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", SETTINGS["broker"])
        .option("topic", SETTINGS["output"])
        .outputMode("append")
        .queryName("sessions")
        .trigger(processingTime="1 second")
    )
