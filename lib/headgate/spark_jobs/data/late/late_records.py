"""Records that came too late, as rows of the Kafka source that they belong to.

They are offsets of the input topic itself (its watermark dropped them), offsets of other topics, or
files with the columns `key`, `value` and `timestamp`, and perhaps `topic`, `partition`, `offset`.
A record that is there twice, or is in the input already, is a duplicate, and left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.touched_keys import PLACE, marked
from headgate.spark_jobs.data.offset_ranges import OffsetRanges, read_ranges

Read = Callable[[OffsetRanges], Any]
NONE, OFFSETS = "none", "offsets"
_FORMATS = ("parquet", "json", "orc")
_NEEDED = ("key", "value", "timestamp")
_PLACE = ("topic", "partition", "offset")
_JSON_FIELD = "value."
# Rows up to this many are sent to every executor: then Spark leaves others out without a shuffle.
MOST_SENT = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which records are late."""
    add = parser.add_argument
    add("--input", required=True, metavar="TOPIC", help="Input topic of the late records.")
    add(
        "--late-offsets",
        help="Offset ranges of the late records, as JSON or @FILE. The records can be in the topic "
        "of --input or in another topic.",
    )
    add(
        "--late-files",
        metavar="FORMAT:PATH",
        help="Files with late records, such as json:/data/late.",
    )
    add(
        "--known-offsets",
        help="Offset ranges of input records that the results in --target already include, as JSON "
        "(default: --offsets). Used to find late records that are duplicates.",
    )
    add(
        "--duplicates",
        default=OFFSETS,
        help="What identifies duplicates: offsets (default), key or value.FIELD, separated by "
        "commas. `none` keeps duplicates.",
    )


@dataclass
class LateRecords:
    """The late records of the topic `input`; `files` is FORMAT:PATH.

    `identity` has the columns by which duplicates are found besides their offsets, None: not even
    by these. `known` are the offsets of records that are no late ones, None: those that are read.
    After `rows_of` was called, `found` has the rows without duplicates, and `counted`
    how many were read, came twice, and were in the input.
    """

    input: str
    offsets: OffsetRanges
    files: str | None = None
    identity: tuple[str, ...] | None = ()
    known: OffsetRanges | None = None
    is_alone: bool = False
    found: Any = None
    reads: int = 0
    _parts: list[Any] = field(default_factory=list)

    def rows_of(self, ranges: OffsetRanges, read: Read) -> Any:
        """Return a source's rows: the late ones with the others, or only those if `is_alone`."""
        if self.input not in ranges.parts:
            return read(ranges)
        self.reads += 1
        input_rows = self._without_late(ranges, read)
        late = self._found(input_rows, ranges, read)
        late = late.select(*input_rows.columns)
        return marked(late) if self.is_alone else input_rows.unionByName(late)

    def counted(self) -> dict[str, int]:
        """Return how many there are, by what became of them."""
        if not self._parts:
            raise CaptureError(
                f"--input: the function doesn't read topic {self.input}. Pass an input topic of "
                "the function"
            )
        rows, once_rows, new_rows = self._parts
        everything, new = rows.count(), new_rows.count()
        once = everything if once_rows is rows else once_rows.count()
        return {"late": everything, "repeated": everything - once, "in_input": once - new,
                "new": new}  # fmt: skip

    def _without_late(self, ranges: OffsetRanges, read: Read) -> Any:
        """Return the input without the offsets that are named as late."""
        rows, own = read(ranges), self._own(ranges)
        return rows.where(~_inside(own)) if own.records else rows

    def _own(self, ranges: OffsetRanges) -> OffsetRanges:
        return OffsetRanges({t: p for t, p in self.offsets.parts.items() if t in ranges.parts})

    def _found(self, input_rows: Any, ranges: OffsetRanges, read: Read) -> Any:
        if self.found is None:
            # Counted and used: without it, Spark would read them from Kafka for each of these.
            rows = self._read(input_rows, read).persist()
            once = self._once(rows)
            new = self._new(once, input_rows, ranges)
            # Used several times, too: to find keys, and as input.
            self.found = _of_input(new, self.input).persist()
            self._parts = [rows, once, self.found]
        return self.found

    def _read(self, input_rows: Any, read: Read) -> Any:
        parts = []
        if self.offsets.parts:
            # One consumer can't read some topics by ranges and others not at all.
            parts.append(read(self.offsets).select(*input_rows.columns))
        if self.files is not None:
            parts.append(_read_files(input_rows, self.files))
        return reduce(lambda a, b: a.unionByName(b), parts)

    def _once(self, rows: Any) -> Any:
        if self.identity is None:
            return rows
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        if self.files is not None:
            rows = _each_record_once(rows)
        if not self.identity:
            return rows
        names = [f"headgate_id{n}" for n, _ in enumerate(self.identity)]
        known = _identified(rows, self.identity)
        is_whole = reduce(lambda a, b: a & b, (f.col(n).isNotNull() for n in names))
        order = Window.partitionBy(*names).orderBy("timestamp", *_PLACE, "value")
        first = known.where(is_whole).withColumn("headgate_nth", f.row_number().over(order))
        first = first.where("headgate_nth = 1").drop("headgate_nth")
        return first.unionByName(known.where(~is_whole)).drop(*names)

    def _new(self, rows: Any, input_rows: Any, ranges: OffsetRanges) -> Any:
        if self.identity is None:
            return rows
        from pyspark.sql import functions as f

        own = self._own(ranges)
        # Null where a file has no place of a record: then it isn't known to be in the input.
        known = self.known or ranges
        is_there = f.coalesce(_inside(known) & ~_inside(own), f.lit(False))
        rows = rows.where(~is_there)
        if not self.identity:
            return rows
        names = [f"headgate_id{n}" for n, _ in enumerate(self.identity)]
        late = _identified(rows, self.identity)
        wanted = late.select(*names).distinct().persist()
        sent = f.broadcast if wanted.count() <= MOST_SENT else _as_they_are
        there = _identified(input_rows, self.identity).select(*names)
        there = there.join(sent(wanted), names, "left_semi").distinct()
        return late.join(sent(there), names, "left_anti").select(*rows.columns)


