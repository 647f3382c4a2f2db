"""Let a function that builds a streaming query build a batch one: the same code over `spark.read`.

`spark.readStream` gives a `BatchReader`, which takes the calls of a `DataStreamReader`, and
`writeStream` a writer that only remembers. A Kafka source reads the offsets that it is given. Spark
ignores a watermark in a batch: no record is late there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.readwriter import OptionUtils

from headgate.errors import CaptureError
from headgate.spark_jobs.block_sources import FILES
from headgate.spark_jobs.data.offset_ranges import OffsetRanges
from headgate.spark_jobs.failing.row_wise_plan import BEGINS

# What only a stream takes, or what a batch must not: it joins nobody's group.
_ONLY_STREAMS = frozenset(
    {
        *("maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay"),
        *("maxfilespertrigger", "maxbytespertrigger", "maxcachedfiles", "latestfirst"),
        *("maxfileage", "cleansource", "sourcearchivedir", "filenameonly"),
        *("startingtimestamp", "startingoffsetsbytimestamp", "endingtimestamp"),
        *("endingoffsetsbytimestamp", "startingoffsets", "endingoffsets", "kafka.group.id"),
        *("groupidprefix", "startingoffsetsbytimestampstrategy", "failondataloss"),
    }
)
_TOPICS = ("subscribe", "subscribepattern", "assign")


@dataclass
class Watermark:
    """A call of `withWatermark`: the rows before it, the column, the delay as it was given."""

    rows: Any
    column: str
    delay: str


@dataclass
class Built:
    """What a function built: its watermarks, and the writers that it started.

    `counts` has the number of records that each Kafka source gave, once they are read. `slices` is
    the least number of tasks that read such a source. `rows_of(ranges, read)` returns the rows of a
    source that reads these ranges; `read` reads any ranges with the source's options. `reads` is
    how many Kafka sources it has built.
    """

    ranges: OffsetRanges
    within: Callable[[Any, str], Any] = lambda rows, _column: rows
    rows_of: Callable[[OffsetRanges, Callable[[OffsetRanges], Any]], Any] = lambda ranges, read: (
        read(ranges)
    )
    slices: int | None = None
    reads: int = 0
    counts: list[Observation] = field(default_factory=list)
    watermarks: list[Watermark] = field(default_factory=list)
    writers: list[RememberedWriter] = field(default_factory=list)


class BatchReader(OptionUtils):  # type: ignore[misc]
    """A `DataStreamReader` that reads a batch."""

    def __init__(self, spark: Any, built: Built) -> None:
        self._spark, self._built = spark, built
        self._format: str | None = None
        self._schema: Any = None
        self._options: dict[str, Any] = {}

    def format(self, source: str) -> BatchReader:
        """Remember the format."""
        self._format = source.lower()
        return self

    def schema(self, schema: Any) -> BatchReader:
        """Remember the schema."""
        self._schema = schema
        return self

    def option(self, key: str, value: Any) -> BatchReader:
        """Remember an option."""
        self._options[key.lower()] = value
        return self

    def options(self, **options: Any) -> BatchReader:
        """Remember options."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def name(self, _name: str) -> BatchReader:
        """A batch has no named sources."""
        return self

    def load(
        self, path: str | None = None, format: str | None = None, schema: Any = None, **given: Any
    ) -> Any:
        """Return the source's rows, of a Kafka source those of the ranges."""
        self._take(format, schema, given)
        kind = self._format or "parquet"
        if kind == "kafka":
            return self._kafka()
        if kind not in FILES and kind not in ("delta", "iceberg"):
            raise CaptureError(
                f"source {kind} can't be read as a batch: use a Kafka, file, Delta Lake or Iceberg "
                "source"
            )
        return self._reader().load(path) if path is not None else self._reader().load()

    def table(self, name: str) -> Any:
        """Return a table's rows."""
        return self._reader().table(name)

    def __getattr__(self, kind: str) -> Any:
        if kind not in FILES:
            raise AttributeError(kind)

        def load(path: str, schema: Any = None, **given: Any) -> Any:
            named = {k: v for k, v in given.items() if v is not None}
            return self.load(path, format=kind, schema=schema, **named)

        return load

    def _take(self, format: str | None, schema: Any, given: dict[str, Any]) -> None:
        self.options(**given)
        if format is not None:
            self.format(format)
        if schema is not None:
            self.schema(schema)

    def _kafka(self) -> Any:
        ranges = self._ranges()
        self._built.reads += 1
        return self._built.rows_of(ranges, self._read)

    def _read(self, ranges: OffsetRanges) -> Any:
        # A subscription would want offsets of partitions that were added since, too.
        reader = self._reader().option("assign", ranges.assigned())
        reader = reader.option("startingOffsets", ranges.starting())
        reader = reader.option("endingOffsets", ranges.ending())
        reader = reader.option(BEGINS, ranges.starting())
        # Else Spark would leave out what has expired, and say nothing.
        reader = reader.option("failOnDataLoss", "true")
        if self._built.slices is not None:
            return reader.option("minPartitions", str(self._built.slices)).load()
        count = Observation(f"read-{len(self._built.counts)}")
        self._built.counts.append(count)
        return reader.load().observe(count, f.count(f.lit(1)).alias("rows"))

    def _ranges(self) -> OffsetRanges:
        """Return the ranges of what the source reads, by `subscribe`, a pattern or `assign`."""
        given = {name: self._options.pop(name, None) for name in _TOPICS}
        ranges = self._built.ranges
        if assigned := given["assign"]:
            parts = {str(t): [int(n) for n in numbers] for t, numbers in _json(assigned).items()}
            return ranges.only(parts).within(parts)
        if pattern := given["subscribepattern"]:
            return ranges.only([t for t in ranges.parts if re.fullmatch(str(pattern), t)])
        return ranges.only([name.strip() for name in str(given["subscribe"] or "").split(",")])

    def _reader(self) -> Any:
        reader = self._spark.read
        if self._format is not None:
            reader = reader.format(self._format)
        if self._schema is not None:
            reader = reader.schema(self._schema)
        kept = {k: v for k, v in self._options.items() if k not in _ONLY_STREAMS}
        for key, value in kept.items():
            reader = reader.option(key, value)
        return reader


