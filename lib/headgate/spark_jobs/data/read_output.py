"""Read an output into a DataFrame: files, a Delta table, a range of a topic, a JDBC table.

Only what was committed is read: the files that Spark's file sink lists in `_spark_metadata`, the
newest version of a Delta table, the committed records of a topic. A range is fixed when it is
first read: records that come later aren't part of it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from headgate.errors import OutputError, UnreachableError
from headgate.spark_jobs.data.output_address import FileOutput, TableOutput, TopicOutput
from headgate.spark_jobs.data.read_topic import read_topic
from headgate.spark_jobs.engine_error import causes, java_error, stop_cause
from headgate.spark_jobs.spark_reflection import literal_path

# Names the variable of the environment with settings, so that no command line has them.
CONNECTIONS = "HEADGATE_CONNECTIONS"
DELTA_LOG, SINK_LOG = "_delta_log", "_spark_metadata"
_CORRUPT = "_headgate_corrupt"
_MAGIC = {b"PAR1": "parquet", b"ORC": "orc"}
_ENDINGS = {
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "csv": "csv",
    "tsv": "tsv",
    "txt": "text",
    "text": "text",
    "log": "text",
}
_UNNAMED = re.compile(r"_c\d+")
# As a number, such a text would lose its zeros.
_CODE = re.compile(r"^[+-]?0[0-9]")
_GUESSED = ("int", "bigint", "double")
_PACKED = ("gz", "bz2", "zst", "zstd", "snappy", "lz4", "deflate")
# A driver that reads a whole table into memory, as PostgreSQL's does by default, fails on a large
# one: this many rows at a time.
_FETCH_ROWS = "10000"
# Java's list of drivers lacks those of jars that Spark was given.
_DRIVERS = {"jdbc:postgresql:": "org.postgresql.Driver"}


@dataclass(frozen=True, slots=True)
class Connections:
    """Settings of Kafka's Java client, and of each database: `url`, `user`, `password`."""

    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    jdbc: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


def given_connections(text: str | None = None) -> Connections:
    """Return the settings in `text`, JSON with `kafka` and `jdbc`, else in the environment."""
    found = json.loads(text or os.environ.get(CONNECTIONS) or "{}")
    return Connections(found.get("kafka", {}), found.get("jdbc", {}))


@dataclass(frozen=True, slots=True)
class Output:
    """An output's rows; `rows` is None if it has no data and so no columns.

    `is_costly`: each pass over `rows` reads a server or decodes text, so keep them if you need two.
    """

    rows: Any
    notes: tuple[str, ...] = ()
    is_costly: bool = False


def read_output(
    spark: Any,
    address: FileOutput | TopicOutput | TableOutput,
    connections: Connections,
    *,
    keys: Sequence[str] = (),
    newest: bool = False,
) -> Output:
    """Return an output's rows with its columns.

    `keys` distinguishes a CSV header from data, and decides whether a topic's record key is a
    column. `newest` keeps a topic's newest record of each key. OutputError says what can't be read
    and why, UnreachableError which server did not answer.
    """
    if isinstance(address, TopicOutput):
        return _topic(spark, address, connections.kafka, keys, newest)
    if isinstance(address, TableOutput):
        return _table(spark, address, connections.jdbc)
    return _files(spark, address.path, keys)


def _topic(
    spark: Any, address: TopicOutput, kafka: Mapping[str, str], keys: Sequence[str], newest: bool
) -> Output:
    found = read_topic(spark, address, kafka, keys=keys, newest=newest)
    return Output(found.rows, found.notes, is_costly=True)


