"""Orders with their payments, a left outer join with watermarks, to Parquet files."""

import json
from pathlib import Path

from pyspark.sql import functions as f

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())
ROW = "id string, key string, at bigint"


def read(spark, topic, prefix):
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", SETTINGS["broker"])
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
        .select(f.from_json(f.col("value").cast("string"), ROW).alias("v"))
        .select(
            f.col("v.id").alias(f"{prefix}_id"),
            f.col("v.key").alias(f"{prefix}_key"),
            (f.col("v.at") / 1000).cast("timestamp").alias(f"{prefix}_at"),
        )
        .withWatermark(f"{prefix}_at", "10 seconds")
    )


def build(spark):
    orders, payments = (
        read(spark, SETTINGS["input"], "order"),
        read(spark, SETTINGS["second"], "payment"),
    )
    pair = (
        "order_key = payment_key AND payment_at >= order_at"
        " AND payment_at <= order_at + interval 30 seconds"
    )
    return (
        orders.join(payments, f.expr(pair), "leftOuter")
        .select("order_id", "order_at", "payment_id")
        .writeStream.format("parquet")
        .option("path", SETTINGS["output"])
        .outputMode("append")
        .queryName("joined")
        .trigger(processingTime="1 second")
    )
