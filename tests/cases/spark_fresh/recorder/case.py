"""What a restart to be recorded is: two versions of a query, their data and their settings.

A definition says nothing of the outcome: that is what the recording finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]
Batches = Mapping[str, Sequence[Sequence[Row]]]
"""Per folder (or topic) the files (or records) that come one after the other, each rows."""

SCHEMA = "k string, v int, d string, ts timestamp"
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}


@dataclass(frozen=True)
class Place:
    """Where one run reads and writes: `folder` holds the sources, `out` is the sink's."""

    spark: SparkSession
    folder: Path
    out: Path
    broker: str = ""

    def read(self, name: str = "src", schema: str = SCHEMA, **options: Any) -> DataFrame:
        """Return a stream of JSON files, one file a batch."""
        reader = self.spark.readStream.format("json").schema(schema)
        if named := options.pop("named", None):
            reader = reader.name(named)
        return reader.options(**{"maxFilesPerTrigger": 1, **options}).load(str(self.folder / name))

    def marked(self, name: str = "src", delay: str = "10 seconds", **options: Any) -> DataFrame:
        """Return the stream with a watermark on `ts`."""
        return self.read(name, **options).withWatermark("ts", delay)

    def view(self, name: str = "src", view: str = "events", **options: Any) -> None:
        """Give the stream a name for SQL."""
        self.read(name, **options).createOrReplaceTempView(view)

    def static(self, name: str = "towns") -> DataFrame:
        """Return a table on disk; its rows are written with the first data."""
        return self.spark.read.schema(SCHEMA).json(str(self.folder / name))

    def kafka(self, **options: Any) -> DataFrame:
        """Return the values of topics whose records are JSON of `SCHEMA`."""
        given = {"startingOffsets": "earliest", **options}
        reader = self.spark.readStream.format("kafka")
        if named := given.pop("named", None):
            reader = reader.name(named)
        rows = reader.option("kafka.bootstrap.servers", self.broker).options(**given).load()
        value = f"from_json(cast(value as string), '{SCHEMA}') AS v"
        return rows.selectExpr(value, "topic").select("v.*", "topic")


Build = Callable[[Place], Any]


@dataclass(frozen=True)
class Version:
    """One version of a query: `build` returns a DataFrame, or a writer of its own."""

    build: Build
    mode: str = "update"
    settings: Mapping[str, str] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"availableNow": True})


@dataclass(frozen=True)
class Case:
    """A restart: `old` reads `first`, stops, and `new` goes on with `then`.

    `earlier` are versions, each with its data, that ran before `old` on the same checkpoint.
    `files_tell` is False where the reason lies outside of plans and checkpoints by construction
    (the body of a function, the variables of a processor). `keys` are the columns by which the
    last row of each key is compared, where batches can't be cut at the same place (Kafka).
    `reader` reads what the sink wrote, where that is no foreachBatch. `surgery` changes the
    checkpoint between the versions. `telling` says that every row of the output
    shows the state behind it: then a reader judges by the rows, no control is run, and cases whose
    old versions are one object share what it has left.
    """

    name: str
    change: str
    old: Version
    new: Version
    first: Batches
    then: Batches
    earlier: Sequence[tuple[Version, Batches]] = ()
    files_tell: bool = True
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    surgery: Callable[[Path], None] | None = None
    reader: Callable[[Place], Any] | None = None
    telling: bool = False


CASES: dict[str, Case] = {}


def case(name: str, change: str, old: Any, new: Any, **facts: Any) -> None:
    """Register a case; `old` and `new` are versions, or what builds them.

    `mode`, `settings`, `new_mode` and `new_settings` are of the versions; the rest are facts of
    the case.
    """
    mode, settings = facts.pop("mode", "update"), facts.pop("settings", {})
    new_mode, new_settings = facts.pop("new_mode", mode), facts.pop("new_settings", settings)
    made = (
        old if isinstance(old, Version) else Version(old, mode, settings),
        new if isinstance(new, Version) else Version(new, new_mode, new_settings),
    )
    if name in CASES:
        raise ValueError(f"two cases are called {name}")
    CASES[name] = Case(name, change, *made, **{"first": FIRST, "then": THEN, **facts})


def at(second: float) -> str:
    """Return a moment of the first day of 2026, UTC."""
    minutes, rest = divmod(second, 60)
    return f"2026-01-01T{int(minutes // 60):02}:{int(minutes % 60):02}:{rest:06.3f}Z"


# Keys come back, keys stay away and keys are new; values and `d` tell apart what a sum, a count,
# an extreme or another column would give.
FIRST: Batches = {
    "src": [
        [
            ("a", 3, "x", at(1)),
            ("b", 10, "y", at(3)),
            ("a", 4, "y", at(4)),
            ("s", 9, "q", at(6)),
            ("s", 1, "q", at(7)),
        ],
        [("a", 2, "x", at(12)), ("c", 7, "x", at(14)), ("x", 6, "a", at(15))],
    ]
}
THEN: Batches = {
    "src": [
        [("a", 5, "x", at(16)), ("b", -3, "y", at(17)), ("n", 8, "x", at(18))],
        [("c", 1, "z", at(31)), ("x", 9, "a", at(32)), ("a", 2, "b", at(75))],
    ]
}
# Two sides of a join: some rows match at once, some over the restart, some never.
SIDES_FIRST: Batches = {
    "src": [
        [("a", 1, "x", at(10)), ("b", 2, "y", at(11)), ("u", 3, "x", at(12))],
        [("e", 6, "w", at(13))],
    ],
    "src2": [
        [("a", 10, "x", at(12)), ("c", 40, "y", at(13))],
        [("f", 60, "z", at(14))],
    ],
}
SIDES_THEN: Batches = {
    "src": [
        [("c", 4, "y", at(12)), ("g", 7, "x", at(15))],
        [("h", 9, "h", at(90))],
    ],
    "src2": [
        [("b", 20, "y", at(14)), ("e", 61, "w", at(16)), ("u", 30, "q", at(15))],
        [("h", 90, "h", at(91))],
    ],
}
BOTH_FIRST: Batches = {
    "src": FIRST["src"],
    "src2": [[("a", 30, "p", at(2)), ("q", 50, "q", at(5))], [("q", 1, "p", at(13))]],
}
BOTH_THEN: Batches = {
    "src": THEN["src"],
    "src2": [[("a", 70, "p", at(19)), ("q", 2, "q", at(20))], [("r", 3, "p", at(76))]],
}