def _json(text: Any) -> dict[str, Any]:
    try:
        found = json.loads(str(text))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CaptureError(f"option assign of the Kafka source isn't a JSON object: {text!r}")
    return found


class RememberedWriter:
    """A `DataStreamWriter` that starts nothing, and remembers its calls."""

    def __init__(self, rows: Any, built: Built) -> None:
        self.rows = rows
        self.sink: str | None = None
        self.mode = "append"
        self.name: str | None = None
        self.options_given: dict[str, Any] = {}
        self._built = built

    def format(self, source: str) -> RememberedWriter:
        """Remember the sink's format."""
        self.sink = source.lower()
        return self

    def outputMode(self, outputMode: str) -> RememberedWriter:
        """Remember the output mode."""
        self.mode = outputMode.lower()
        return self

    def option(self, key: str, value: Any) -> RememberedWriter:
        """Remember an option."""
        self.options_given[key.lower()] = value
        return self

    def options(self, **options: Any) -> RememberedWriter:
        """Remember options."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def queryName(self, queryName: str) -> RememberedWriter:
        """Remember the query's name."""
        self.name = queryName
        return self

    def _nothing(self, *_: Any, **__: Any) -> RememberedWriter:
        return self

    # A batch has no trigger; how files are laid out is the target's business.
    trigger = partitionBy = clusterBy = _nothing

    def foreachBatch(self, _function: Any) -> RememberedWriter:
        """The function is not called: the rows go to the replay's target."""
        return self.format("foreachbatch")

    def foreach(self, _function: Any) -> RememberedWriter:
        """The function is not called: the rows go to the replay's target."""
        return self.format("foreach")

    def start(
        self, path: str | None = None, format: str | None = None, outputMode: str | None = None,
        partitionBy: Any = None, queryName: str | None = None, **given: Any,
    ) -> EndedQuery:  # fmt: skip
        """Remember that the query would have been started."""
        self.options(**given)
        if path is not None:
            self.option("path", path)
        if format is not None:
            self.format(format)
        if outputMode is not None:
            self.outputMode(outputMode)
        if queryName is not None:
            self.queryName(queryName)
        self._built.writers.append(self)
        return EndedQuery(self)

    def toTable(self, tableName: str, format: str | None = None, **given: Any) -> EndedQuery:
        """Remember that the query would have been started."""
        del tableName
        mode, by, name = (given.pop(k, None) for k in ("outputMode", "partitionBy", "queryName"))
        return self.start(None, format, mode, by, name, **given)


class EndedQuery:
    """What `start` gives: a query that has ended already."""

    id = runId = name = lastProgress = None
    isActive = False

    def __init__(self, writer: RememberedWriter) -> None:
        self.writer = writer
        self.name = writer.name

    @property
    def recentProgress(self) -> list[Any]:
        """None was made."""
        return []

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """Return at once."""
        return None if timeout is None else True

    def exception(self) -> None:
        """Nothing ran."""

    def stop(self) -> None:
        """Do nothing."""

    processAllAvailable = explain = stop


def build_as_batch(built: Built) -> None:
    """Turn every `readStream` and `writeStream` of this process to a batch.

    `built.within(rows, column)` is applied to the rows before each watermark.
    """
    SparkSession.readStream = property(lambda self: BatchReader(self, built))
    ClassicDataFrame.writeStream = property(lambda self: RememberedWriter(self, built))
    mark = ClassicDataFrame.withWatermark

    def with_watermark(self: Any, eventTime: str, delayThreshold: str) -> Any:
        built.watermarks.append(Watermark(self, eventTime, delayThreshold))
        return mark(built.within(self, eventTime), eventTime, delayThreshold)

    ClassicDataFrame.withWatermark = with_watermark


def chosen_batch(returned: Any, built: Built, name: str | None, entry_point: str) -> Any:
    """Return the writer of the query that was meant, or the DataFrame if there is none."""
    if isinstance(returned, EndedQuery):
        return returned.writer
    if isinstance(returned, RememberedWriter | DataFrame):
        return returned
    found = [w for w in built.writers if name is None or w.name == name]
    if len(found) == 1:
        return found[0]
    if not built.writers:
        raise CaptureError(
            f"{entry_point} returned no DataFrame or DataStreamWriter, and started no query: "
            "return one of them, or start the query"
        )
    names = ", ".join(w.name or "(unnamed)" for w in built.writers)
    what = "several queries" if found or name is None else f"no query {name!r}, only others"
    raise CaptureError(
        f"{entry_point} starts {what} ({names}): choose one with --query, or with `query` in "
        "headgate.toml"
    )
