"""Estimate how many records a run processes and how long it takes, from earlier similar runs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any

from headgate.reprocess.estimate import ESTIMATE, PROCESSING, Estimate
from headgate.reprocess.impact import again, uncounted
from headgate.reprocess.plan import Plan, load_plan
from headgate.reprocess.run_report import counts_of, times_of
from headgate.store.rows import RunFilter, RunState
from headgate.usecases.context import Context
from headgate.usecases.reprocess.estimate_cost import with_costs

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.rows import RunRow

_BOUNDED, _RECORDS = "bounded", "records"
_RUNS = 10
# Of one measured rate: how far the truth usually is from it, without earlier runs to say.
_SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class PastRun:
    """One earlier run: its duration in seconds, and its records per second while it processed."""

    records: int
    seconds: float
    rate: float

    @property
    def startup(self) -> float:
        """The part of the duration that the records don't explain, in seconds."""
        return max(self.seconds - self.records / self.rate, 0.0)


def estimate_plan(context: Context, plan: Plan) -> Estimate:
    """Return the estimate of a plan; `with_costs` must have measured its costs before."""
    records = _unread(plan) if plan.scenario == _BOUNDED else again(plan.impact)
    if not plan.steps:
        return Estimate(unknown=("records, bytes and duration, because the plan has no steps",))
    unknown = [] if records is not None else [_why_no_records(plan)]
    size = plan.impact.get("bytes_total")
    if size is None:
        unknown.append(f"bytes: {_why(plan.impact.get('bytes_how'))}")
    found = Estimate(records=records, bytes=size)
    if plan.scenario not in PROCESSING:
        return _of_rate(plan, found, unknown)
    past = _past(context, plan)
    if records is None or not past:
        return _of_rate(
            plan, found, [*unknown, "start-up: no earlier run has measured the start-up time"]
        )
    limit = plan.options.get("rate")
    return _of_past(replace(found, unknown=tuple(unknown)), records, past, limit)


def with_estimate(context: Context, plan: Plan) -> Plan:
    """Return the plan with its estimate if the run itself processes records, else unchanged.

    An estimate that the plan already has isn't replaced.
    """
    if plan.scenario not in PROCESSING or not plan.steps or ESTIMATE in plan.impact:
        return plan
    costed = plan if "seconds_how" in plan.impact else with_costs(context, plan)
    kept = estimate_plan(context, costed).kept()
    return replace(plan, impact={**costed.impact, ESTIMATE: kept})


def _unread(plan: Plan) -> int | None:
    return sum(plan.impact["to_read"].values()) if "to_read" in plan.impact else None


def _why_no_records(plan: Plan) -> str:
    if what := uncounted(plan.impact):
        return f"records: Headgate can't count the records of this input: {what}"
    return "records: the plan doesn't show how many records are unread"


def _why(how: Any) -> str:
    return str(how or "the plan doesn't show which records the run reads").removeprefix("unknown: ")


def _of_rate(plan: Plan, found: Estimate, unknown: list[str]) -> Estimate:
    """Estimate from the rate that the pipeline itself reports."""
    seconds = plan.impact.get("seconds")
    if seconds is None:
        why = _why(plan.impact.get("seconds_how"))
        return replace(found, unknown=(*unknown, f"duration: {why}"))
    how = str(plan.impact["seconds_how"])
    if (limit := plan.options.get("rate")) and (found.records or 0) / limit > seconds:
        seconds, how = (found.records or 0) / limit, f"{limit} records/s (the rate limit)"
    return replace(
        found,
        expected=round(seconds, 1),
        low=round(seconds * (1 - _SPREAD), 1),
        high=round(seconds * (1 + _SPREAD), 1),
        unknown=tuple(unknown),
        how=how,
    )


def _of_past(
    found: Estimate, records: int, past: tuple[PastRun, ...], limit: int | None
) -> Estimate:
    """Estimate by the medians of earlier runs; the range holds all that they would say.

    `limit` is the rate limit of this run in records per second.
    """
    startup = median(p.startup for p in past)
    rates = [min(p.rate, limit or p.rate) for p in past]
    rate = median(rates)
    expected = startup + records / rate
    each = [p.startup + records / r for p, r in zip(past, rates, strict=True)]
    low, high = min(*each, expected * (1 - _SPREAD)), max(*each, expected * (1 + _SPREAD))
    count = f"{len(past)} earlier runs" if len(past) > 1 else "one earlier run"
    return replace(
        found,
        expected=round(expected, 1),
        low=round(low, 1),
        high=round(high, 1),
        startup=round(startup, 1),
        how=(
            f"{rate:.0f} records/s (the rate limit), and the start-up time of {count}"
            if rate == limit
            else f"{rate:.0f} records/s and start-up time, as in {count}"
        ),
    )


def _past(context: Context, plan: Plan) -> tuple[PastRun, ...]:
    """Return earlier runs of this scenario and pipeline that have counted records, newest first."""
    # Imported here: most plans aren't estimated from runs.
    from headgate.store import open_store

    wanted = RunFilter(pipeline=plan.pipeline, scenario=plan.scenario, states=(RunState.DONE,))
    with closing(open_store(context.store_url)) as store:
        rows = store.runs.list(wanted, limit=_RUNS)
        return tuple(
            p
            for row in rows
            for old in [load_plan(store.runs.get(row.id).plan, source=f"run {row.id}")]
            # A rate limit makes a run slower than the pipeline is.
            if "rate" not in old.options and _is_stream(old) is _is_stream(plan)
            if (p := past_run(store, row, old)) is not None
        )


def _is_stream(plan: Plan) -> bool:
    """Whether a step processes records as a stream, and not as a batch."""
    return any(getattr(step, "stream", None) for step in plan.steps)


def past_run(store: Store, row: RunRow | Any, plan: Plan) -> PastRun | None:
    """Return the facts of a finished run; None if it didn't report enough."""
    if plan.scenario == _BOUNDED:
        return _counted(store, row)
    return _reported(store, row, plan)


def _reported(store: Store, row: RunRow | Any, plan: Plan) -> PastRun | None:
    """Return the facts of a run by the reports of its programs.

    Several programs may read the same records. A resumed run also has the time until its resume.
    """
    took, records = seconds_of(row), again(plan.impact)
    jobs = (d.document for d in store.step_documents.of(row.id) if d.name == "job")
    facts = [job.get("facts", {}) for job in jobs]
    times = [times_of(f).get("processing_seconds") for f in facts if "read" in counts_of(f)]
    processing = sum(seconds for seconds in times if seconds)
    if took is None or not records or not times or not all(times) or row.attempt > 1:
        return None
    return PastRun(records, took, records / processing)


def _counted(store: Store, row: RunRow | Any) -> PastRun | None:
    """Return the facts of a run by its progress; None if that was recorded less than twice."""
    took = seconds_of(row)
    counts = [c for c in store.progress.of(row.id) if c.unit == _RECORDS and c.done]
    if took is None or not counts:
        return None
    count = max(counts, key=lambda c: c.done)
    # The first count comes after the first batch: what it holds took its share of the start.
    if not count.rate or count.done <= count.first_done:
        return None
    return PastRun(count.done, took, count.rate)


def seconds_of(row: Any) -> float | None:
    """Return how long a run took, None if it has not ended."""
    if not row.started_at or not row.ended_at:
        return None
    began, ended = (datetime.fromisoformat(t) for t in (row.started_at, row.ended_at))
    return (ended - began).total_seconds()
