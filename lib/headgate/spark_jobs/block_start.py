"""Keep a function's queries from starting, and remember what it would have started."""

from __future__ import annotations

import re
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import py4j
import pyspark
from py4j.java_gateway import JavaClass, JavaMember
from pyspark import RDD, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameWriter, DataFrameWriterV2
from pyspark.sql.streaming import StreamingQueryManager
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headgate.errors import CaptureError
from headgate.spark_jobs.spark_reflection import case_kept, field

_BATCH_WRITES = {
    DataFrameWriter: (
        *("save", "insertInto", "saveAsTable", "json", "parquet", "text", "csv"),
        *("xml", "orc", "jdbc"),
    ),
    DataFrameWriterV2: (
        *("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions"),
    ),
    RDD: (
        *("saveAsTextFile", "saveAsPickleFile", "saveAsSequenceFile"),
        *("saveAsHadoopFile", "saveAsHadoopDataset"),
        *("saveAsNewAPIHadoopFile", "saveAsNewAPIHadoopDataset"),
    ),
}
# What the function must not create in the JVM itself,
_JAVA_WRITERS = re.compile(
    r"java\.io\.(?:File(?:Writer|OutputStream)|Print(?:Writer|Stream)|RandomAccessFile)$"
    r"|java\.lang\.ProcessBuilder$"
)
# and what it may only read with.
_JAVA_FILES = re.compile(
    r"org\.apache\.hadoop\.fs\.(?!Path$)|[\w.$]+FileSystem$|java\.io\.File$|java\.nio\.file\.Files$"
    r"|java\.lang\.Runtime$|org\.apache\.spark\..*DataFrameWriter"
)
_JAVA_READS = re.compile(
    r"get|is|has|list|exists|open|read|lines|walk|find|glob|to|equals|close|size|can(?!cel)|length"
    r"|new(?:BufferedReader|InputStream)|lastModified|(?:available|total|max|free)[A-Z]"
)
# They talk to the JVM for the function.
_OWN_CODE = tuple(str(Path(str(file)).parent) for file in (py4j.__file__, pyspark.__file__))
_OWN_CODE += (str(Path(__file__).parents[1]),)


_SQL_WRITES = re.compile(
    r"(?is)(?:\s|--[^\n]*\n|/\*.*?\*/)*"
    r"(insert\b|merge\s+into\b|create\s.*?\btable\b.*?\bas\b|(?:update|delete|truncate|drop)\b"
    # The folder is made at once.
    r"|create\s+(?:database|schema|namespace)\b.*?\blocation\b)"
)


_CHANGES = frozenset({"UPDATE", "DELETE", "TRUNCATE", "DROP"})
# A function that waits this often does so for ever (`while True: awaitAnyTermination()`).
_MOST_WAITS = 100


class EndlessWaitError(BaseException):
    """The function only waits from here on; no `except Exception` of its own shall hold this."""


@dataclass(frozen=True)
class Unstarted:
    """A query as it would have started: its writer, and the table where `toTable` named one."""

    writer: Any
    table: str | None = None

    @property
    def name(self) -> str | None:
        """The query's name, None where it has none."""
        options = case_kept(field(self.writer._jwrite, "extraOptions"))
        return next((v for k, v in options.items() if k.lower() == "queryname"), None)


class UnstartedQuery(StreamingQuery):  # type: ignore[misc]
    """What `start()` returns instead: a query that has ended already and did nothing."""

    def __init__(self, unstarted: Unstarted) -> None:
        self.unstarted = unstarted
        self._ids = str(uuid.uuid4()), str(uuid.uuid4())

    id = property(lambda self: self._ids[0])
    runId = property(lambda self: self._ids[1])
    name = property(lambda self: self.unstarted.name)
    isActive = property(lambda self: False)
    lastProgress = property(lambda self: None)
    recentProgress = property(lambda self: [])
    status = property(
        lambda self: {
            "message": "Not started",
            "isDataAvailable": False,
            "isTriggerActive": False,
        }
    )

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """Return at once: the query has ended."""
        _count_wait()
        return None if timeout is None else True

    def exception(self) -> None:
        """Return None: nothing ran that could fail."""

    def stop(self) -> None:
        """Do nothing."""

    processAllAvailable = explain = stop


