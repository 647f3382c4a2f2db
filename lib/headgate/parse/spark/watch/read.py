"""Read what `headgate.watch` wrote: runs as an event log has them, and how each run is now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from headgate.parse.spark.event_log.events import Reported, decode
from headgate.parse.spark.event_log.gather import Application, Keep
from headgate.parse.spark.event_log.read import MOST_REPORTS, EventLog
from headgate.parse.spark.event_log.runs import RunLog
from headgate.parse.spark.watch.driver_messages import EVENT as REQUEST
from headgate.parse.spark.watch.lines import WatchLine, decode_line
from headgate.text.numbers import plural
from headgate.text.secrets import mask, mask_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The state of a run in its newest record; times are ISO 8601 in UTC.

    `told_at` is the newest record's, `busy_at` the newest that was more than a sign of life.
    `ended` is the query's own end, `closed` the reason why the watch of it ended without one, and
    `over` says that the query has stopped by then.
    `answers` are what the driver said to requests, by nonce. `driver` is the process: host, pid,
    `begun`, boot, space (see `driver.session.this_process`).
    """

    query_id: str
    run_id: str
    name: str | None = None
    session: str | None = None
    started_at: str | None = None
    told_at: str | None = None
    busy_at: str | None = None
    batch: int | None = None
    ended: bool = False
    closed: str | None = None
    over: bool = False
    exception: str | None = None
    error_class: str | None = None
    driver: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What a folder or a topic of a watch holds; `lives` and `reported` are by run id.

    `log` has the form of an event log of the same runs. `reported` is what the session knew of a
    query: `capture` as in capture.json, `logical` as the plan's JSON.
    """

    log: EventLog
    lives: Mapping[str, Life]
    reported: Mapping[str, Mapping[str, Any]]

    def of_run(self, run_id: str, log: EventLog) -> Watched:
        """Return what belongs to one run, with a log of only that run."""
        lives = {k: v for k, v in self.lives.items() if k == run_id}
        reported = {k: v for k, v in self.reported.items() if k == run_id}
        return Watched(log=log, lives=lives, reported=reported)


@dataclass(slots=True)
class _Run:
    log: RunLog
    life: Life
    reported: dict[str, Any] = field(default_factory=dict)
    seen: set[tuple[int, str | None]] = field(default_factory=set)


class WatchReader:
    """Reads records from one or several files, in any order of the files.

    `keep` says of which queries (id, name) every report is kept, at most `most` a run. A line
    that is torn or foreign costs a warning, the last one of a file none: it is being written.
    """

    def __init__(self, path: str, keep: Keep | None = None, most: int = MOST_REPORTS) -> None:
        self._path = path
        self._keep = keep
        self._most = most
        self._runs: dict[str, _Run] = {}
        # The first stands for runs of which no record says who ran them.
        self._applications = [Application()]
        self._events = 0
        self._bad: list[str] = []
        self._unread = 0

    def read(self, lines: Iterable[bytes], path: str) -> None:
        """Read one file's lines, or one topic's messages."""
        problem: str | None = None
        for number, data in enumerate(lines, start=1):
            self._miss(problem)
            problem = None
            if not data.strip():
                continue
            try:
                self._take(decode_line(data))
                self._events += 1
            except ValueError as error:
                problem = f"{path}:{number} ({error})"
                if data.endswith(b"\n"):
                    self._miss(problem)
                    problem = None

    def result(self) -> Watched:
        """Return everything that was readable, runs in the order of their start."""
        runs = sorted(self._runs.values(), key=lambda r: r.life.started_at or r.life.told_at or "")
        log = EventLog(
            path=self._path,
            applications=tuple(self._applications),
            runs=tuple(r.log.result() for r in runs),
            events=self._events,
            warnings=tuple(self._warnings(runs)),
        )
        lives = {r.life.run_id: _with_log(r) for r in runs}
        return Watched(
            log=log, lives=lives, reported={r.life.run_id: r.reported for r in runs if r.reported}
        )

    def _miss(self, problem: str | None) -> None:
        if problem is not None:
            self._unread += 1
            self._bad = self._bad or [problem]

    def _warnings(self, runs: list[_Run]) -> Iterable[str]:
        for first in self._bad:
            many = f"{self._unread} lines" if self._unread > 1 else "1 line"
            yield f"{self._path}: {many} can't be read as headgate.watch records (first: {first})"
        for run in runs:
            if run.life.dropped:
                name = run.life.name or run.life.query_id
                lost = plural(run.life.dropped, "report")
                yield (
                    f"{self._path}: headgate.watch could not write {lost} of query {name} in time. "
                    "The query lost no data, but batches may be missing here"
                )

    def _take(self, line: WatchLine) -> None:
        if line.event == REQUEST:
            return  # Headgate's own word in a topic, none of the driver's.
        run = self._runs.get(line.run)
        if run is None:
            run = self._runs[line.run] = self._new(line)
        life, log = run.life, run.log
        reported_at = max(life.told_at or line.at, line.at)
        busy_at = life.busy_at
        if line.event != "alive":
            busy_at = max(busy_at or line.at, line.at)
        run.life = replace(
            life, told_at=reported_at, busy_at=busy_at, dropped=life.dropped + line.dropped
        )
        self._note(run, line)
        if line.event not in ("started", "query", "plan", "closed"):
            log.seen(line.at)

    def _note(self, run: _Run, line: WatchLine) -> None:
        """Keep what the line itself says."""
        match line.event:
            case "started":
                self._started(run, line)
            case "query":
                run.reported = _reported(line)
            case "plan":
                if line.text:
                    run.log.plans.add(max(line.batch or 0, 0), msgspec.json.encode(line.text))
            case "progress":
                self._progress(run, line)
            case "terminated":
                said = mask_text(line.exception) if line.exception else None
                run.log.failed(said, line.error_class)
            case "control" if line.nonce is not None:
                answer = mask_text(": ".join(filter(None, (line.answer, line.reason))))
                run.life = replace(run.life, answers={**run.life.answers, line.nonce: answer})
            case "closed":
                reason = line.reason or "the watch ended"
                run.life = replace(run.life, closed=reason, over=line.over)

    def _new(self, line: WatchLine) -> _Run:
        log = RunLog(line.id, line.run, 0, self._most)
        return _Run(log, Life(query_id=line.id, run_id=line.run, name=line.name))

    def _started(self, run: _Run, line: WatchLine) -> None:
        """Note who runs the query; a watch that joined late does not know since when."""
        run.log.name = run.log.name or line.name
        run.log.application = self._application(line)
        if not line.joined:
            run.log.started_at = line.at
        begun = run.life.started_at if line.joined else line.at
        run.life = replace(
            run.life,
            name=run.life.name or line.name,
            session=line.session,
            started_at=begun,
            driver=dict(line.driver),
            closed=None,
            over=False,
        )

    def _application(self, line: WatchLine) -> int:
        for index, known in enumerate(self._applications):
            if (known.id, known.spark_version) == (line.application, line.spark):
                return index
        self._applications.append(
            Application(
                id=line.application,
                name=line.applicationName,
                spark_version=line.spark,
                settings=mask({k: str(v) for k, v in line.settings.items()}),
            )
        )
        return len(self._applications) - 1

    def _progress(self, run: _Run, line: WatchLine) -> None:
        raw = bytes(line.progress)
        report = decode(raw, Reported)
        mark = (report.batch, report.at)
        if mark in run.seen:
            return
        run.seen.add(mark)
        log = run.log
        log.name = log.name or report.name
        log.batch(report.batch)
        log.seen(report.at)
        log.newest = raw
        if self._keep is not None and self._keep(line.id, log.name):
            log.reports.append(raw)


def read_watch(
    lines: Iterable[bytes], *, path: str, keep: Keep | None = None, most: int = MOST_REPORTS
) -> Watched:
    """Return what the lines of one file say; nothing in them raises."""
    reader = WatchReader(path, keep, most)
    reader.read(lines, path)
    return reader.result()


def session_report(
    found: Iterable[Watched], meant: Collection[str], run_id: str | None
) -> Mapping[str, Any]:
    """Return what the session reported of a query's run, else of the newest run with a report.

    {} if no run has one.
    """
    lives = [
        (life, watched.reported[life.run_id])
        for watched in found
        for life in watched.lives.values()
        if life.query_id in meant and life.run_id in watched.reported
    ]
    if not lives:
        return {}
    return max(lives, key=lambda p: (p[0].run_id == run_id, p[0].told_at or ""))[1]


def _reported(line: WatchLine) -> dict[str, Any]:
    found = {
        "capture": msgspec.json.decode(line.capture),
        "logical": msgspec.json.decode(line.logical),
    }
    return {k: v for k, v in found.items() if isinstance(v, dict | list) and v}


def _with_log(run: _Run) -> Life:
    log = run.log.result()
    return replace(
        run.life,
        name=run.life.name or log.name,
        batch=log.last_batch,
        ended=log.ended,
        exception=log.exception,
        error_class=log.error_class,
    )
