"""Run one version on one checkpoint over the data that are there, and say what came out."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from headgate.spark_jobs.block_start import Unstarted
from recorder.case import Place, Version

_LONGEST = 90
_FOREACH = "FOREACH_BATCH_USER_FUNCTION_ERROR"
_WRAPPERS = {"STREAM_FAILED", _FOREACH}


@dataclass
class Ran:
    """What one run did. `rows` are the output's, as JSON texts, batch by batch."""

    rows: list[tuple[int, str]] = field(default_factory=list)
    error: str | None = None
    exception: str | None = None
    message: str | None = None
    at_start: bool = False
    plan: str = ""
    reports: list[Any] = field(default_factory=list)
    seen: list[str] | None = None

    @property
    def output(self) -> list[str]:
        """The rows that came out, sorted; of another sink, all that a reader sees."""
        return sorted(row for _, row in self.rows) if self.seen is None else sorted(self.seen)


class Collector:
    """A foreachBatch that keeps the rows of every batch, and the plan of the last with data."""

    def __init__(self, ran: Ran, *, explains: bool = False) -> None:
        self.ran, self.explains = ran, explains
        self.caught: Exception | None = None
        self.started: Future[Any] = Future()

    def __call__(self, df: Any, batch: int) -> None:
        """Keep one batch; a failure is remembered as Spark raised it."""
        try:
            rows = texts(df)
        except Exception as error:
            self.caught = error
            raise
        if self.explains:
            self._explain()
        self.ran.rows += [(batch, row) for row in rows]

    def _explain(self) -> None:
        """Keep the plan of the running batch; of one without data only for want of another."""
        plan = str(self.started.result(20)._jsq.explainInternal(True))
        if not self.ran.plan or "LocalTableScan <empty>" not in plan:
            self.ran.plan = plan


def texts(df: Any) -> list[str]:
    """Return the rows of a DataFrame as JSON."""
    rows = (row.asDict(recursive=True) for row in df.collect())
    return [json.dumps(row, default=str, separators=(",", ":")) for row in rows]


def writer_of(made: Any, version: Version, keep: Any) -> tuple[Any, str | None]:
    """Return the writer (and the table that `toTable` would name) of what `build` gave."""
    writer, table = made if isinstance(made, tuple) else (made, None)
    if not isinstance(writer, DataStreamWriter):
        writer = writer.writeStream.foreachBatch(keep)
    return writer.outputMode(version.mode).trigger(**version.trigger), table


def build(version: Version, place: Place, keep: Any) -> Unstarted:
    """Return the query, not started."""
    return Unstarted(*writer_of(version.build(place), version, keep))


def run(version: Version, place: Place, checkpoint: Path, *, explains: bool = False) -> Ran:
    """Run a version until its sources are read; what it raises is part of what came out."""
    ran = Ran()
    keep = Collector(ran, explains=explains)
    try:
        made = build(version, place, keep)
        writer = made.writer.option("checkpointLocation", str(checkpoint))
        query = writer.toTable(made.table) if made.table else writer.start()
    except Exception as error:
        note(ran, error)
        ran.at_start = True
        return ran
    keep.started.set_result(query)
    try:
        query.awaitTermination(_LONGEST)
        if query.isActive:
            ran.error = ran.message = "DID NOT END"
    except Exception as error:
        note(ran, error, keep.caught)
    finally:
        if explains and not ran.plan:
            ran.plan = str(query._jsq.explainInternal(True))
        ran.reports = list(query.recentProgress)
        query.stop()
    return ran


def seen(reader: Callable[[Place], Any], place: Place) -> list[str]:
    """Return the rows that a reader of the output sees, in its order, or why it sees none."""
    try:
        return texts(reader(place))
    except Exception as error:
        return ["UNREADABLE " + str(error).split("\n")[0][:200]]


def note(ran: Ran, error: Exception, inner: Exception | None = None) -> None:
    """Put into `ran` what a run raised; `inner` is what a foreachBatch raised of itself."""
    condition, name, message = _cause(error)
    if inner is not None and condition in (None, _FOREACH):
        condition, name, message = _cause(inner)
    ran.error, ran.exception, ran.message = condition or name, name, message


def _cause(error: Exception) -> tuple[str | None, str, str]:
    """Return the first condition below the wrappers, the class that bears it, and its message.

    Without any condition: the class and the message of the innermost cause.
    """
    java = _java(error)
    if java is None:
        return None, type(error).__name__, str(error)[:400]
    last = java
    while java is not None:
        condition = _condition(java)
        if condition and condition not in _WRAPPERS:
            return condition, _class(java), _message(java)
        last, java = java, java.getCause()
    return None, _class(last), _message(last)


def _message(java: Any) -> str:
    """Return an error's message; of a Python traceback what was raised."""
    said = str(java.getMessage())
    if "Traceback (most recent call last)" in said:
        lines = [line for line in said.splitlines() if line.strip()]
        said = next((ln for ln in reversed(lines) if not ln.strip().startswith("SQLSTATE")), said)
    return said[:400]


def _java(error: Exception) -> Any:
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def _condition(java: Any) -> str | None:
    try:
        return str(java.getCondition() or "") or None
    except Exception:  # not a Spark error
        return None


def _class(java: Any) -> str:
    return str(java.getClass().getName())
