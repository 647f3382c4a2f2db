"""Sinks, modes that they take, and what a reader of the output finds."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from recorder.case import Place, case
from recorder.shapes import windowed

from definitions.kafka import topics
from definitions.sinks import PARQUET, files, table_of
from definitions.windows import CLOSED, TEN


def to_topic(name: str, **options: str) -> Any:
    def build(p: Place) -> Any:
        rows = p.read().selectExpr("k AS key", "to_json(struct(k, v)) AS value")
        writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", p.broker)
        return writer.option("topic", name).options(**options)

    return build


def records(name: str) -> Any:
    """Read a topic of one partition; the last row of each key counts."""

    def rows(p: Place) -> DataFrame:
        reader = p.spark.read.format("kafka").option("kafka.bootstrap.servers", p.broker)
        parsed = "from_json(cast(value as string), 'k string, v int') AS v"
        return reader.option("subscribe", name).load().selectExpr(parsed).select("v.*")

    return rows


def sink_topic(name: str, number: str, change: str, new: Any, shown: str) -> None:
    facts = {"topics": topics(number)["topics"], "keys": ("k",), "mode": "append"}
    case(name, change, to_topic(f"{number}-one"), new, reader=records(shown), **facts)


sink_topic("sink_kafka_other_topic", "h1", "topic one -> two", to_topic("h1-two"), "h1-two")
sink_topic(
    "sink_kafka_acks",
    "h2",
    "kafka.acks 1 added",
    to_topic("h2-one", **{"kafka.acks": "1"}),
    "h2-one",
)
sink_topic("sink_kafka_to_file", "h3", "topic -> parquet", files("parquet"), "h3-one")

case(
    "sink_file_more_partitions",
    "partitionBy(k) -> (k, d)",
    files("parquet", "out", "k"),
    files("parquet", "out", "k", "d"),
    **PARQUET,
)


def of_expressions(*columns: str, **options: Any) -> Any:
    def build(p: Place) -> Any:
        writer = p.read().selectExpr(*columns).writeStream.format("parquet").options(**options)
        return writer.option("path", str(p.out / "out"))

    return build


case(
    "sink_file_column_wider",
    "v int -> v bigint in parquet",
    of_expressions("k", "v"),
    of_expressions("k", "cast(v as bigint) v"),
    **PARQUET,
)
case(
    "sink_file_column_renamed",
    "v -> amount in parquet",
    of_expressions("k", "v"),
    of_expressions("k", "v AS amount"),
    **PARQUET,
)
case(
    "sink_file_column_dropped",
    "k, v, d -> k, v in parquet",
    of_expressions("k", "v", "d"),
    of_expressions("k", "v"),
    **PARQUET,
)
case(
    "sink_file_column_to_text",
    "v int -> v string in parquet",
    of_expressions("k", "v"),
    of_expressions("k", "cast(v as string) v"),
    **PARQUET,
)
case(
    "sink_file_fewer_records",
    "maxRecordsPerFile 1 added",
    of_expressions("k", "v"),
    of_expressions("k", "v", maxRecordsPerFile=1),
    **PARQUET,
)
case(
    "sink_file_json_to_csv",
    "json out -> csv out, the same folder",
    lambda p: files("json")(p),
    lambda p: files("csv")(p),
    mode="append",
    reader=table_of("json"),
)


def windows_to(form: str) -> Any:
    def build(p: Place) -> Any:
        rows = windowed(TEN, "k", "sum(v) s")(p).selectExpr("w.start AS b", "k", "s")
        return rows.writeStream.format(form).option("path", str(p.out / "out"))

    return build


case(
    "mode_file_append_to_update",
    "append -> update into parquet",
    windows_to("parquet"),
    windows_to("parquet"),
    **{**PARQUET, "new_mode": "update", "first": CLOSED},
)
case(
    "mode_file_append_to_complete",
    "append -> complete into parquet",
    windows_to("parquet"),
    windows_to("parquet"),
    **{**PARQUET, "new_mode": "complete", "first": CLOSED},
)


def by_row(p: Place) -> Any:
    path = str(p.out)

    def keep(row: Any) -> None:
        import json
        import uuid
        from pathlib import Path

        Path(path).mkdir(parents=True, exist_ok=True)
        text = json.dumps({"k": row.k, "v": row.v})
        (Path(path) / f"{uuid.uuid4()}.json").write_text(text, encoding="utf-8")

    return p.read().select("k", "v").writeStream.foreach(keep)


def per_batch(p: Place) -> Any:
    path = str(p.out)

    def keep(rows: DataFrame, batch: int) -> None:
        rows.write.mode("append").json(path)

    return p.read().select("k", "v").writeStream.foreachBatch(keep)


case(
    "sink_foreach_batch_to_foreach",
    "foreachBatch -> foreach",
    per_batch,
    by_row,
    mode="append",
    reader=lambda p: p.spark.read.schema("k string, v int").json(str(p.out)),
)