def read_late(given: argparse.Namespace) -> LateRecords:
    """Return what the options say; CaptureError says which is wrong."""
    names = tuple(n.strip() for n in str(given.duplicates).split(",") if n.strip())
    wrong = [n for n in names if n not in (NONE, OFFSETS, "key") and not n.startswith(_JSON_FIELD)]
    if wrong or not names or (len(names) > 1 and NONE in names):
        raise CaptureError(
            f"--duplicates: expected none, offsets, key or value.FIELD, found {given.duplicates!r}"
        )
    if not given.late_offsets and not given.late_files:
        raise CaptureError("no late records. Pass --late-offsets or --late-files")
    at = given.known_offsets
    known = read_ranges(at, "--known-offsets") if at else None
    return LateRecords(
        input=given.input,
        offsets=read_ranges(given.late_offsets or "{}", "--late-offsets"),
        files=given.late_files or None,
        known=known,
        identity=None if NONE in names else tuple(n for n in names if n != OFFSETS),
    )


def _each_record_once(rows: Any) -> Any:
    """Return the rows of files, one for each topic, partition and offset; Kafka has each once."""
    from pyspark.sql import functions as f

    # Rows without a whole place are each a record of their own.
    has_place = reduce(lambda a, b: a & b, (f.col(n).isNotNull() for n in _PLACE))
    single = f.when(has_place, f.col("offset"))
    single = f.coalesce(single, -1 - f.monotonically_increasing_id())
    rows = rows.withColumn(PLACE, single)
    rows = rows.dropDuplicates(["topic", "partition", PLACE])
    return rows.drop(PLACE)


def _as_they_are(rows: Any) -> Any:
    return rows


def _inside(ranges: OffsetRanges) -> Any:
    """Return the condition that a row's offset is in the ranges."""
    from pyspark.sql import functions as f

    conditions = [
        (f.col("topic") == topic)
        & (f.col("partition") == part)
        & (f.col("offset") >= begin)
        & (f.col("offset") < end)
        for topic, parts in ranges.parts.items()
        for part, (begin, end) in parts.items()
        if begin < end
    ]
    return reduce(lambda a, b: a | b, conditions, f.lit(False))


def _identified(rows: Any, identity: tuple[str, ...]) -> Any:
    """Return the rows with a column of text for each part of what identifies a record."""
    from pyspark.sql import functions as f

    text = f.col("value").cast("string")
    for n, name in enumerate(identity):
        path = f"$.{name.removeprefix(_JSON_FIELD)}"
        column = f.col("key").cast("string") if name == "key" else f.get_json_object(text, path)
        rows = rows.withColumn(f"headgate_id{n}", column)
    return rows


def _of_input(rows: Any, topic: str) -> Any:
    """Return the rows as those of the input topic, for a function that uses the column `topic`."""
    from pyspark.sql import functions as f

    return rows.withColumn("topic", f.lit(topic))


def _read_files(input_rows: Any, files: str) -> Any:
    """Return the rows of files with the columns of a Kafka source; those left out are null."""
    from pyspark.sql import functions as f

    kind, _, path = files.partition(":")
    if kind not in _FORMATS or not path:
        known = ", ".join(_FORMATS)
        raise CaptureError(
            f"--late-files: expected FORMAT:PATH (formats: {known}), found {files!r}"
        )
    spark = input_rows.sparkSession
    kinds = dict(input_rows.dtypes)
    # Kafka writes the time of a record in milliseconds.
    reader = spark.read.format(kind).option("mode", "FAILFAST")
    rows = reader.load(path)
    if missing := [n for n in _NEEDED if n not in rows.columns]:
        raise CaptureError(
            f"the late records in {path} have no column {missing[0]}. Late records need the "
            f"columns {', '.join(_NEEDED)}. The files have: {', '.join(rows.columns) or 'none'}"
        )
    there = dict(rows.dtypes)
    if there["timestamp"] in ("bigint", "double"):
        raise CaptureError(
            f"column timestamp of the late records in {path} is {there['timestamp']}, so its "
            "unit is unknown. Write timestamps as text such as 2026-04-01T10:00:00Z"
        )
    return rows.select(
        *(
            (f.col(n) if n in there else f.lit(None)).cast(kind).alias(n)
            for n, kind in kinds.items()
        )
    )
