"""Sinks: files, tables in memory, functions."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from recorder.case import Place, case
from recorder.shapes import by, grouped, windowed


def files(form: str, name: str = "out", *partitions: str, columns: str = "k v d") -> Any:
    def build(p: Place) -> Any:
        writer = p.read().select(*columns.split()).writeStream.format(form)
        writer = writer.partitionBy(*partitions) if partitions else writer
        return writer.option("path", str(p.out / name))

    return build


def table_of(form: str, name: str = "out") -> Any:
    def read(p: Place) -> DataFrame:
        if form == "json":
            return p.spark.read.schema("k string, v int, d string").json(str(p.out / name))
        return p.spark.read.format(form).load(str(p.out / name))

    return read


PARQUET = {"reader": table_of("parquet"), "mode": "append"}

case(
    "sink_file_other_path",
    "parquet out -> parquet out2",
    files("parquet"),
    files("parquet", "out2"),
    mode="append",
    reader=table_of("parquet", "out2"),
)
case(
    "sink_file_parquet_to_json",
    "parquet out -> json out, the same folder",
    files("parquet"),
    files("json"),
    mode="append",
    reader=table_of("json"),
)
case(
    "sink_file_column_added",
    "k, v -> k, v, d",
    files("parquet", columns="k v"),
    files("parquet"),
    **PARQUET,
)
case(
    "sink_file_columns_reordered",
    "k, v, d -> d, v, k",
    files("parquet"),
    files("parquet", columns="d v k"),
    **PARQUET,
)
case(
    "sink_file_other_partitions",
    "partitionBy(k) -> partitionBy(d)",
    files("parquet", "out", "k"),
    files("parquet", "out", "d"),
    **PARQUET,
)
case(
    "sink_file_partitions_removed",
    "partitionBy(k) -> none",
    files("parquet", "out", "k"),
    files("parquet"),
    **PARQUET,
)
case(
    "sink_file_to_other_folder_and_form",
    "foreachBatch -> parquet",
    lambda p: p.read().select("k", "v", "d"),
    files("parquet"),
    **PARQUET,
)
case(
    "sink_file_compression",
    "parquet snappy -> gzip",
    files("parquet"),
    lambda p: files("parquet")(p).option("compression", "gzip"),
    **PARQUET,
)


def memory(name: str, build: Any) -> Any:
    return lambda p: build(p).writeStream.format("memory").queryName(name)


case(
    "sink_foreach_batch_to_memory",
    "foreachBatch -> memory, update",
    by("k", "sum(v) s"),
    memory("mem_a", by("k", "sum(v) s")),
)
case(
    "sink_foreach_batch_to_memory_complete",
    "foreachBatch -> memory, complete",
    by("k", "sum(v) s"),
    memory("mem_b", by("k", "sum(v) s")),
    mode="complete",
    reader=lambda p: p.spark.table("mem_b"),
)
case(
    "sink_file_of_windows_size",
    "windows to parquet: 10 s -> 30 s",
    lambda p: (
        windowed("window(ts, '10 seconds') w", "k", "sum(v) s")(p)
        .select("w.start", "k", "s")
        .writeStream.format("parquet")
        .option("path", str(p.out / "out"))
    ),
    lambda p: (
        windowed("window(ts, '30 seconds') w", "k", "sum(v) s")(p)
        .select("w.start", "k", "s")
        .writeStream.format("parquet")
        .option("path", str(p.out / "out"))
    ),
    **PARQUET,
)
case(
    "sink_noop_to_foreach_batch",
    "noop -> foreachBatch",
    lambda p: grouped(p.read(), "k", "sum(v) s").writeStream.format("noop"),
    by("k", "sum(v) s"),
)