def _table(spark: Any, address: TableOutput, known: Mapping[str, Mapping[str, str]]) -> Output:
    settings = known.get(address.connection)
    if settings is None:
        raise OutputError(
            f"no database {address.connection} is declared: add [jdbc.{address.connection}] with "
            "`url` to headgate.toml"
        )
    name = f"jdbc:{address.connection}.{address.table}"
    options = {"dbtable": address.table, "fetchsize": _FETCH_ROWS, "preferTimestampNTZ": "true"}
    for url, driver in _DRIVERS.items():
        if settings["url"].startswith(url):
            options["driver"] = driver
    reader = spark.read.format("jdbc").options(**(options | dict(settings)))
    try:
        return Output(reader.load(), is_costly=True)
    except Exception as error:
        raise database_error(name, error) from error


def database_error(name: str, error: Exception) -> OutputError | UnreachableError:
    """Return what a database's driver said as one of ours."""
    thrown = next((t for t in causes(java_error(error)) if _has_state(t)), None)
    if thrown is None:
        reason = str(error).partition("\n")[0]
        if "driver" in reason.lower():
            reason = (
                f"no JDBC driver for this database is installed ({reason}). Pass the driver's "
                "jar to Spark"
            )
        return OutputError(f"{name} can't be read: {reason}")
    reason = " ".join(str(thrown.getMessage()).partition("\n")[0].split()).rstrip(".")
    state = str(thrown.getSQLState() or "")
    if state.startswith(("08", "57P")):
        return UnreachableError(f"the database of {name} did not respond: {reason}")
    return OutputError(f"{name} can't be read: {reason}")


def _has_state(thrown: Any) -> bool:
    """Whether a Java exception is one of a database."""
    return any(str(m.getName()) == "getSQLState" for m in thrown.getClass().getMethods())


def _files(spark: Any, path: str, keys: Sequence[str]) -> Output:
    files = _Files(spark, path)
    if not files.exists():
        raise OutputError(f"{path} not found. Check the path")
    if files.exists(DELTA_LOG):
        return Output(_loaded(spark.read.format("delta"), path, is_delta=True))
    first = files.first()
    if first is None:
        return Output(None, (f"{path} has no data files, so it counts as empty.",))
    format, options = _format(files, first, keys)
    reader = spark.read.format(format).options(**options)
    try:
        rows = _loaded(reader, path)
        rows = _with_text(rows, reader, path, format)
    except OutputError as error:
        if files.exists(SINK_LOG) and "UNABLE_TO_INFER_SCHEMA" in str(error):
            return Output(None, (f"{path} has no committed files, so it counts as empty.",))
        raise
    if _CORRUPT in rows.columns:
        raise OutputError(f"{path} isn't JSON: Spark expects one JSON object per line")
    return Output(rows, is_costly=format in ("json", "csv"))


