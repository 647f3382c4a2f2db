"""The table of sink formats, one row for each format. All layers use it.

A format has several names: the value of a writer's `format`, the class in query progress, the word
in a plan. `known_sink` finds the row by any of these names, and ignores case. For a format without
a row, it is unknown what the sink does with a repeated batch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_BRACKET = re.compile(r"[\[({]")


class BatchIds(StrEnum):
    """What a sink does with a repeated batch number."""

    WRITES = "writes"
    """The sink writes the batch again."""
    DROPS_OF_QUERY = "drops_of_query"
    """The sink drops the batch if the same query id wrote that batch number."""
    DROPS = "drops"
    """The sink drops the batch, no matter which query wrote that batch number."""
    BY_FUNCTION = "by_function"
    """The user's function decides whether to write the batch again."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkFormat:
    """One sink format. `format` is the value of a writer's `format`.

    `names` are its classes and other names in progress, plans, drivers and options. `title` is its
    name in messages. `is_files`: Spark's file sink, with a log in `_spark_metadata`. `ends` are the
    name extensions of its files. `has_path`: its target is a folder. `writes_in_tasks`: tasks write
    rows before the batch commits. `for_trials`: its rows are lost when the driver ends.
    `in_real_time`: real-time mode supports it (Spark 4.1 and 4.2). `is_option`: users can name it
    with `--sink` if the evidence doesn't show the sink.
    """

    format: str
    batch_ids: BatchIds
    names: tuple[str, ...] = ()
    title: str = ""
    is_files: bool = False
    ends: tuple[str, ...] = ()
    has_path: bool = False
    writes_in_tasks: bool = False
    for_trials: bool = False
    in_real_time: bool = False
    is_option: bool = False

    @property
    def calls_function(self) -> bool:
        """Whether the sink passes rows to a user function."""
        return self.batch_ids is BatchIds.BY_FUNCTION


def _files(form: str, *names: str, ends: tuple[str, ...] = ()) -> SinkFormat:
    """Return the row of a format of Spark's file sink (`FileStreamSink.addBatch`)."""
    return SinkFormat(
        format=form,
        batch_ids=BatchIds.DROPS,
        names=names,
        title="file sink",
        is_files=True,
        ends=ends,
        has_path=True,
        is_option=form == "file",
    )


# Measured on Spark 4.2.0 where not said otherwise. Progress and plans call files of every format
# `FileSink`: without other evidence the format is `file`.
SINK_FORMATS = (
    _files("file", "FileSink", "FileStreamSink"),
    _files("parquet", "ParquetFileFormat", ends=("parquet",)),
    _files("json", "JsonFileFormat", ends=("json",)),
    _files("csv", "CSVFileFormat", ends=("csv",)),
    _files("orc", "OrcFileFormat", "OrcFileSource", ends=("orc",)),
    _files("text", "TextFileFormat", ends=("txt",)),
    _files("avro", "AvroFileFormat", ends=("avro",)),
    _files("xml", "XmlFileFormat", ends=("xml",)),
    SinkFormat(  # Delta 4.4.0: DeltaSink.addBatch compares with txnVersion(queryId)
        format="delta",
        batch_ids=BatchIds.DROPS_OF_QUERY,
        names=("DeltaSink", "DeltaDataSource"),
        title="Delta table",
        has_path=True,
        is_option=True,
    ),
    SinkFormat(  # source: SparkWrite.BaseStreamingWrite.commit, Iceberg 1.x
        format="iceberg",
        batch_ids=BatchIds.DROPS_OF_QUERY,
        names=("IcebergSource",),
        title="Iceberg table",
        is_option=True,
    ),
    SinkFormat(  # source: HoodieStreamingSink.canSkipBatch; its key is no query id
        format="hudi",
        batch_ids=BatchIds.DROPS,
        names=("HoodieStreamingSink",),
        title="Hudi table",
        has_path=True,
        is_option=True,
    ),
    SinkFormat(
        format="kafka",
        batch_ids=BatchIds.WRITES,
        names=("KafkaTable", "KafkaSourceProvider"),
        writes_in_tasks=True,
        in_real_time=True,
        is_option=True,
    ),
    SinkFormat(
        format="foreachBatch",
        batch_ids=BatchIds.BY_FUNCTION,
        names=("ForeachBatchSink",),
        writes_in_tasks=True,
    ),
    SinkFormat(
        format="foreach",
        batch_ids=BatchIds.BY_FUNCTION,
        names=("ForeachSink", "ForeachWriterTable"),
        writes_in_tasks=True,
        in_real_time=True,
        is_option=True,
    ),
    SinkFormat(
        format="memory",
        batch_ids=BatchIds.WRITES,
        names=("MemorySink",),
        for_trials=True,
        in_real_time=True,
    ),
    SinkFormat(
        format="console",
        batch_ids=BatchIds.WRITES,
        names=("ConsoleSink", "ConsoleTable", "ConsoleSinkProvider"),
        for_trials=True,
        in_real_time=True,
    ),
    SinkFormat(
        format="noop",
        batch_ids=BatchIds.WRITES,
        names=("NoopTable", "noop-table", "NoopDataSource"),
    ),
)

