"""Let a function read generated rows: each of its sources becomes a folder of JSON files.

Nothing is asked of a source: its columns come from the declared schema, or are fixed by its format.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs import spark_reflection
from headgate.spark_jobs.block_sources import (
    FILES,
    KAFKA_HEADERS,
    KAFKA_ROWS,
    KAFKA_TOPICS,
    is_data,
    paths_of,
    wrap_readers,
)

_TERMINALS = frozenset({"load", "table", "changes", "jdbc"}) | FILES
_RATES = frozenset({"rate", "rate-micro-batch", "rate-v2"})
_FIXED = {"text": "value string"} | dict.fromkeys(_RATES, "timestamp timestamp, value bigint")
_MAPS = "org.apache.spark.sql.catalyst.util.CaseInsensitiveMap"


@dataclass(frozen=True, slots=True)
class ReplacedSource:
    """A source or a table, and the folder that is read instead of `location`."""

    kind: str
    location: str
    is_streaming: bool
    folder: Path
    name: str | None = None


@dataclass
class GeneratedFolders:
    """The folders of generated rows below `root`; two versions share that of one location.

    Sources that are not files share the folder of their name, or else that of the first, second,
    ... location. So another topic has the same folder: Spark would stop at another one.
    """

    root: Path
    sources: dict[str, ReplacedSource] = field(default_factory=dict)
    _locations: dict[str, list[str]] = field(default_factory=dict)

    def instead_of(
        self, kind: str, location: str, *, is_streaming: bool, name: str | None = None
    ) -> Path:
        """Return the folder for a source; it exists, and is the same one each time."""
        mark = "stream" if is_streaming else "table"
        known = location
        if is_streaming and kind not in FILES:
            places = self._locations.setdefault(kind, [])
            places += [] if name or location in places else [location]
            known = f"{kind} named {name}" if name else f"{kind} {places.index(location)}"
        digest = hashlib.sha256(f"{mark} {known}".encode()).hexdigest()[:12]
        folder = self.root / f"{mark}-{digest}"
        folder.mkdir(parents=True, exist_ok=True)
        self.sources[folder.name] = ReplacedSource(kind, location, is_streaming, folder, name)
        return folder


class ReplacedReader:
    """Wraps a `DataStreamReader`'s Java object; at the read, generated rows replace the source."""

    def __init__(self, reader: Any, session: Any, folders: GeneratedFolders) -> None:
        self._reader = reader
        self._session = session
        self._folders = folders

    def __getattr__(self, name: str) -> Any:
        if name not in _TERMINALS:
            return getattr(self._reader, name)
        return lambda *args: self._build(name, *args)

    def _build(self, method: str, *args: Any) -> Any:
        if method in ("table", "changes", "jdbc"):
            raise CaptureError(_no_table(str(args[0]) if args else method))
        if is_data(args):
            return getattr(self._reader, method)(*args)
        kind = method
        if method == "load":
            kind = str(spark_reflection.field(self._reader, "source")).lower()
        options = self._options()
        location = ",".join(paths_of(args)) or _location(options) or kind
        schema = self._schema(kind, location, options)
        is_streaming = self._is_streaming()
        name = spark_reflection.given_name(self._reader) if is_streaming else None
        folder = self._folders.instead_of(kind, location, is_streaming=is_streaming, name=name)
        self._forget_options()
        reader = self._reader.format("json").schema(schema)
        if is_streaming:
            reader = reader.option("maxFilesPerTrigger", "1")
        return reader.load(str(folder))

    def _schema(self, kind: str, location: str, options: dict[str, str]) -> Any:
        """Return the argument of `DataStreamReader.schema`; CaptureError if none is declared."""
        given = spark_reflection.field(self._reader, "userSpecifiedSchema")
        if given.isDefined():
            return given.get()
        if kind == "kafka":
            has_headers = options.get("includeheaders", "").lower() == "true"
            return KAFKA_ROWS + (KAFKA_HEADERS if has_headers else "")
        if kind in _FIXED:
            return _FIXED[kind]
        raise CaptureError(
            f"the schema of the {kind} source {location} isn't declared, and a twin run doesn't "
            "read sources: declare the schema with .schema()"
        )

    def _is_streaming(self) -> bool:
        return "DataStreamReader" in str(self._reader.getClass().getName())

    def _options(self) -> dict[str, str]:
        given = spark_reflection.case_kept(spark_reflection.field(self._reader, "extraOptions"))
        return {k.lower(): v for k, v in given.items()}

    def _forget_options(self) -> None:
        """Drop all options: they say how the real source is read, not the generated rows."""
        jvm = self._session._jvm
        nothing = jvm.PythonUtils.toScalaMap(jvm.java.util.HashMap())
        empty = spark_reflection.companion(jvm, _MAPS).apply(nothing)
        spark_reflection.set_field(self._reader, "extraOptions", empty)


def replace_readers(folders: GeneratedFolders) -> None:
    """Wrap every `spark.read` and `spark.readStream` of this process in a `ReplacedReader`."""
    wrap_readers(lambda reader, spark: ReplacedReader(reader, spark, folders))


def _location(options: dict[str, str]) -> str:
    return next((options[k] for k in ("path", *KAFKA_TOPICS) if k in options), "")


def _no_table(name: str) -> str:
    return (
        f"{name} is a table, and a twin run has no access to a catalog or a database: in the "
        "function, read the table as files with a declared schema"
    )
