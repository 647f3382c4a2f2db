"""Read Spark's event log: its application, every run of every streaming query, their plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headgate.parse.spark.event_log.events import KINDS, Event, JobStart, decode
from headgate.parse.spark.event_log.gather import Application, Gatherer, Keep
from headgate.parse.spark.event_log.lines import kind_of
from headgate.parse.spark.event_log.runs import QueryRun

MOST_REPORTS = 20_000
_NO_EVENT = "not an event"
_NAMES_QUERY = b'"sql.streaming.queryId"'


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog:
    """What one log says; `runs` are in the order of their first event.

    A run's `application` is an index into `applications`. What can't be read is in `warnings`.
    """

    path: str
    applications: tuple[Application, ...] = ()
    runs: tuple[QueryRun, ...] = ()
    events: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unread:
    path: str
    line: int
    reason: str


class EventLogReader:
    """Reads one log from one or several files; `keep` says of which queries to keep progress.

    Memory holds the newest report and the distinct plans of each run, and of the queries asked
    for the newest `most` reports a run.
    """

    def __init__(self, path: str, keep: Keep | None = None, most: int = MOST_REPORTS) -> None:
        self._path = path
        self._gatherer = Gatherer(keep, most)
        self._first: _Unread | None = None
        self._cut: list[_Unread] = []
        self._unread = 0
        self._events = 0
        self._lines = 0

    def read(self, lines: Iterable[bytes], path: str) -> None:
        """Read the lines of one file; what can't be read is counted, never raised."""
        number, line = 0, b""
        problem: str | None = None
        kind: bytes | None = None
        for line in lines:
            if problem is not None:
                self._miss(_Unread(path, number, problem))
                problem = None
            number += 1
            kind = kind_of(line)
            event = KINDS.get(kind) if kind is not None else None
            if event is not None:
                problem = self._take(line, event)
            elif kind is not None:
                self._events += 1
            elif line.strip():
                # Only the first reason is shown, and the last line's.
                problem = (self._first is None and _problem(line)) or _NO_EVENT
        if problem is None and line.strip() and (problem := _problem(line)):
            self._events -= 1
        self._lines = number
        if problem is _NO_EVENT:
            problem = _problem(line) or problem
        if problem is not None:
            self._cut.append(_Unread(path, number, problem))

    def broken_off(self, path: str, reason: str) -> None:
        """Note that the file read last could not be unpacked to its end."""
        self._cut = [c for c in self._cut if c.path != path]
        self._cut.append(_Unread(path, self._lines, reason))

    def _take(self, line: bytes, event: type[Event]) -> str | None:
        """Take one event; return what is wrong with it."""
        if event is JobStart and not (self._gatherer.wants_jobs and _NAMES_QUERY in line):
            self._events += 1
            return None
        try:
            self._gatherer.take(decode(line, event))
        except (ValueError, RecursionError) as error:
            return str(error)
        self._events += 1
        return None

    def _miss(self, unread: _Unread) -> None:
        self._unread += 1
        self._first = self._first or unread

    def result(self) -> EventLog:
        """Return everything that was readable."""
        applications, runs, warnings = self._gatherer.result()
        return EventLog(
            path=self._path,
            applications=applications,
            runs=runs,
            events=self._events,
            warnings=(*self._unreadable(), *(f"{self._path} {w}" for w in warnings)),
        )

    def _unreadable(self) -> list[str]:
        """Say in one sentence a kind what could not be read, and where."""
        out = []
        if self._first is not None:
            at = self._first
            many = f"{self._unread} lines" if self._unread > 1 else "1 line"
            out.append(
                f"{self._path}: {many} can't be read as events (first: {at.path}:{at.line}, "
                f"{at.reason})"
            )
        for at in self._cut:
            out.append(
                f"{at.path}:{at.line}: the event log ends early at this line ({at.reason}). "
                "Headgate read only the earlier lines"
            )
        return out


def _problem(line: bytes) -> str | None:
    """Say what is wrong with a line whose event is not read."""
    try:
        decode(line, Event)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None
