"""Let a function build its `spark.read` and `spark.readStream` without reaching any source.

Files are swapped for empty folders, so that Spark neither looks for them nor lists them. A source
that has to be reached for its schema raises an error of one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader

from headgate.errors import CaptureError
from headgate.model.sinks import FILE_FORMATS
from headgate.spark_jobs.spark_reflection import case_kept, elements, field

# Formats of files that Spark brings; the others of this shape (Delta, Iceberg) keep their own logs.
FILES = FILE_FORMATS - {"file"} | {"binaryfile"}
# Their schema is fixed, so none has to be declared.
FIXED_SCHEMA = frozenset({"text", "binaryfile"})
# Built without a look at the source [run]: the broker is first asked when the query starts. A
# batch read of Kafka asks it while the plan is made: an empty table stands for that one.
NOT_REACHED = frozenset({"kafka", "rate", "rate-micro-batch", "rate-v2", "socket", "pulsar"})

KAFKA_ROWS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp,"
    " timestampType int"
)
KAFKA_HEADERS = ", headers array<struct<key: string, value: binary>>"
KAFKA_TOPICS = ("subscribe", "subscribepattern", "assign")

_TERMINALS = frozenset({"load", "table", "changes", "jdbc"}) | FILES
READERS = (DataFrameReader, DataStreamReader)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class EmptyFolders:
    """Gives each path an empty folder of its own, and maps the folder to the path."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: dict[str, str] = {}

    def instead_of(self, path: str) -> str:
        """Return the empty folder that stands for `path`; the same one each time."""
        for folder, known in self._paths.items():
            if known == path:
                return folder
        made = self._root / f"unread-{len(self._paths)}-"
        made.mkdir(parents=True)
        self._paths[str(made)] = path
        return str(made)

    def restored(self, text: str) -> str:
        """Return `text` with the paths that the function named in place of the empty folders."""
        for folder, path in self._paths.items():
            qualified = path if _URI.match(path) else f"file:{path}"
            text = text.replace(f"file:{folder}", qualified).replace(folder, path)
        return text


class GuardedReader:
    """Wraps the Java object of a `DataStreamReader` and answers where a source would be reached."""

    def __init__(self, reader: Any, session: Any, folders: EmptyFolders) -> None:
        self._reader = reader
        self._session = session
        self._folders = folders

    def __getattr__(self, name: str) -> Any:
        if name not in _TERMINALS:
            return getattr(self._reader, name)
        return lambda *args: self._build(name, *args)

    def _build(self, method: str, *args: Any) -> Any:
        if method in ("table", "changes"):
            return getattr(self._reader, method)(*args)
        kind = method if method != "load" else str(field(self._reader, "source")).lower()
        if kind in FILES and not is_data(args):
            return self._build_files(method, kind, *args)
        if kind == "kafka" and not self._is_streaming():
            return self._build_kafka_table()
        if kind in NOT_REACHED or kind in FILES:
            return getattr(self._reader, method)(*args)
        return self._build_other(method, kind, *args)

    def _build_files(self, method: str, kind: str, *args: Any) -> Any:
        paths = paths_of(args) or paths_of((case_kept(self._options()).get("path"),))
        if kind not in FIXED_SCHEMA and not self._has_schema():
            raise CaptureError(_needs_schema(kind, ", ".join(paths)))
        folders = [self._folders.instead_of(path) for path in paths]
        if not args:
            if folders:
                self._reader = self._reader.option("path", folders[0])
            return getattr(self._reader, method)()
        if isinstance(args[0], str):
            return getattr(self._reader, method)(folders[0])
        seq = self._session._jvm.PythonUtils.toSeq(folders)
        return getattr(self._reader, method)(seq)

    def _build_kafka_table(self) -> Any:
        """Return an empty table with Kafka's columns, at an address that says which topics."""
        options = {k.lower(): v for k, v in case_kept(self._options()).items()}
        topics = next((str(options[k]) for k in KAFKA_TOPICS if k in options), "")
        headers = str(options.get("includeheaders", "")).lower() == "true"
        schema = KAFKA_ROWS + (KAFKA_HEADERS if headers else "")
        folder = self._folders.instead_of(f"kafka:{topics}")
        return self._session._jsparkSession.read().schema(schema).parquet(folder)

    def _is_streaming(self) -> bool:
        return "DataStreamReader" in str(self._reader.getClass().getName())

    def _build_other(self, method: str, kind: str, *args: Any) -> Any:
        """Batch: an empty table of the declared schema. Streaming: the format is trusted with it.

        A data source that was registered in Python is one too; its schema comes from its code.
        """
        if method == "load" and self._is_python_source(kind):
            return self._reader.load(*args)
        if method == "jdbc" or not self._has_schema():
            paths = paths_of(args) or paths_of((case_kept(self._options()).get("path"),))
            raise CaptureError(_needs_schema(kind, ", ".join(paths[:1])))
        if self._is_streaming():
            return self._reader.load(*args)
        schema = field(self._reader, "userSpecifiedSchema").get()
        empty = self._session._jvm.java.util.ArrayList()
        return self._session._jsparkSession.createDataFrame(empty, schema)

    def _is_python_source(self, kind: str) -> bool:
        state = self._session._jsparkSession.sessionState()
        return bool(state.dataSourceManager().dataSourceExists(kind))

    def _has_schema(self) -> bool:
        return bool(field(self._reader, "userSpecifiedSchema").isDefined())

    def _options(self) -> Any:
        return field(self._reader, "extraOptions")


def guard_readers(folders: EmptyFolders) -> None:
    """Wrap every `spark.read` and `spark.readStream` of this process in a `GuardedReader`."""
    wrap_readers(lambda reader, spark: GuardedReader(reader, spark, folders))


def wrap_readers(wrap: Callable[[Any, Any], Any], kinds: Sequence[Any] = READERS) -> None:
    """Make PySpark call what `wrap(java_reader, session)` returns, not Spark's Java object."""
    for kind in kinds:
        kind._jreader = property(
            lambda self: wrap(self.__dict__["_wrapped"], self._spark),
            lambda self, java: self.__dict__.__setitem__("_wrapped", java),
        )


def is_data(args: tuple[Any, ...]) -> bool:
    """True if `args` of a `spark.read` call are the rows (an RDD or a Dataset of strings)."""
    return bool(args) and not isinstance(args[0], str) and not hasattr(args[0], "mkString")


def paths_of(args: tuple[Any, ...]) -> list[str]:
    """Return the paths among `args` of a `spark.read` call, one or several."""
    if not args or args[0] is None:
        return []
    return [args[0]] if isinstance(args[0], str) else [str(path) for path in elements(args[0])]


def _needs_schema(kind: str, location: str) -> str:
    named = f"{kind} source {location}".rstrip()
    return (
        f"the {named} infers its schema, but Headgate doesn't read sources in captures, in twin "
        "runs and in rehearsals with --batch none: set the schema with .schema()"
    )
