"""Write the rows of a replay to its target.

| target | written |
|---|---|
| parquet:PATH, json:PATH, orc:PATH, delta:PATH | the run's own folder: a batch overwrites it |
| kafka:TOPIC | `key` and `value` of the rows; rows without `value` become JSON |
| jdbc:NAME.TABLE | the run's own table, empty: rows are appended, with the columns of `--columns` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as f

from headgate.errors import CaptureError
from headgate.spark_jobs.data.write_table import (
    TableColumn,
    append_rows,
    as_table_rows,
    read_columns,
)

FOLDERS = ("parquet", "json", "orc", "delta")
_KAFKA_COLUMNS = frozenset({"key", "value", "headers", "topic", "partition"})
RUN_HEADER = "headgate.run"
_V1_SOURCES = "spark.sql.sources.useV1SourceList"


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go: the format, and the folder, the topic, or the table with its columns."""

    format: str
    location: str
    columns: tuple[TableColumn, ...] = ()


def read_target(text: str, columns: str | None = None) -> Target:
    """Return the target that `FORMAT:LOCATION` names; CaptureError if there is none such.

    `columns` are those of a table, as JSON.
    """
    kind, _, location = text.partition(":")
    if kind not in (*FOLDERS, "kafka", "jdbc") or not location:
        known = ", ".join((*FOLDERS, "kafka", "jdbc"))
        raise CaptureError(f"--to: expected FORMAT:LOCATION (formats: {known}), found {text!r}")
    return Target(kind, location, read_columns(columns) if kind == "jdbc" else ())


def shaped(rows: Any, target: Target, *, run: str | None) -> Any:
    """Return the rows with the columns that the target takes.

    A topic's records get the header `headgate.run` with the run's id: consumers distinguish them by
    it, and a restarted run finds what a killed one wrote.
    """
    if target.format == "jdbc":
        return as_table_rows(rows, target.columns)
    if target.format != "kafka":
        return rows
    if "value" not in rows.columns:
        rows = rows.select(f.to_json(f.struct("*")).alias("value"))
    kept = [c for c in rows.columns if c in _KAFKA_COLUMNS - {"topic"}]
    rows = rows.select(*kept)
    if run is None:
        return rows
    ours = f.array(
        f.struct(f.lit(RUN_HEADER).alias("key"), f.lit(run).cast("binary").alias("value"))
    )
    given = "headers" in rows.columns
    headers = f.concat(f.coalesce("headers", f.array().cast(_HEADERS)), ours) if given else ours
    return rows.withColumn("headers", headers)


_HEADERS = "array<struct<key: string, value: binary>>"


def write_batch(rows: Any, target: Target, options: Mapping[str, Any]) -> None:
    """Write the rows; a folder that is there is overwritten.

    Spark's Java writer is called: PySpark's refuses what a user's function would write.
    """
    if target.format == "jdbc":
        append_rows(rows, target.location)
        return
    if target.format == "kafka":
        # The older writer's plan is not seen by whoever observes the rows.
        rows.sparkSession.conf.set(_V1_SOURCES, "avro,csv,json,orc,parquet,text")
    writer = rows._jdf.write().format(target.format)
    for name, value in _options(target, options).items():
        writer = writer.option(name, value)
    if target.format == "kafka":
        writer.mode("append").save()
    else:
        writer.mode("overwrite").save(target.location)


def _options(target: Target, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of the function's own sink that concern the target's kind."""
    if target.format != "kafka":
        return {}
    kept = {k: str(v) for k, v in given.items() if k.lower().startswith("kafka.")}
    # A transactional id is the pipeline's own: a second producer with it would fence the first.
    own = ("kafka.transactional.id", "kafka.client.id")
    kept = {k: v for k, v in kept.items() if k.lower() not in own}
    return {**kept, "topic": target.location}
