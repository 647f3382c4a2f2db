"""Gather events into applications and runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.parse.spark.event_log.events import (
    ApplicationEnd,
    ApplicationStart,
    EnvironmentUpdate,
    Event,
    ExecutionEnd,
    ExecutionStart,
    ExecutionUpdate,
    JobStart,
    LogStart,
    QueryIdle,
    QueryProgress,
    QueryStarted,
    QueryTerminated,
    Reported,
    decode,
)
from headgate.parse.spark.event_log.runs import QueryRun, RunLog, moment
from headgate.text.numbers import plural
from headgate.text.secrets import mask

Keep = Callable[[str, str | None], bool]
_MOST_RUNS = 20_000
_MOST_OPEN = 1000
# `StreamExecution.getBatchDescriptionString`: the query's name, which may hold anything, stands
# before it.
_ID = "\nid = "
_BATCH = re.compile(r"(?P<id>\S+)\nrunId = (?P<run>\S+)\nbatch = (?P<batch>-?\d{1,18}|init)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The application that wrote a log; times are ISO 8601 in UTC, settings are masked.

    `ended_at` is None while it runs, and for ever where it was killed.
    """

    id: str | None = None
    name: str | None = None
    spark_version: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    started_at: str | None = None
    ended_at: str | None = None


@dataclass(slots=True)
class _Execution:
    """A batch that is being executed, and its newest plan; `run` is None until a job names it."""

    run: RunLog | None
    batch: int
    plan: bytes
    settings: bytes


class Gatherer:
    """Takes events in the order of the log; `keep` says whose progress reports are kept."""

    def __init__(self, keep: Keep | None, most: int) -> None:
        self._keep, self._most = keep, most
        self._applications = [Application()]
        self._runs: dict[tuple[str, str], RunLog] = {}
        self._open: dict[int, _Execution] = {}
        self._clock: str | None = None
        self._too_many = 0

    def take(self, event: Event) -> None:
        """Add one event; ValueError where a part of it is of another shape."""
        match event:
            case ExecutionStart():
                self._execution(event)
            case ExecutionUpdate():
                if event.id in self._open:
                    self._open[event.id].plan = bytes(event.plan)
            case ExecutionEnd():
                self._tick(moment(event.at))
                self._close(event.id)
            case QueryProgress():
                self._progress(event)
            case JobStart():
                self._job(event)
            case QueryStarted():
                run = self._run(event.id, event.run_id, event.name)
                run.seen(event.at or self._clock)
                self._tick(event.at)
            case QueryIdle():
                self._run(event.id, event.run_id).seen(event.at)
                self._tick(event.at)
            case QueryTerminated():
                run = self._run(event.id, event.run_id)
                run.failed(event.exception, event.error_class)
                run.seen(self._clock)
            case _:
                self._application(event)

    def result(self) -> tuple[tuple[Application, ...], tuple[QueryRun, ...], tuple[str, ...]]:
        """Return applications, runs in the order of their first event, and warnings."""
        for number in list(self._open):
            self._close(number)
        runs = tuple(r.result() for r in self._runs.values())
        return tuple(self._applications), runs, tuple(self._warnings(runs))

    def _warnings(self, runs: tuple[QueryRun, ...]) -> list[str]:
        found = list(dict.fromkeys(a.id or "?" for a in self._applications))
        out = []
        if len(found) > 1:
            out.append(f"contains the events of {len(found)} applications: {', '.join(found[:5])}")
        if self._too_many:
            out.append(f"has more than {_MOST_RUNS} query runs, the most that Headgate reads")
        if left := sum(r.plans_left_out for r in runs):
            out.append(
                f"has query plans of {plural(left, 'batch')} that Headgate skipped: these plans "
                "are too large, or a run has too many different plans"
            )
        return out

    def _application(self, event: Event) -> None:
        newest = self._applications[-1]
        match event:
            case LogStart():
                known = newest.spark_version is not None or newest.id is not None
                newest = self._other(newest) if known else newest
                newest = replace(newest, spark_version=event.version)
            case ApplicationStart():
                another = newest.id is not None and newest.id != event.id
                newest = self._other(newest) if another else newest
                at = moment(event.at)
                newest = replace(newest, id=event.id, name=event.name, started_at=at)
                self._tick(at)
            case EnvironmentUpdate():
                settings = mask({k: str(v) for k, v in event.settings.items()})
                newest = replace(newest, settings={**newest.settings, **settings})
            case ApplicationEnd():
                newest = replace(newest, ended_at=moment(event.at))
                self._tick(newest.ended_at)
        self._applications[-1] = newest

    def _other(self, newest: Application) -> Application:
        """Begin another application; its executions count from 0 again."""
        for number in list(self._open):
            self._close(number)
        self._applications.append(Application(spark_version=newest.spark_version))
        return self._applications[-1]

    def _tick(self, at: str | None) -> None:
        """Keep the time of the newest event that has one; ISO 8601 in UTC sorts like time."""
        self._clock = at if self._clock is None or (at or "") > self._clock else self._clock

    def _run(self, query_id: str, run_id: str, name: str | None = None) -> RunLog:
        run = self._runs.get((query_id, run_id))
        if run is None:
            run = RunLog(query_id, run_id, len(self._applications) - 1, self._most)
            if len(self._runs) < _MOST_RUNS:
                self._runs[query_id, run_id] = run
            else:
                self._too_many += 1
        run.name = run.name or name
        return run

    def _execution(self, event: ExecutionStart) -> None:
        self._tick(moment(event.at))
        if event.root is not None and event.root != event.id:
            return
        name, _, rest = event.description.rpartition(_ID)
        found = _BATCH.match(rest)
        batch = int(found["batch"]) if found and found["batch"] != "init" else -1
        run = None
        if found is not None:
            run = self._run(found["id"], found["run"], name or None)
            run.seen(moment(event.at))
            if event.root is None and batch >= 0 and batch == run.last_batch:
                return
        elif not event.plan:
            return
        if len(self._open) >= _MOST_OPEN:
            self._close(next(iter(self._open)))
        self._open[event.id] = _Execution(run, batch, bytes(event.plan), bytes(event.settings))

    def _job(self, event: JobStart) -> None:
        """Name the query of an execution whose description doesn't."""
        said: Mapping[str, Any] = event.properties or {}
        number = str(said.get("spark.sql.execution.id", ""))
        execution = self._open.get(int(number[:18])) if number.isdecimal() else None
        if execution is None or execution.run is not None:
            return
        query, run = said.get("sql.streaming.queryId"), said.get("spark.jobGroup.id")
        batch = str(said.get("streaming.sql.batchId", ""))
        if isinstance(query, str) and (query, run) in self._runs and batch.isdecimal():
            execution.run = self._runs[query, str(run)]
            execution.batch = int(batch[:18])

    @property
    def wants_jobs(self) -> bool:
        """Whether an execution is open of which it is not known whose batch it is."""
        return any(e.run is None for e in self._open.values())

    def _close(self, number: int) -> None:
        """Give an execution's plan, as it was last, to its run."""
        execution = self._open.pop(number, None)
        if execution is None or execution.run is None:
            return
        execution.run.batch(execution.batch)
        execution.run.set_by(execution.settings)
        execution.run.plans.add(execution.batch, execution.plan)

    def _progress(self, event: QueryProgress) -> None:
        report = decode(event.progress, Reported)
        run = self._run(report.id, report.run_id, report.name)
        run.seen(report.at)
        self._tick(report.at)
        run.batch(report.batch)
        run.newest = bytes(event.progress)
        if self._keep is not None and self._keep(report.id, run.name):
            run.reports.append(run.newest)
