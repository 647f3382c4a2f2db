"""From event logs to the pieces of one query's version."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headgate.model.progress import NewestProgress
from headgate.model.spark_settings import PARTITIONS, PINNED, PINNED_DEFAULTS
from headgate.parse.spark.event_log.gather import Application
from headgate.parse.spark.event_log.read import EventLog
from headgate.parse.spark.event_log.runs import QueryRun
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode
from headgate.parse.spark.operators.plan_forms import read_plans
from headgate.parse.spark.session.capture_json import read_reports

_S = "spark.sql.streaming."
_STATE_PARTITIONS = _S + "internal.stateStore.partitions"
_OFFSET_LOG = _S + "offsetLog.formatVersion"
# What Spark itself sets in the session of every query.
_ENGINES = frozenset(
    {
        _STATE_PARTITIONS,
        _OFFSET_LOG,
        "spark.sql.requireAllClusterKeysForDistribution",
        "spark.sql.cbo.enabled",
        "spark.sql.adaptive.enabled",
    }
)
# A batch without data shows less of a plan: that many kinds of plans of a run are looked at.
_MOST_PLANS = 12
_EMPTY = "<empty>"


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One run with the application that it was part of, and the path of its log."""

    run: QueryRun
    application: Application
    path: str


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """One query over all logs; `runs` are oldest first."""

    id: str
    runs: tuple[LoggedRun, ...]

    @property
    def name(self) -> str | None:
        """The name it had last."""
        return next((r.run.name for r in reversed(self.runs) if r.run.name), None)

    @property
    def pinned(self) -> dict[str, str]:
        """The settings that its checkpoint pins, as far as its sessions showed them.

        A restart takes them out of the offset log and sets them in its session.
        """
        out: dict[str, str] = {}
        for found in self.runs:
            settings = found.run.settings
            out |= {k: v for k, v in settings.items() if k in PINNED}
            if partitions := settings.get(_STATE_PARTITIONS):
                out[PARTITIONS] = partitions
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedVersion:
    """What a log says of one run, in the terms of a version's pieces."""

    run: QueryRun
    plans: tuple[Plan, ...] = ()
    reports: tuple[NewestProgress, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    pinned: Mapping[str, str] = field(default_factory=dict)
    offset_log_version: int | None = None
    engine_version: str | None = None
    warnings: tuple[str, ...] = ()


def queries(logs: Sequence[EventLog]) -> tuple[LoggedQuery, ...]:
    """Return every query of all logs, in the order of their first runs."""
    found: dict[str, dict[str, LoggedRun]] = {}
    for log in logs:
        for run in log.runs:
            application = log.applications[run.application]
            # A log and its copy hold the same run: the one that goes further counts.
            known = found.setdefault(run.query_id, {}).get(run.run_id)
            if known is None or (run.seen_at or "") > (known.run.seen_at or ""):
                found[run.query_id][run.run_id] = LoggedRun(run, application, log.path)
    made = [
        LoggedQuery(i, tuple(sorted(runs.values(), key=lambda r: r.run.started_at or "")))
        for i, runs in found.items()
    ]
    return tuple(sorted(made, key=lambda q: q.runs[0].run.started_at or ""))


def logged_of(found: Sequence[LoggedQuery], meant: Collection[str]) -> LoggedVersion | None:
    """Return the newest version of a query with one of these ids; None where there is none."""
    wanted = [q for q in found if q.id in meant]
    if not wanted:
        return None
    newest = max(wanted, key=lambda q: q.runs[-1].run.started_at or "")
    return logged_version(newest, newest_known(newest))


def alone(query: LoggedQuery, found: LoggedRun) -> EventLog:
    """Return a log of one run only; what its query pins is as the other runs show it."""
    pinned = {k: v for k, v in query.pinned.items() if k in PINNED}
    if PARTITIONS in query.pinned:
        pinned[_STATE_PARTITIONS] = query.pinned[PARTITIONS]
    run = replace(found.run, application=0, settings={**found.run.settings, **pinned})
    return EventLog(path=found.path, applications=(found.application,), runs=(run,), events=1)


def newest_known(query: LoggedQuery) -> LoggedRun:
    """Return the newest run that showed its plan and completed a batch.

    A run that failed before may read other topics than the one before it under the very same plan:
    what it would have been is not known. Where there is none, the newest with a report, else with
    a plan, else the newest of all.
    """
    return (known_runs(query) or query.runs)[-1]


def known_runs(query: LoggedQuery) -> tuple[LoggedRun, ...]:
    """Return the runs of which most is known, oldest first."""
    planned = tuple(r for r in query.runs if r.run.plans)
    reported = tuple(r for r in query.runs if r.run.newest)
    both = tuple(r for r in planned if r.run.newest)
    return both or reported or planned


def logged_version(query: LoggedQuery, found: LoggedRun) -> LoggedVersion:
    """Return what the log says of one run."""
    run = found.run
    # A restart sets all that is pinned in its session: what is the default says nothing there.
    settings = {**found.application.settings, **run.settings}
    kept = {
        k: v
        for k, v in settings.items()
        if k.startswith("spark.sql.") and k not in _ENGINES and PINNED_DEFAULTS.get(k) != v
    }
    version = run.settings.get(_OFFSET_LOG, "")
    plans = _plan(run)
    return LoggedVersion(
        run=run,
        plans=plans,
        reports=_reports(run),
        settings=kept,
        pinned=query.pinned,
        offset_log_version=int(version) if version in ("1", "2") else None,
        engine_version=found.application.spark_version,
        warnings=(*_warnings(query, found), *_of_empty(found, plans)),
    )


def _plan(run: QueryRun) -> tuple[Plan, ...]:
    """Return the plan that shows most of the query; of equal ones the newest."""
    newest = sorted(run.plans, key=lambda p: p.last_batch)[-_MOST_PLANS:]
    read = [read_plans(p.text) for p in newest]
    return max(reversed(read), key=lambda plans: (-_empties(plans), _size(plans)), default=())


def _size(plans: tuple[Plan, ...]) -> int:
    return max((len(p.nodes) for p in plans), default=0)


def _empties(plans: tuple[Plan, ...]) -> int:
    """Count the leaves that stand for a source without data in that batch."""
    return max((sum(_is_empty(n) for n in p.nodes) for p in plans), default=0)


def _is_empty(node: PlanNode) -> bool:
    return node.name.startswith("Local") and _EMPTY in f"{node.detail} {node.argument()}"


def _reports(run: QueryRun) -> tuple[NewestProgress, ...]:
    try:
        return read_reports([run.newest] if run.newest else [])
    except (ValueError, KeyError):
        return ()


def _warnings(query: LoggedQuery, found: LoggedRun) -> list[str]:
    newest = query.runs[-1].run
    if newest is not found.run and newest.run_id != found.run.run_id:
        ended = "failed" if newest.exception or newest.error_class else "ended"
        ended += f" ({newest.error_class})" if newest.error_class else ""
        if newest.newest is not None:
            ended = "logged no query plan"
        elif newest.ended:
            ended += " before its first completed batch"
        else:
            ended = "has not completed a batch"
        started = f" (started {at})" if (at := found.run.started_at) else ""
        return [
            f"{found.path}: the newest run {newest.run_id} {ended}, so this version is from run "
            f"{found.run.run_id}{started}"
        ]
    missing = [
        what
        for what, there in (("query plan", found.run.plans), ("progress", found.run.newest))
        if not there
    ]
    return [f"{found.path}: run {newest.run_id} logged no {' and no '.join(missing)}"] * bool(
        missing
    )


def _of_empty(found: LoggedRun, plans: tuple[Plan, ...]) -> list[str]:
    """Say that the plan is of a batch without data, where no other one was logged."""
    if not _empties(plans):
        return []
    return [
        f"{found.path}: run {found.run.run_id} logged only query plans of batches without data. In "
        "these plans, Spark shows a source as an empty local table"
    ]
