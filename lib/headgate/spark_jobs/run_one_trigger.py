"""Start a query, let it do what it does at its first trigger, and stop it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from headgate.spark_jobs.engine_error import java_error

# Batches start at once and then at multiples of this: the next one is in 33,000 years.
_FAR_MS = 10**15
_POLL_S = 0.05


class StillRunningError(Exception):
    """The first trigger took longer than the rehearsal may; the message is what it was doing."""


@dataclass(frozen=True, slots=True)
class Triggered:
    """What became of one start: the engine's error, or its progress (none: nothing to do)."""

    error: Any = None
    at_start: bool = False
    progress: tuple[dict[str, Any], ...] = ()


def first_trigger(writer: Any, checkpoint: str, *, deadline: float) -> Triggered:
    """Start on `checkpoint` and wait for the end of the first trigger; the query is stopped then.

    `deadline` is a time of `time.monotonic`. A continuous query is stopped after its first epoch.
    """
    java = writer._jwrite
    java.option("checkpointLocation", checkpoint)
    if not is_continuous(writer):
        java.trigger(
            writer._spark._jvm.org.apache.spark.sql.streaming.Trigger.ProcessingTime(_FAR_MS)
        )
    try:
        query = java.start()
    except Exception as error:
        if java_error(error) is None:
            raise
        return Triggered(error=error, at_start=True)
    try:
        while query.isActive() and not len(query.recentProgress()):
            if time.monotonic() > deadline:
                raise StillRunningError(str(query.status().message()))
            time.sleep(_POLL_S)
        return _ended(query)
    finally:
        query.stop()


def is_continuous(writer: Any) -> bool:
    """Whether the query processes continuously, in epochs and not in batches."""
    from headgate.spark_jobs.spark_reflection import field, kind_of

    return "Continuous" in kind_of(field(writer._jwrite, "trigger"))


def _ended(query: Any) -> Triggered:
    failed = query.exception()
    if failed.isDefined():
        return Triggered(error=failed.get())
    return Triggered(progress=tuple(json.loads(p.json()) for p in query.recentProgress()))
