"""What a recorded query is: how it is built, what it needs, and where it reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, v int, d string, ts timestamp"
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
_ROWS = (
    {"k": "a", "v": 1, "d": "x,y", "ts": "2026-01-01T00:00:01Z"},
    {"k": "b", "v": 2, "d": "y", "ts": "2026-01-01T00:00:05Z"},
    {"k": "a", "v": 5, "d": "x", "ts": "2026-01-01T00:01:30Z"},
)


@dataclass(frozen=True)
class Place:
    """Where one query lives: `folder` is its own, `broker` Kafka's address."""

    spark: SparkSession
    folder: Path
    broker: str

    def events(self, name: str = "events") -> DataFrame:
        """Return a stream of JSON files: three rows of `SCHEMA`."""
        return self.reader("json", name).load(str(self.rows(name)))

    def reader(self, form: str, name: str = "events") -> Any:
        """Return the reader of a file format, one file a batch."""
        return self.spark.readStream.format(form).schema(SCHEMA).option("maxFilesPerTrigger", 1)

    def rows(self, name: str = "events") -> Path:
        """Return a folder with one JSON file."""
        into = self.folder / name
        into.mkdir(parents=True, exist_ok=True)
        text = "\n".join(json.dumps(row) for row in _ROWS)
        (into / "0.json").write_text(text + "\n", encoding="utf-8")
        return into

    def static(self, name: str = "towns") -> DataFrame:
        """Return a table on disk: two rows of a key and a name."""
        into = self.folder / name
        into.mkdir(parents=True, exist_ok=True)
        lines = '{"k": "a", "town": "Ulm"}\n{"k": "b", "town": "Bonn"}\n'
        (into / "0.json").write_text(lines, encoding="utf-8")
        return self.spark.read.schema("k string, town string").json(str(into))

    def kafka(self, **options: str) -> DataFrame:
        """Return a stream of Kafka records from the beginning."""
        reader = self.spark.readStream.format("kafka").options(**options)
        reader = reader.option("kafka.bootstrap.servers", self.broker)
        return reader.option("startingOffsets", "earliest").load()

    def typed(self, method: str, df: DataFrame) -> DataFrame:
        """Return what a method of the Java class `Typed` makes of a DataFrame."""
        java = getattr(self.spark._jvm.golden.Typed, method)
        return DataFrame(java(df._jdf), self.spark)


Build = Callable[[Place], Any]


@dataclass(frozen=True)
class Query:
    """`build` returns a DataFrame, which goes to a foreachBatch, or a writer, or both with a table.

    `topics` are filled before the start. A query that `runs` not is recorded unstarted alone.
    """

    name: str
    build: Build
    mode: str = "append"
    settings: dict[str, str] = field(default_factory=dict)
    trigger: dict[str, Any] = field(default_factory=lambda: {"availableNow": True})
    topics: tuple[str, ...] = ()
    runs: bool = True
    codegen: bool = False


QUERIES: dict[str, Query] = {}


def query(**facts: Any) -> Callable[[Build], Build]:
    """Register a query under its function's name."""

    def note(build: Build) -> Build:
        name = build.__name__
        QUERIES[name] = Query(name, build, **facts)
        return build

    return note
