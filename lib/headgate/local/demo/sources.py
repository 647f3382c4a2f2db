"""How the demo's queries read and write Kafka: JSON with a declared schema."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter

from headgate.local.demo.topics import DemoTopic, kafka

ORDER = (
    "order_id STRING, customer_id STRING, amount_cents BIGINT, status STRING, ordered_at TIMESTAMP"
)
PAYMENT = "order_id STRING, amount_cents BIGINT, method STRING, paid_at TIMESTAMP"
CUSTOMER = "customer_id STRING, city STRING, country STRING, tier STRING"
CITY_WINDOW = (
    "city STRING, country STRING, window_start TIMESTAMP, window_end TIMESTAMP, "
    "orders BIGINT, revenue_cents BIGINT"
)


def stream(spark: SparkSession, topic: DemoTopic, schema: str, *, per_trigger: int) -> DataFrame:
    """Return the topic's values as a stream, from its beginning."""
    rows = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", kafka())
        .option("subscribe", topic.name)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", per_trigger)
        .load()
    )
    return rows.select(f.from_json(f.col("value").cast("string"), schema).alias("v")).select("v.*")


def latest(spark: SparkSession, topic: DemoTopic, schema: str, *, key: str) -> DataFrame:
    """Return the newest value of each key as a table, which every micro-batch reloads."""
    rows = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", kafka())
        .option("subscribe", topic.name)
        .load()
    )
    value = f.from_json(f.col("value").cast("string"), schema).alias("v")
    newest = rows.select(value, "offset").groupBy(f.col("v")[key].alias(key))
    return newest.agg(f.max_by("v", "offset").alias("v")).select("v.*")


def to_kafka(rows: DataFrame, topic: DemoTopic, *, key: str, mode: str) -> DataStreamWriter:
    """Return the writer, not started: every column into the JSON value, `key` as the key."""
    return (
        rows.select(f.col(key).alias("key"), f.to_json(f.struct("*")).alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", kafka())
        .option("topic", topic.name)
        .outputMode(mode)
        .trigger(processingTime="5 seconds")
    )
