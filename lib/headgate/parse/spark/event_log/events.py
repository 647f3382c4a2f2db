"""The events that matter, with the fields that are read; everything else in them is skipped."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec


class Event(msgspec.Struct):
    """Any event: decoding it checks that the line is JSON to its end."""


class LogStart(Event, rename={"version": "Spark Version"}):
    """The first line: which Spark wrote the log."""

    version: str | None = None


class ApplicationStart(Event, rename={"id": "App ID", "name": "App Name", "at": "Timestamp"}):
    """An application's start; `at` is in milliseconds since 1970."""

    id: str | None = None
    name: str | None = None
    at: int | None = None


class ApplicationEnd(Event, rename={"at": "Timestamp"}):
    """An application's regular end; one that was killed has none."""

    at: int | None = None


class EnvironmentUpdate(Event, rename={"settings": "Spark Properties"}):
    """The application's settings, as far as Spark itself did not mask them."""

    settings: dict[str, Any] = {}


class ExecutionStart(
    Event,
    rename={
        "id": "executionId",
        "root": "rootExecutionId",
        "plan": "physicalPlanDescription",
        "settings": "modifiedConfigs",
        "at": "time",
    },
):
    """`SparkListenerSQLExecutionStart`; a batch is one, and what a foreachBatch runs are more.

    `root` (since Spark 3.4) is the execution within which this one runs. `settings` are those of
    the query's session that differ from the application's.
    """

    id: int
    description: str = ""
    plan: msgspec.Raw = msgspec.Raw(b'""')
    root: int | None = None
    settings: msgspec.Raw = msgspec.Raw(b"{}")
    at: int | None = None


class ExecutionUpdate(Event, rename={"id": "executionId", "plan": "physicalPlanDescription"}):
    """`SparkListenerSQLAdaptiveExecutionUpdate`: the plan as it was adapted while it ran."""

    id: int
    plan: msgspec.Raw


class ExecutionEnd(Event, rename={"id": "executionId", "at": "time"}):
    """The end of one execution."""

    id: int
    at: int | None = None


class JobStart(Event, rename={"properties": "Properties"}):
    """A job, read only where an execution's description doesn't name its query."""

    properties: dict[str, Any] | None = None


class QueryStarted(Event, rename={"run_id": "runId", "at": "timestamp"}):
    """A query's start, or its restart under a new run id; `at` is ISO 8601 in UTC."""

    id: str
    run_id: str
    name: str | None = None
    at: str | None = None


class QueryProgress(Event):
    """One progress report; `progress` is decoded only when needed."""

    progress: msgspec.Raw


class Reported(Event, rename={"run_id": "runId", "batch": "batchId", "at": "timestamp"}):
    """Which batch of which run a report is of."""

    id: str
    run_id: str
    batch: int
    at: str | None = None
    name: str | None = None


class QueryIdle(Event, rename={"run_id": "runId", "at": "timestamp"}):
    """A query that waits for data (since Spark 3.5)."""

    id: str
    run_id: str
    at: str | None = None


class QueryTerminated(Event, rename={"run_id": "runId", "error_class": "errorClassOnException"}):
    """A run's end, with the exception where it failed."""

    id: str
    run_id: str
    exception: str | None = None
    error_class: str | None = None


_SQL = b"org.apache.spark.sql.execution.ui.SparkListener"
_QUERY = b"org.apache.spark.sql.streaming.StreamingQueryListener$Query"
KINDS: dict[bytes, type[Event]] = {
    b"SparkListenerLogStart": LogStart,
    b"SparkListenerApplicationStart": ApplicationStart,
    b"SparkListenerApplicationEnd": ApplicationEnd,
    b"SparkListenerEnvironmentUpdate": EnvironmentUpdate,
    b"SparkListenerJobStart": JobStart,
    _SQL + b"SQLExecutionStart": ExecutionStart,
    _SQL + b"SQLAdaptiveExecutionUpdate": ExecutionUpdate,
    _SQL + b"SQLExecutionEnd": ExecutionEnd,
    _QUERY + b"StartedEvent": QueryStarted,
    _QUERY + b"ProgressEvent": QueryProgress,
    _QUERY + b"IdleEvent": QueryIdle,
    _QUERY + b"TerminatedEvent": QueryTerminated,
}
_ALL: tuple[type[Event], ...] = (*KINDS.values(), Reported, Event)
_DECODERS: dict[type[Event], msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in _ALL
}
Kind = TypeVar("Kind", bound=Event)


def decode(line: bytes | msgspec.Raw, kind: type[Kind]) -> Kind:
    """Return the event; ValueError if the line isn't JSON or has another shape.

    Bytes that aren't UTF-8 are replaced, as Python's `replace` does.
    """
    try:
        found: Kind = _DECODERS[kind].decode(line)
    except UnicodeDecodeError:
        return _again(bytes(line), kind)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return found


def _again(line: bytes, kind: type[Kind]) -> Kind:
    text = line.decode("utf-8", "replace").encode()
    try:
        found: Kind = _DECODERS[kind].decode(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return found
