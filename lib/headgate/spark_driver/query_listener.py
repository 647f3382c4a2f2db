"""Listen to a session's queries: each event becomes a record at once, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql.streaming import StreamingQueryListener

from headgate.spark_driver.records import Kind, Record, now

# A Java stack trace may go on for ever.
_LONGEST = 20_000
Take = Callable[[Record], None]
Trouble = Callable[[str, Exception], None]


class _Notes:
    """Passes what an event makes; no exception leaves it: Spark would log it at each event."""

    def __init__(self, take: Take, trouble: Trouble) -> None:
        self._take = take
        self._trouble = trouble

    def _noted(self, made: Callable[[], Record]) -> None:
        try:
            self._take(made())
        except Exception as error:
            self._trouble("an event of a query could not be recorded", error)


class Listener(_Notes, StreamingQueryListener):  # type: ignore[misc]
    """What Spark Connect calls, with Python's events; in a classic session the JVM calls `Java`."""

    @property
    def _jlistener(self) -> Any:
        """The object that a classic session adds and removes."""
        if not hasattr(self, "_jlistenerobj"):
            from pyspark import SparkContext

            wrapper = SparkContext._jvm.PythonStreamingQueryListenerWrapper
            self._jlistenerobj = wrapper(JvmListener(self._take, self._trouble))
        return self._jlistenerobj

    def onQueryStarted(self, event: Any) -> None:
        """Note a start."""
        self._noted(lambda: _started(str(event.id), str(event.runId), event.name, event.timestamp))

    def onQueryProgress(self, event: Any) -> None:
        """Note a progress report."""
        self._noted(lambda: _progress(event.progress.json))

    def onQueryIdle(self, event: Any) -> None:
        """Note that there was nothing to do."""
        body = {"timestamp": event.timestamp}
        self._noted(lambda: Record(Kind.IDLE, str(event.id), str(event.runId), now(), body))

    def onQueryTerminated(self, event: Any) -> None:
        """Note an end, with what ended it."""
        said = (event.exception, getattr(event, "errorClassOnException", None))
        self._noted(lambda: _terminated(str(event.id), str(event.runId), *said))


class JvmListener(_Notes):
    """What the JVM calls: PySpark's own listener would take a report apart in dozens of calls."""

    def onQueryStarted(self, event: Any) -> None:
        """Note a start; `start()` waits for this."""
        self._noted(lambda: _started(*_ids(event), event.name(), event.timestamp()))

    def onQueryProgress(self, event: Any) -> None:
        """Note a progress report."""
        self._noted(lambda: _progress(event.progress().json()))

    def onQueryIdle(self, event: Any) -> None:
        """Note that there was nothing to do."""
        body = {"timestamp": event.timestamp()}
        self._noted(lambda: Record(Kind.IDLE, *_ids(event), now(), body))

    def onQueryTerminated(self, event: Any) -> None:
        """Note an end, with what ended it."""
        said = (_held(event.exception()), _held(event.errorClassOnException()))
        self._noted(lambda: _terminated(*_ids(event), *said))

    class Java:
        """Py4J's word for the interface that the JVM sees."""

        implements = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]  # noqa: RUF012


def _ids(event: Any) -> tuple[str, str]:
    return str(event.id().toString()), str(event.runId().toString())


def _held(option: Any) -> Any:
    return option.get() if option.isDefined() else None


def _started(query: str, run: str, name: str | None, at: str) -> Record:
    return Record(Kind.STARTED, query, run, at, {"name": name or None})


def _progress(text: str) -> Record:
    report = json.loads(text)
    ids = str(report["id"]), str(report["runId"])
    return Record(Kind.PROGRESS, *ids, now(), {"progress": report})


def _terminated(query: str, run: str, exception: str | None, error_class: str | None) -> Record:
    said = str(exception)[:_LONGEST] if exception is not None else None
    body = {"exception": said, "errorClass": error_class}
    return Record(Kind.TERMINATED, query, run, now(), body)
