"""Every source and every sink, with next to nothing between them."""

from __future__ import annotations

import socket
import threading
from typing import Any

from pyspark.sql import DataFrame, Row
from query import Place, query


def to_files(df: DataFrame, place: Place) -> Any:
    return df.writeStream.format("parquet").option("path", str(place.folder / "out"))


@query()
def source_json(p: Place) -> Any:
    return to_files(p.events().where("v > 1").selectExpr("k", "v * 2 AS w"), p)


@query()
def source_csv(p: Place) -> Any:
    p.spark.read.schema("k string, v int").json(str(p.rows("raw"))).write.csv(str(p.folder / "csv"))
    reader = p.spark.readStream.schema("k string, v int").option("header", "false")
    return reader.csv(str(p.folder / "csv"))


@query()
def source_parquet(p: Place) -> Any:
    p.spark.read.schema("k string, v int").json(str(p.rows("raw"))).write.parquet(
        str(p.folder / "parquet")
    )
    return p.spark.readStream.schema("k string, v int").parquet(str(p.folder / "parquet"))


@query()
def source_orc(p: Place) -> Any:
    p.spark.read.schema("k string, v int").json(str(p.rows("raw"))).write.orc(str(p.folder / "orc"))
    return p.spark.readStream.schema("k string, v int").orc(str(p.folder / "orc"))


@query()
def source_text(p: Place) -> Any:
    return p.spark.readStream.text(str(p.rows())).selectExpr("length(value) AS size")


@query()
def source_binary_file(p: Place) -> Any:
    schema = "path string, modificationTime timestamp, length long, content binary"
    files = p.spark.readStream.schema(schema).format("binaryFile").load(str(p.rows()))
    return files.select("length", "modificationTime")


@query()
def source_table(p: Place) -> Any:
    p.spark.sql("DROP TABLE IF EXISTS orders")
    p.spark.read.schema("k string, v int").json(str(p.rows("raw"))).write.format(
        "parquet"
    ).saveAsTable("orders")
    return p.spark.readStream.table("orders").where("v > 1")


@query(trigger={"processingTime": "1 second"})
def source_rate(p: Place) -> Any:
    rate = p.spark.readStream.format("rate").option("rowsPerSecond", 2).load()
    return rate.selectExpr("value % 3 AS k", "timestamp").writeStream.format("noop")


@query(trigger={"processingTime": "1 second"})
def source_rate_micro_batch(p: Place) -> Any:
    rate = p.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    return rate.writeStream.format("console")


@query(trigger={"processingTime": "1 second"})
def source_socket(p: Place) -> Any:
    port = _talking()
    lines = p.spark.readStream.format("socket").option("host", "127.0.0.1").option("port", port)
    return lines.load().selectExpr("upper(value) AS line").writeStream.format("console")


def _talking() -> int:
    """Serve three lines to whoever connects; return the port."""
    server = socket.create_server(("127.0.0.1", 19997), reuse_port=True)

    def talk() -> None:
        while True:
            connection, _ = server.accept()
            connection.sendall(b"one\ntwo\nthree\n")

    threading.Thread(target=talk, daemon=True).start()
    return 19997


@query()
def source_memory(p: Place) -> Any:
    made = p.spark._jvm.golden.Typed.memoryStream(p.spark._jsparkSession)
    return DataFrame(made, p.spark).selectExpr("value + 1 AS next")


@query(topics=("orders", "returns"), codegen=True)
def source_kafka_subscribe(p: Place) -> Any:
    records = p.kafka(subscribe="orders,returns", maxOffsetsPerTrigger="100")
    made = records.selectExpr("CAST(key AS STRING) AS key", "upper(CAST(value AS STRING)) AS value")
    writer = made.writeStream.format("kafka").option("topic", "orders-out")
    return writer.option("kafka.bootstrap.servers", p.broker)


@query(topics=("orders", "returns"))
def source_kafka_pattern(p: Place) -> Any:
    records = p.kafka(subscribePattern="(orders|returns)", includeHeaders="true")
    return records.selectExpr("topic", "headers", "CAST(value AS STRING) AS value")


@query(topics=("orders",))
def source_kafka_assign(p: Place) -> Any:
    return p.kafka(assign='{"orders":[0]}').selectExpr("offset", "partition", "timestamp")


@query(topics=("orders",), mode="update")
def source_kafka_from_json(p: Place) -> Any:
    records = p.kafka(subscribe="orders").selectExpr(
        "from_json(CAST(value AS STRING), 'k STRING, v INT, ts TIMESTAMP') AS row"
    )
    return records.select("row.*").where("v > 0").groupBy("k").count()


@query()
def source_file_metadata(p: Place) -> Any:
    return p.events().select("k", "_metadata.file_name", "_metadata.file_size")


@query(
    settings={
        "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
        "spark.sql.streaming.offsetLog.formatVersion": "2",
    }
)
def source_named(p: Place) -> Any:
    named = p.spark.readStream.name("clicks").format("json").schema("k string, v int")
    return named.load(str(p.rows())).select("k")


class RowWriter:
    """Takes rows and does nothing with them."""

    def process(self, row: Row) -> None:
        """Drop a row."""


@query()
def sink_foreach(p: Place) -> Any:
    return p.events().select("k").writeStream.foreach(RowWriter())


def save_batch(df: DataFrame, batch: int) -> None:
    df.count()


@query()
def sink_foreach_batch(p: Place) -> Any:
    return p.events().select("k", "v").writeStream.foreachBatch(save_batch)


@query()
def sink_file_partitioned(p: Place) -> Any:
    writer = p.events().select("k", "v").writeStream.format("json").partitionBy("k")
    return writer.option("path", str(p.folder / "out"))


@query()
def sink_table(p: Place) -> Any:
    p.spark.sql("DROP TABLE IF EXISTS totals")
    p.spark.sql("CREATE TABLE totals (k STRING, v INT) USING parquet")
    return p.events().select("k", "v").writeStream, "totals"


@query()
def sink_memory(p: Place) -> Any:
    return p.events().select("k").writeStream.format("memory").queryName("seen")


@query()
def sink_console(p: Place) -> Any:
    return p.events().select("k").writeStream.format("console").option("truncate", "false")


@query()
def sink_noop(p: Place) -> Any:
    return p.events().select("k").writeStream.format("noop")


@query(trigger={"continuous": "1 second"})
def trigger_continuous(p: Place) -> Any:
    rate = p.spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    return rate.selectExpr("value * 2 AS w").where("w > 1").writeStream.format("console")


@query(trigger={"continuous": "1 second"}, topics=("orders",))
def trigger_continuous_kafka(p: Place) -> Any:
    records = p.kafka(subscribe="orders").selectExpr("key", "value")
    writer = records.writeStream.format("kafka").option("topic", "orders-out")
    return writer.option("kafka.bootstrap.servers", p.broker)


@query(trigger={"realTime": "5 seconds"}, topics=("orders",), mode="update")
def trigger_real_time(p: Place) -> Any:
    records = p.kafka(subscribe="orders").selectExpr("key", "upper(CAST(value AS STRING)) AS value")
    writer = records.writeStream.format("kafka").option("topic", "orders-out")
    return writer.option("kafka.bootstrap.servers", p.broker)


@query(trigger={"once": True})
def trigger_once(p: Place) -> Any:
    return p.events().select("k").writeStream.format("noop")
