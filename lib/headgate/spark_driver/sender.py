"""The one thread of a watch: completes records with plans, and writes them where they go."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.spark_driver.bounded_queue import Bounded
from headgate.spark_driver.destinations import Destination, WatchedRun
from headgate.spark_driver.records import LARGEST_TEXT, Kind, Record, line, now
from headgate.spark_driver.session import Session

_RARELY = 60.0
# An explain text takes the JVM milliseconds to make: at most one part in 500 goes into it.
_SHARE = 500.0
_NUMBERS = re.compile(r"\d+")
_IDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(slots=True)
class PlanTurns:
    """The turns of one run; times are of `time.monotonic`.

    A batch hides the sources that had no rows, so every new set of sources with rows is a reason
    to request the plan; otherwise it is requested once in a while.
    """

    seen: set[frozenset[int]] = field(default_factory=set)
    wanted: bool = False
    earliest: float = 0.0
    again: float = 0.0
    last: str = ""

    def is_due(self, report: Mapping[str, Any], now: float) -> bool:
        """Return whether to ask after this report."""
        fed = frozenset(i for i, s in enumerate(report.get("sources") or ()) if _rows(s))
        if fed and fed not in self.seen:
            self.seen.add(fed)
            self.wanted = True
        return now >= self.earliest and (self.wanted or (bool(fed) and now >= self.again))

    def asked(self, took: float, now: float) -> None:
        """Note what the answer cost."""
        self.wanted = False
        self.earliest = now + took * _SHARE
        self.again = now + max(_RARELY, took * _SHARE)

    def is_new(self, text: str) -> bool:
        """Return whether a plan differs from the last one in more than numbers and ids."""
        mark = hashlib.sha256(_NUMBERS.sub("", _IDS.sub("", text)).encode()).hexdigest()
        is_new, self.last = mark != self.last, mark
        return is_new


def _rows(source: Any) -> bool:
    return isinstance(source, Mapping) and bool(source.get("numInputRows"))


ALIVE_SECONDS = 30.0
"""After this number of seconds without a record, the watch reports that the run is alive."""
_HEAD = frozenset((Kind.STARTED, Kind.QUERY, Kind.PLAN))
_NO_END = "Spark did not report the query's end, but the query was no longer active in the session"
_PATIENCE = (1.0, 2.0, 5.0, 10.0, 30.0)
Trouble = Callable[[str, Exception], None]


@dataclass(slots=True)
class _Run:
    watched: WatchedRun
    turns: PlanTurns = field(default_factory=PlanTurns)
    heads: dict[Kind, bytes] = field(default_factory=dict)
    last: float = 0.0
    asked_facts: bool = False


class Sender:
    """Takes records from `records` and writes them to `destination` until it is closed.

    It requests plans from the session, in its own thread; nothing that fails here reaches the
    query, and `trouble` is called with it.
    """

    def __init__(
        self,
        session: Session,
        destination: Callable[[], Destination],
        records: Bounded,
        trouble: Trouble,
    ) -> None:
        self._session = session
        self._make_destination = destination
        self._destination: Destination | None = None
        self._records = records
        self._trouble = trouble
        self._runs: dict[str, _Run] = {}
        self._about: dict[str, Any] | None = None
        self._closing = threading.Event()
        self._parting, self._over = "", False
        self._deadline = float("inf")
        self._failures = 0
        self._thread = threading.Thread(target=self._serve, name="headgate-watch", daemon=True)

    def start(self) -> None:
        """Begin, with the queries that run already."""
        self._thread.start()

    def close(self, parting: str, seconds: float, *, over: bool = False) -> None:
        """Write what is left and end, within that time.

        `parting` says why in the last record of each run, `over` that the queries end with it.
        """
        self._parting, self._over = parting, over
        self._deadline = time.monotonic() + seconds
        self._closing.set()
        self._records.wake()
        self._thread.join(seconds)

    def _serve(self) -> None:
        self._tried("the running queries could not be listed", self._join_running)
        while not self._closing.is_set():
            self._turn(self._records.take(ALIVE_SECONDS / 3))
            if self._failures:
                self._closing.wait(_PATIENCE[min(self._failures, len(_PATIENCE)) - 1])
        self._turn(self._records.take(0), last=True)
        if self._destination is not None:
            destination = self._destination
            left = self._deadline - time.monotonic()
            self._tried(
                "the last reports about the queries could not be written",
                lambda: destination.close(left),
            )

    def _join_running(self) -> None:
        for query in self._session.active():
            body = {"name": query.name, "joined": True}
            self._records.put(Record(Kind.STARTED, query.query, query.run, now(), body))

    def _turn(self, taken: list[Record], *, last: bool = False) -> None:
        """Complete and write; what can't be written returns to the queue and waits its turn."""
        records = [r for record in taken for r in self._completed(record)]
        records += self._partings() if last else self._signs_of_life(records)
        while records:
            run = records[0].run
            group = [r for r in records if r.run == run]
            if not self._written(run, group):
                self._records.return_to_queue(records)
                return
            records = [r for r in records if r.run != run]

    def _completed(self, record: Record) -> list[Record]:
        """Return the record, after those that must precede it, and before the plan it calls for."""
        out: list[Record] = []
        run = self._runs.get(record.run)
        if run is None:
            run = self._runs[record.run] = _Run(WatchedRun(record.query, record.run, now()))
            if record.kind is not Kind.STARTED:
                out.append(self._heard_late(record))
        if record.kind is Kind.STARTED and "spark" not in record.body:
            if Kind.STARTED in run.heads:
                return []
            record = self._introduced(record)
        out.append(record)
        if record.kind is not Kind.TERMINATED and not self._closing.is_set():
            out += self._facts(run, record)
            out += self._plans(run, record) if record.kind is Kind.PROGRESS else []
        return out

    def _heard_late(self, record: Record) -> Record:
        name = (record.body.get("progress") or {}).get("name")
        body = {"name": name, "joined": True}
        return self._introduced(Record(Kind.STARTED, record.query, record.run, record.at, body))

    def _introduced(self, record: Record) -> Record:
        if self._about is None:
            said = self._tried(
                "the session's version and settings could not be read", self._session.about
            )
            self._about = {"spark": None} if said is None else said
        return Record(
            record.kind, record.query, record.run, record.at, {**record.body, **self._about}
        )

    def _plans(self, run: _Run, record: Record) -> list[Record]:
        report = record.body["progress"]
        begun = time.monotonic()
        if not run.turns.is_due(report, begun):
            return []
        text = self._asked(self._session.plan, record)
        run.turns.asked(time.monotonic() - begun, time.monotonic())
        if not text or len(text) > LARGEST_TEXT or not run.turns.is_new(text):
            return []
        body = {"batch": report.get("batchId"), "text": text}
        return [Record(Kind.PLAN, record.query, record.run, now(), body)]

    def _facts(self, run: _Run, record: Record) -> list[Record]:
        """Return what the session knows of the query, once a run."""
        if run.asked_facts:
            return []
        run.asked_facts = True
        facts = self._asked(self._session.facts, record)
        return [Record(Kind.QUERY, record.query, record.run, now(), facts)] if facts else []

    def _asked(self, ask: Callable[[str], Any], record: Record) -> Any:
        return self._tried(
            "the query plan or the query's settings could not be read", lambda: ask(record.query)
        )

    def _signs_of_life(self, records: list[Record]) -> list[Record]:
        """Report of each run that was quiet for a while whether the session still has it."""
        at = time.monotonic()
        told = {r.run for r in records}
        quiet = {
            key: run.watched.query
            for key, run in self._runs.items()
            if key not in told and run.last and at - run.last >= ALIVE_SECONDS
        }
        if not quiet:
            return []
        found = self._tried("the running queries could not be listed", self._session.active)
        if found is None and not self._session.is_classic:
            return []  # A server that does not answer: neither alive nor over is known.
        active = {a.run for a in found or ()}
        return [
            Record(Kind.ALIVE, query, key, now(), {})
            if key in active
            else Record(Kind.CLOSED, query, key, now(), {"reason": _NO_END, "over": True})
            for key, query in quiet.items()
        ]

    def _partings(self) -> list[Record]:
        body = {"reason": self._parting, **({"over": True} if self._over else {})}
        return [
            Record(Kind.CLOSED, run.watched.query, key, now(), body)
            for key, run in self._runs.items()
        ]

    def _written(self, key: str, records: list[Record]) -> bool:
        run = self._runs[key]
        dropped = self._records.drops(key)
        lines = [line(r, dropped if i == 0 else 0) for i, r in enumerate(records)]
        try:
            if self._destination is None:
                self._destination = self._make_destination()
            self._destination.write(run.watched, lines)
            for lost, count in self._destination.lost().items():
                self._records.dropped(lost, count)
        except Exception as error:
            self._failures += 1
            self._records.dropped(key, dropped)
            self._trouble("reports about the queries could not be written", error)
            return False
        self._failures = 0
        self._noted(run, records, lines)
        return True

    def _noted(self, run: _Run, records: list[Record], lines: list[bytes]) -> None:
        run.last = time.monotonic()
        for record, data in zip(records, lines, strict=True):
            # Of the plans the longest: a batch without rows of a source shows less of the query.
            known = run.heads.get(record.kind, b"")
            if record.kind in _HEAD and (record.kind is not Kind.PLAN or len(data) >= len(known)):
                run.heads[record.kind] = data
            if record.kind in (Kind.TERMINATED, Kind.CLOSED):
                self._runs.pop(record.run, None)
        run.watched.head = [run.heads[k] for k in Kind if k in run.heads]
        if run.watched.run not in self._runs and self._destination is not None:
            destination = self._destination
            self._tried(
                "a file of the watch could not be closed", lambda: destination.end(run.watched)
            )

    def _tried(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            self._trouble(what, error)
            return None