def intercept_starts(*, refuse_writes: bool = True) -> list[Unstarted]:
    """Make `start` and `toTable` collect into the list that is returned, and waits return at once.

    Batch writes raise an error unless the query is to run for real: nothing that a capture calls
    may leave a trace.
    """
    global _waits
    _waits = iter(range(_MOST_WAITS))
    seen: list[Unstarted] = []

    def start(self: Any, path: str | None = None, format: str | None = None, **given: Any) -> Any:
        _apply(self, format, given)
        if path is not None:
            self.option("path", path)
        return remember(Unstarted(self))

    def to_table(self: Any, tableName: str, format: str | None = None, **given: Any) -> Any:
        _apply(self, format, given)
        return remember(Unstarted(self, tableName))

    def remember(query: Unstarted) -> UnstartedQuery:
        seen.append(query)
        return UnstartedQuery(query)

    DataStreamWriter.start = _positional(start, "path")
    DataStreamWriter.toTable = _positional(to_table, "tableName")
    _intercept_waits()
    if refuse_writes:
        _refuse_batch_writes()
    return seen


def _positional(start: Callable[..., Any], first: str) -> Callable[..., Any]:
    """Let `start` be called by position too, in the order of Spark's own signatures."""
    names = (first, "format", "outputMode", "partitionBy", "queryName")

    def call(self: Any, *args: Any, **given: Any) -> Any:
        return start(self, **dict(zip(names, args, strict=False)), **given)

    return call


def _apply(writer: Any, format: str | None, given: dict[str, Any]) -> None:
    """Set what was given to `start` on the writer, as Spark's own `start` does."""
    mode, by, name = (given.pop(k, None) for k in ("outputMode", "partitionBy", "queryName"))
    writer.options(**given)
    if mode is not None:
        writer.outputMode(mode)
    if by is not None:
        writer.partitionBy(by)
    if format is not None:
        writer.format(format)
    if name is not None:
        writer.queryName(name)


_waits = iter(range(_MOST_WAITS))


def _count_wait() -> bool:
    if next(_waits, None) is None:
        raise EndlessWaitError
    return True


def _intercept_waits() -> None:
    StreamingQueryManager.awaitAnyTermination = lambda self, timeout=None: _count_wait()
    SparkSession.stop = lambda self: None
    SparkContext.stop = lambda self: None


def ignore_listeners() -> None:
    """A function's own listeners would report a rehearsal as if it were the real run."""
    StreamingQueryManager.addListener = lambda self, listener: None


def _refuse_batch_writes() -> None:
    SparkSession.sql = _reading(SparkSession.sql)
    for writer, methods in _BATCH_WRITES.items():
        for method in methods:
            setattr(writer, method, _refusing(method))
    SparkContext.setCheckpointDir = _in_scratch(SparkContext.setCheckpointDir)
    for kind in (JavaMember, JavaClass):
        if not getattr(kind.__call__, "is_reading", False):
            kind.__call__ = _reading_java(kind.__call__)


def _reading(sql: Callable[..., Any]) -> Callable[..., Any]:
    """Let `spark.sql` read and define views; INSERT and CREATE TABLE AS run at once."""
    if getattr(sql, "is_reading", False):
        return sql

    def read(self: Any, sqlQuery: str, *args: Any, **given: Any) -> Any:
        if match := _SQL_WRITES.match(sqlQuery):
            _refusing(match[1].upper())()
        return sql(self, sqlQuery, *args, **given)

    read.is_reading = True  # type: ignore[attr-defined]
    return read


def _in_scratch(put: Callable[..., Any]) -> Callable[..., Any]:
    """Let Spark make the folder for checkpoints of batches where this process may write."""
    if getattr(put, "is_reading", False):
        return put

    def put_in_scratch(self: Any, dirName: str) -> None:
        put(self, self.getConf().get("spark.local.dir", tempfile.gettempdir()))

    put_in_scratch.is_reading = True  # type: ignore[attr-defined]
    return put_in_scratch


def _reading_java(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let the function call the JVM, but not what writes files there or starts programs."""

    def read(self: Any, *args: Any) -> Any:
        if not sys._getframe(1).f_code.co_filename.startswith(_OWN_CODE):
            _check_java(self)
        return call(self, *args)

    read.is_reading = True  # type: ignore[attr-defined]
    return read


def _check_java(called: Any) -> None:
    if isinstance(called, JavaClass):
        if _JAVA_WRITERS.match(str(called._fqn)):
            _refusing(str(called._fqn))()
        return
    method, holder = str(called.name), called.container
    name = called.target_id.partition(":")[2] if holder is None else holder.getClass().getName()
    is_write = _JAVA_FILES.match(str(name)) and not _JAVA_READS.match(method)
    if is_write or method.startswith("saveAs"):
        _refusing(f"{str(name).rpartition('.')[2]}.{method}")()


def _refusing(method: str) -> Callable[..., Any]:
    does, what = (
        ("changes data", "statement") if method in _CHANGES else ("writes a batch", "write")
    )

    def refuse(*_: Any, **__: Any) -> None:
        raise CaptureError(
            f"the function {does} ({method}), but Headgate calls the function only to build the "
            f"query: move the {what} out of the function"
        )

    return refuse
