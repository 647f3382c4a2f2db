"""Scheduled runs: process what is unread at each tick, by time or by data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headgate.errors import ScenarioError
from headgate.model.schedule_times import MOST_DAYS, cron_problem
from headgate.model.schedules import Missed, Schedule
from headgate.model.version import Sink
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario
from headgate.reprocess.scenarios.bounded.scenario import SCENARIO as BOUNDED
from headgate.reprocess.steps.process.set_schedule import SetSchedule
from headgate.text.risk import Risk
from headgate.text.times import duration

# The options of a tick's bounded run.
PASSED = ("max-records", "rate", "time-limit")
_COUNTS = ("records", "total", "to_read", "uncounted")


def build(request: PlanRequest) -> Plan:
    """Return the plan: write the schedule of bounded runs that the pipeline can do now."""
    given = {name: request.options[name] for name in PASSED if name in request.options}
    bounded = BOUNDED.build(replace(request, scenario=BOUNDED.name, options=given))
    if not bounded.steps:
        return request.block(*bounded.blockers)
    pipeline = request.pipeline.name
    stored = request.schedule(pipeline)
    before = stored.schedule.when if stored else "none"
    schedule = _schedule(request, bounded, given)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline,
        steps=(SetSchedule(pipeline=pipeline, schedule=schedule, before=before),),
        preconditions={**bounded.preconditions, "schedule": before},
        impact={k: v for k, v in bounded.impact.items() if k in _COUNTS},
        risks=(*_risks(request, schedule), *bounded.risks),
        blockers=bounded.blockers,
        options=dict(request.options),
        resources=(f"schedule:{pipeline}",),
    )


def _schedule(request: PlanRequest, bounded: Plan, given: dict[str, Any]) -> Schedule:
    version = request.versions(request.pipeline.name) or request.version
    return Schedule(
        pipeline=request.pipeline.name,
        cron=_cron(request),
        every=_seconds(request, "every"),
        lag=_number(request, "when-lag", least=0),
        quiet=_seconds(request, "when-quiet"),
        missed=Missed(request.options.get("missed", Missed.ONCE.value)),
        limit_records=_number(request, "max-run-records", least=1),
        time_limit=_number(request, "time-limit", least=1),
        options=given,
        approved=approved(bounded, version.sink if version else None),
    )


def approved(bounded: Plan, sink: Sink | None) -> dict[str, Any]:
    """Return what a tick must not differ from: the bounded plan, and the target that it writes to.

    The plan's hash covers its steps and preconditions, with commands, checkpoint and topics.
    """
    target = " ".join(filter(None, (sink.format, sink.place))) if sink else ""
    return {
        "hash": bounded.hash,
        "preconditions": bounded.preconditions,
        "target": target or None,
    }


def _cron(request: PlanRequest) -> str | None:
    found = request.options.get("cron")
    if found is None:
        return None
    text = " ".join(str(found).split())
    if problem := cron_problem(text):
        raise ScenarioError(
            f"--cron: {text!r} isn't a cron expression: {problem}. For every hour, pass '0 * * * *'"
        )
    return text


def _seconds(request: PlanRequest, name: str) -> int | None:
    found = request.options.get(name)
    if found is None:
        return None
    seconds = int(duration(str(found), option=name).total_seconds())
    if seconds < 1:
        raise ScenarioError(f"--{name}: expected 1 second or more, found {found!r}")
    if seconds > MOST_DAYS * 86400:
        raise ScenarioError(f"--{name}: expected {MOST_DAYS} days or less, found {found!r}")
    return seconds


def _number(request: PlanRequest, name: str, *, least: int) -> int | None:
    found = request.options.get(name)
    if found is not None and found < least:
        raise ScenarioError(f"--{name}: expected {least} or more, found {found}")
    return None if found is None else int(found)


APPROVED_FOR_ALL = Risk(
    "an approval of this plan approves the runs of all ticks. If the pipeline, its commands "
    "or its output location change, the next tick creates a request for approval instead"
)
NO_RECORD_LIMIT = Risk(
    "each run processes all unread records. To require an approval for large runs, pass "
    "--max-run-records"
)
ALL_MISSED_TICKS = Risk(
    "each missed tick starts its own run (at most 100 runs). After a long stop of the worker, "
    "many runs follow one another. Usually only the first run finds records"
)
NEEDS_WORKER = Risk(
    "ticks start runs only while a Headgate worker is running, such as the worker of "
    "`headgate up`. To pause the schedule, run `headgate schedules --pause {pipeline}`"
)


def _risks(request: PlanRequest, schedule: Schedule) -> Iterator[str]:
    pipeline = request.pipeline.name
    yield APPROVED_FOR_ALL()
    if schedule.limit_records is None:
        yield NO_RECORD_LIMIT()
    if schedule.missed is Missed.ALL:
        yield ALL_MISSED_TICKS()
    yield NEEDS_WORKER(pipeline=pipeline)


_WHEN = "schedule"

SCENARIO = Scenario(
    name="incremental",
    title="Scheduled runs",
    short="Process unread records on a schedule.",
    what="Process unread records at each tick of a schedule, then stop the pipeline.",
    build=build,
    steps=("set_schedule",),
    risks=lambda: (
        APPROVED_FOR_ALL,
        NO_RECORD_LIMIT,
        ALL_MISSED_TICKS,
        NEEDS_WORKER,
        *BOUNDED.risks(),
    ),
    options=(
        Option(
            name="cron",
            ask="Cron expression (UTC)",
            help="Cron expression of five fields, in UTC.",
            metavar="CRON",
            one_of=_WHEN,
            required=True,
        ),
        Option(
            name="every",
            ask="Time between two runs",
            help=(
                "Time between two ticks, such as 15m. The first interval starts when the "
                "schedule is created."
            ),
            metavar="DURATION",
            one_of=_WHEN,
            required=True,
        ),
        Option(
            name="when-lag",
            ask="Consumer lag that starts a run",
            help="Run if the consumer lag exceeds this number of records.",
            kind=Kind.NUMBER,
            metavar="COUNT",
            one_of=_WHEN,
            required=True,
        ),
        Option(
            name="when-quiet",
            ask="Time without new records that starts a run",
            help="Run if no record has arrived for this time and unread records exist.",
            metavar="DURATION",
            one_of=_WHEN,
            required=True,
        ),
        Option(
            name="missed",
            ask="Missed ticks",
            help="What to start for missed ticks: once = one run for all of them (default), skip = "
            "no run, all = one run for each. A tick is missed while no worker runs, or during "
            "another run of the pipeline.",
            kind=Kind.CHOICE,
            choices=tuple(m.value for m in Missed),
        ),
        Option(
            name="max-run-records",
            ask="Maximum records per run",
            help="Maximum number of records per run (default: no limit). If more records are "
            "unread, Headgate creates a request for approval instead of starting the run.",
            kind=Kind.NUMBER,
            metavar="COUNT",
        ),
        *(o for o in BOUNDED.options if o.name in ("max-records", "rate")),
        Option(
            name="time-limit",
            ask="Time limit of a run in seconds",
            help="Time limit of a run in seconds (default: none). If Headgate estimates that a "
            "run would take longer, it creates a request for approval instead of starting the run. "
            "Otherwise, the run stops at the limit.",
            kind=Kind.NUMBER,
            metavar="SECONDS",
        ),
    ),
    support=BOUNDED.support,
)
