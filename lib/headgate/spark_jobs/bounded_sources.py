"""Let a function read its real sources, in small portions and without leaving a trace there.

Every `spark.readStream` gets a bound, and whatever would change the source is switched off: a file
source that removes or moves what it has read (`cleanSource`), a Kafka group that is the user's.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamReader

from headgate.errors import CaptureError
from headgate.spark_jobs import spark_reflection
from headgate.spark_jobs.block_sources import FILES, wrap_readers

# Nothing that reading these does can be seen by anybody else.
HARMLESS = FILES | {"kafka", "rate", "rate-micro-batch", "rate-v2", "delta", "iceberg"}
_TERMINALS = FILES | {"load", "table"}
_FILES_AT_ONCE = 10
_GROUP = "kafka.group.id"


@dataclass
class Bounds:
    """How much one batch may take; `allowed` are further formats that somebody vouches for.

    `unbounded` collects the formats that take no bound of ours.
    """

    records: int
    allowed: Collection[str] = ()
    unbounded: list[str] = field(default_factory=list)


class BoundedReader:
    """Wraps a `DataStreamReader`'s Java object; sets the bounds just before a source is made."""

    def __init__(self, reader: Any, bounds: Bounds) -> None:
        self._reader = reader
        self._bounds = bounds

    def __getattr__(self, name: str) -> Any:
        if name in _TERMINALS:
            self._bound(name)
        return getattr(self._reader, name)

    def _bound(self, method: str) -> None:
        source = (
            "table" if method == "table" else str(spark_reflection.field(self._reader, "source"))
        )
        kind = (source if method == "load" else method).lower()
        if kind not in HARMLESS and kind not in self._bounds.allowed:
            raise CaptureError(_unknown(kind))
        for name, value in _options(kind, self._given(), self._bounds.records).items():
            self._reader.option(name, value)
        if kind not in FILES and kind not in ("kafka", "delta"):
            self._bounds.unbounded.append(kind)

    def _given(self) -> dict[str, str]:
        given = spark_reflection.case_kept(spark_reflection.field(self._reader, "extraOptions"))
        return {k.lower(): str(v) for k, v in given.items()}


def bound_readers(bounds: Bounds) -> None:
    """Wrap every `spark.readStream` of this process in a `BoundedReader`."""
    wrap_readers(lambda reader, _: BoundedReader(reader, bounds), [DataStreamReader])


def _options(kind: str, given: dict[str, str], records: int) -> dict[str, str]:
    """Return the options to set; smaller bounds of the function's own stay."""
    if kind == "kafka":
        own = {_GROUP: f"headgate-rehearsal-{uuid.uuid4().hex[:12]}"} if _GROUP in given else {}
        least = {"minOffsetsPerTrigger": "1"} if "minoffsetspertrigger" in given else {}
        return {"maxOffsetsPerTrigger": _less(given, "maxoffsetspertrigger", records)} | own | least
    if kind in FILES:
        bytes_only = "maxbytespertrigger" in given
        files = {"maxFilesPerTrigger": _less(given, "maxfilespertrigger", _FILES_AT_ONCE)}
        return {"cleanSource": "off"} | ({} if bytes_only else files)
    if kind == "delta":
        return {"maxFilesPerTrigger": _less(given, "maxfilespertrigger", _FILES_AT_ONCE)}
    return {}


def _less(given: dict[str, str], name: str, bound: int) -> str:
    value = given.get(name, "")
    return str(min(int(value), bound)) if value.isdecimal() else str(bound)


def _unknown(kind: str) -> str:
    return (
        f"reading the source {kind} may acknowledge or delete its records: use --batch none, or"
        f" allow the reading with --allow-source {kind}"
    )
