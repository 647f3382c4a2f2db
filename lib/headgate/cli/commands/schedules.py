"""`headgate schedules [PIPELINE]`: the schedules of pipelines, and the outcomes of their ticks."""

from __future__ import annotations

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import system_user
from headgate.model.schedules import Missed
from headgate.text.numbers import as_records, exact, plural, short_time
from headgate.usecases.schedules.list_schedules import (
    ScheduleView,
    TickView,
    has_worker,
    list_schedules,
    pause_schedule,
    resume_schedule,
)


@click.command("schedules")
@click.argument("pipeline", required=False)
@click.option("--pause", metavar="PIPELINE", help="Pause the schedule of this pipeline.")
@click.option("--resume", metavar="PIPELINE", help="Resume the schedule of this pipeline.")
@format_option()
def command(pipeline: str | None, pause: str | None, resume: str | None, output: str) -> int:
    """List the schedules, or show the schedule of PIPELINE with its newest ticks.

    Times are in UTC. `headgate plan incremental` plans a schedule. To remove a schedule, undo the
    run that created the schedule.
    """
    if pause is not None and resume is not None:
        raise click.UsageError("give only one of --pause and --resume")
    context = current_context()
    if pause is not None:
        pause_schedule(context, pause, by=system_user())
    if resume is not None:
        resume_schedule(context, resume, by=system_user())
    found = list_schedules(context, pipeline)
    if output == "json":
        emit_json({"schedules": [view.as_json() for view in found]})
        return 0
    if not found:
        of = f" of {pipeline}" if pipeline else ""
        name = pipeline or "PIPELINE"
        say(f"No schedules{of} yet. Plan a schedule: headgate plan incremental {name} --every 15m")
    for view in found:
        _say(view, ticks=pipeline is not None)
    if found and not has_worker(context):
        said = "No worker is running, so ticks are missed. Start a worker with `headgate up`."
        say(said, err=True)
    return 0


_MISSED = {
    Missed.ONCE: "one run for all of them",
    Missed.SKIP: "no run",
    Missed.ALL: "one run for each",
}


def _say(view: ScheduleView, *, ticks: bool) -> None:
    stored = view.stored
    schedule = stored.schedule
    limits = f"at most {schedule.limits}" if schedule.limits else "no limits"
    say(f"{stored.pipeline}  {schedule.when}  {next_text(view)}  {limits}")
    if view.last is not None and not ticks:
        say(f"  last tick {tick_text(view.last)}")
    if not ticks:
        return
    approved = f", approved by {stored.approved_by}" if stored.approved_by else ""
    sink = schedule.approved["target"] or "unknown"
    missed = f"{_MISSED[schedule.missed]} (--missed {schedule.missed})"
    say(f"  for missed ticks: {missed}; approved sink: {sink}")
    say(f"  created by {stored.created_by} in run {stored.run}{approved}")
    for one in view.ticks:
        say(f"  {tick_text(one)}")


def next_text(view: ScheduleView) -> str:
    """Return when the next tick is due, or that the schedule is paused."""
    if view.stored.paused_at is not None:
        return f"paused by {view.stored.paused_by}"
    due = short_time(view.next_at) if view.next_at else "when the condition is met"
    return f"next tick {due}"


def tick_text(view: TickView) -> str:
    """Return one line on a tick: time, outcome, records, run or request, and why."""
    tick = view.tick
    outcome = "waits for approval" if view.outcome == "open" else view.outcome
    parts = [short_time(tick.due_at), outcome]
    if tick.records is not None:
        parts.append(as_records(tick.records, exact(tick.records)))
    if view.run is not None:
        parts.append(f"run {view.run}")
    elif tick.request is not None:
        parts.append(f"request {tick.request}")
    if tick.missed:
        parts.append(f"includes {plural(tick.missed, 'missed tick')}")
    return "  ".join(parts) + (f": {tick.reason}" if tick.reason else "")