FILE_FORMATS = frozenset(s.format for s in SINK_FORMATS if s.is_files)
"""Formats that Spark's file sink writes. `file` stands for any of these."""

_BY_NAME = {name.lower(): s for s in SINK_FORMATS for name in (s.format, *s.names)}


def known_sink(name: str | None) -> SinkFormat | None:
    """Return the row of a format by any of its names, None if there is no row."""
    if not name:
        return None
    return _BY_NAME.get(name.lower()) or _BY_NAME.get(_class(name).lower())


def sink_format(name: str | None) -> SinkFormat:
    """Return the row of a format; without a row, one with unknown behaviour."""
    return known_sink(name) or SinkFormat(format=name or "", batch_ids=BatchIds.UNKNOWN)


def described_sink(text: str) -> tuple[str, str | None]:
    """Return format and target of a sink from its description in a plan or in query progress.

    `DeltaSink[/out]`, `ForeachWriterTable(...)`, `MongoTable{schema=...}` and
    `org.example.ConsoleTable$@3a9b`: the class is before the first bracket. Only square brackets
    contain the target. If a format has no row, its class is used as the format.
    """
    found = _BRACKET.search(text)
    name = _class(text[: found.start()] if found else text)
    row = known_sink(name)
    target = text[found.end() :].removesuffix("]") if found and found[0] == "[" else ""
    return row.format if row else name, target or None


def normal_path(path: str) -> str:
    """Return a normalised path: `/a` for `file:/a`, `file:///a/` and `/a`."""
    if path.startswith("file:"):
        path = "/" + path.removeprefix("file:").lstrip("/")
    return path.rstrip("/") or "/"


def may_be_same_output(one: str, other: str) -> bool:
    """Return whether one is a table or relative path, and the other a folder with its name.

    The files of a table are in a folder with the table's name; some evidence has only the name.
    """
    both = [normal_path(p) for p in (one, other)]
    paths = [p for p in both if p.startswith("/") or "://" in p]
    names = [p.replace("`", "").rpartition(".")[2] for p in both if p not in paths]
    return len(names) == len(paths) == 1 and paths[0].endswith(f"/{names[0]}")


def is_one_location(one: str, other: str) -> bool:
    """Return whether two descriptions of an output mean the same location, as far as text shows."""
    return normal_path(one) == normal_path(other) or may_be_same_output(one, other)


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is the folder, or is inside the folder."""
    return f"{normal_path(path)}/".startswith(f"{normal_path(folder).rstrip('/')}/")


def _class(name: str) -> str:
    """Return the last word of a class name that may end in an object's hash."""
    return name.partition("@")[0].rstrip("$").rpartition(".")[2].rpartition("$")[2].strip()