def _with_text(rows: Any, reader: Any, path: str, format: str) -> Any:
    """Return the rows, with text in columns whose numbers Spark guessed from texts such as `007`.

    As numbers, they would be equal to `7`. Spark guesses types of CSV, and of the names of folders.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType, StructField, StructType

    numbers = {n for n, kind in rows.dtypes if kind in _GUESSED or kind.startswith("decimal")}
    codes = {
        unquote(name)
        for file in rows.inputFiles()
        for name, _, value in (part.partition("=") for part in urlsplit(file).path.split("/"))
        if _CODE.match(unquote(value))
    }
    if format == "csv" and (guessed := sorted(numbers - codes)):
        text = _loaded(reader.option("inferSchema", "false"), path)
        asked = (f.max(f.col(_quoted(n)).rlike(_CODE.pattern)) for n in guessed)
        found = text.select(*(_quoted(n) for n in guessed)).agg(*asked).first()
        codes |= {n for n, is_code in zip(guessed, found, strict=True) if is_code}
    if not codes & numbers:
        return rows
    schema = StructType([
        StructField(c.name, StringType() if c.name in codes & numbers else c.dataType)
        for c in rows.schema
    ])  # fmt: skip
    return _loaded(reader.schema(schema), path)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _loaded(reader: Any, path: str, *, is_delta: bool = False) -> Any:
    try:
        return reader.load(path if is_delta else literal_path(path))
    except Exception as error:
        if "data source: delta" in str(error):
            raise OutputError(
                f"{path} is a Delta table, but Delta Lake's jars are not installed. Run `headgate "
                "doctor` to see how to install the jars, or pass the jars to Spark"
            ) from error
        raise spark_error(f"{path} can't be read", error) from error


def spark_error(what: str, error: Exception) -> OutputError | UnreachableError:
    """Return what Spark said as one of ours; `what` could not be done."""
    refusal = stop_cause(error)
    reason = f"{refusal.condition}: " if refusal.condition else ""
    said = refusal.message if reason[:-2] in refusal.message else f"{reason}{refusal.message}"
    kind = UnreachableError if refusal.is_around else OutputError
    return kind(f"{what}: {said.rstrip('.')}")


class _Files:
    """The files below a path, in any file system that this Spark knows."""

    def __init__(self, spark: Any, path: str) -> None:
        self._path = path
        self._java = spark._jvm.org.apache.hadoop.fs.Path
        try:
            self._root = self._java(path)
            self._system = self._root.getFileSystem(spark._jsc.hadoopConfiguration())
        except Exception as error:
            reason = _reason(error)
            raise OutputError(f"{path} can't be read: {reason}") from error

    def exists(self, name: str = "") -> bool:
        """Whether the path, or a file of this name in it, is there."""
        try:
            return bool(self._system.exists(self._java(self._root, name) if name else self._root))
        except Exception as error:
            raise UnreachableError(f"{self._path} can't be read: {_reason(error)}") from error

    def first(self) -> str | None:
        """Return the first file that is not empty; names with `_` or `.` first are no data."""
        found = self._system.listFiles(self._root, True)
        while found.hasNext():
            status = found.next()
            path = str(status.getPath().toString())
            below = path.removeprefix(str(self._system.makeQualified(self._root).toString()))
            hidden = any(
                part.startswith(".") or (part.startswith("_") and "=" not in part)
                for part in below.split("/")
            )
            if not hidden and status.getLen() > 0:
                return path
        return None

    def head(self, path: str, count: int) -> bytes:
        """Return the first bytes of a file."""
        stream = self._system.open(self._java(path))
        try:
            read = (stream.read() for _ in range(count))
            return bytes(byte for byte in read if byte >= 0)
        finally:
            stream.close()


def _reason(error: Exception) -> str:
    thrown = getattr(error, "java_exception", None)
    said = str(thrown.getMessage() or thrown.toString()) if thrown is not None else str(error)
    return " ".join(said.partition("\n")[0].split()).rstrip(".")


def _format(files: _Files, first: str, keys: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return Spark's format of a file and the options to read it with."""
    head = files.head(first, 4)
    if by_magic := next((f for magic, f in _MAGIC.items() if head.startswith(magic)), None):
        return by_magic, {}
    endings = first.rpartition("/")[2].lower().split(".")[1:]
    while endings and endings[-1] in _PACKED:
        endings.pop()
    format = _ENDINGS.get(endings[-1] if endings else "")
    if format is None and head.lstrip().startswith(b"{"):
        format = "json"
    if format is None:
        raise OutputError(
            f"the format of {first} isn't known: expected Parquet, ORC, Delta Lake, or a file that "
            "ends in .json, .csv, .tsv or .txt"
        )
    if format == "json":
        return "json", {"columnNameOfCorruptRecord": _CORRUPT}
    if format == "text":
        return "text", {}
    separator = "\t" if format == "tsv" else ","
    header = _has_header(keys)
    return "csv", {"header": str(header).lower(), "inferSchema": "true", "sep": separator}


def _has_header(keys: Sequence[str]) -> bool:
    """Whether the keys are names of a header: without one, Spark calls columns _c0, _c1..."""
    return any(not _UNNAMED.fullmatch(key) for key in keys)
