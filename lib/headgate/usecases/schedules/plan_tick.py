"""Plan the bounded run of a tick from the current state, and compare it with the approved plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from headgate.errors import PlanFileError, RefusedError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.schedules import StoredSchedule, span_words
from headgate.model.version import Sink
from headgate.reprocess.estimate import read_estimate
from headgate.reprocess.plan import Plan, changed, load_plan
from headgate.reprocess.scenarios.build import drift
from headgate.reprocess.scenarios.incremental.scenario import approved
from headgate.store import Store
from headgate.text.numbers import as_records, exact, plural
from headgate.usecases.context import Context
from headgate.usecases.reprocess.complete_version import complete_version
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.reprocess.rebuild_plan import described, shared_words, unfinished_runs
from headgate.usecases.runs.apply_plan import estimated

SCENARIO = "bounded"


@dataclass(frozen=True, slots=True)
class TickPlan:
    """The plan of a tick's run; `exceeds` are clauses about exceeded limits and differences.

    `records` is the current number of unread records, None if unknown. `stale` says why the open
    request of an earlier tick can no longer be approved.
    """

    plan: Plan
    records: int | None
    exceeds: tuple[str, ...] = ()
    stale: str | None = None


def plan_tick(context: Context, store: Store, known: StoredSchedule) -> TickPlan:
    """Return the plan, also if it is blocked. UnreachableError if something doesn't respond.

    A run that would exceed the time limit is planned without this limit, because a person must
    approve it.
    """
    schedule = known.schedule
    plan = plan_scenario(context, SCENARIO, known.pipeline, schedule.options)
    if not plan.can_apply:
        return TickPlan(plan, _unread(plan))
    plan = estimated(context, plan)
    other = (*_differences(context, store, known, plan), *_unfinished_runs(store, known, plan))
    records = _unread(plan)
    more = tuple(_limits(known, records))
    if late := _too_long(known, plan):
        free = {k: v for k, v in schedule.options.items() if k != "time-limit"}
        plan = estimated(context, plan_scenario(context, SCENARIO, known.pipeline, free))
        more = (*more, late)
    return TickPlan(plan, records, (*other, *more), _stale(context, store, known.pipeline))


def _stale(context: Context, store: Store, pipeline: str) -> str | None:
    """Say what would block an approval of the open request; None if nothing does."""
    request = store.schedules.open_request(pipeline)
    if request is None:
        return None
    try:
        plan = load_plan(store.requests.get(request).plan, source=f"request {request}")
    except PlanFileError as error:
        return str(error)
    now = plan_scenario(context, plan.scenario, pipeline, plan.options)
    return "; ".join(drift(plan, now)) or None


def _unread(plan: Plan) -> int | None:
    return sum(plan.impact["to_read"].values()) if "to_read" in plan.impact else None


def _differences(
    context: Context, store: Store, known: StoredSchedule, plan: Plan
) -> Iterator[str]:
    """Say what is other than in the plan that was approved."""
    was = known.schedule.approved
    now = approved(plan, _sink(context, store, known.pipeline))
    if was["hash"] != now["hash"]:
        before = Plan(scenario=SCENARIO, pipeline=plan.pipeline, preconditions=was["preconditions"])
        yield from drift(before, plan)
    if was["target"] is not None and was["target"] != now["target"]:
        yield f"the sink changed: {was['target']} -> {now['target'] or 'unknown'}"


def _unfinished_runs(store: Store, known: StoredSchedule, plan: Plan) -> Iterator[str]:
    """Name the runs that stopped part-way; a tick continues only those of other ticks."""
    ticks = store.schedules.runs(known.pipeline)
    for row in unfinished_runs(store, plan.resources):
        # The oldest ticks are removed, so their runs are known only by who queued them.
        if row.id not in ticks and row.created_by != known.actor:
            shared = shared_words(store, changed(plan.resources), row.id)
            yield f"run {row.id} ({row.scenario}) on {shared} stopped part-way and was not undone"


def _sink(context: Context, store: Store, pipeline: str) -> Sink | None:
    version = complete_version(store, pipeline)
    if version is None:
        with closing(LiveInspector(context.registry, context.home)) as inspector:
            version, _ = described(inspector, pipeline)
    return version.sink if version else None


def _limits(known: StoredSchedule, records: int | None) -> Iterator[str]:
    most = known.schedule.limit_records
    if most is None:
        return
    if records is None:
        limit = plural(most, "record", exact(most))
        yield f"the limit is {limit}, but the number of unread records is unknown"
    elif records > most:
        yield f"{as_records(records, exact(records))} are unread, and the limit is {exact(most)}"


def refuse_beyond_limit(store: Store, run: str, plan: Plan) -> None:
    """Raise RefusedError if a tick's run would now process more records than its schedule allows.

    Records may have arrived since the run was queued. `plan` is the run's plan, built again.
    """
    known = store.schedules.of_run(run)
    if known is not None and (reasons := [*_limits(known, _unread(plan))]):
        raise RefusedError(
            f"{'; '.join(reasons)}. If the limit is still exceeded at the next tick, Headgate "
            "creates a request"
        )


def _too_long(known: StoredSchedule, plan: Plan) -> str | None:
    """Say that the run would exceed its time limit; None if it would not, or nothing is known."""
    most, found = known.schedule.time_limit, read_estimate(plan.impact)
    if most is None or found is None or found.expected is None or found.expected <= most:
        return None
    expected = span_words(max(round(found.expected), 1))
    return f"the run is expected to take {expected}, and the limit is {span_words(most)}"
