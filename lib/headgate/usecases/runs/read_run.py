"""Read one run with its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING

from headgate.reprocess.execution.execute import StepState
from headgate.reprocess.execution.suspended_restarts import find_suspensions
from headgate.reprocess.plan import Plan, load_plan
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.cut_batch import CutCopy
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.store.rows import (
    Note,
    RunFilter,
    RunRow,
    RunState,
    StepDocument,
    StepProgress,
)
from headgate.store.step_records import StepRecord, is_rolling_back, step_records
from headgate.store.worker_slots import is_served
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import overtaken, started_undos
from headgate.usecases.runs.describe_run_state import describe_run_state

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.rows import AuditRow, Question, RequestRow
    from headgate.store.sqlite_reader import SqliteReader


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One step of a run, with its state.

    `state` is `done`, `failed`, `undone`, `in_doubt` (started, without a recorded end), `running`
    (started in an active run), `waiting`, or `skipped` (its run has ended). `code` is the exit code
    of a failed step's error.
    """

    action: str
    symbol: str
    describe: str
    state: str
    error: str | None = None
    begun_at: str | None = None
    ended_at: str | None = None
    code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """A run with its steps; `state_after` describes what it leaves behind if it didn't complete."""

    row: RunRow
    plan: Plan
    steps: tuple[StepView, ...]
    undo_of: str | None
    can_undo: bool
    can_resume: bool
    state_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail(RunOutcome):
    """All facts about a run; `progress` are its messages, oldest first.

    `undone_by` are the runs that undo it. `counts` are the progress of its steps, `documents` the
    reports of their programs. `request` is the request that it was approved from, `audit` its audit
    trail. `waits_for` is the manual step that a person must do and confirm now.
    """

    undone_by: tuple[str, ...]
    progress: tuple[Note, ...]
    counts: tuple[StepProgress, ...] = ()
    request: RequestRow | None = None
    documents: tuple[StepDocument, ...] = ()
    waits_for: Question | None = None
    audit: tuple[AuditRow, ...] = ()


def read_run(context: Context, run: str) -> RunDetail:
    """Return one run; NotFoundError if there is none with this id."""
    with closing(_open(context)) as store:
        return run_detail(store, run)


def _open(context: Context) -> Store:
    # Imported here: who waits for a run's end needs no more than a glance at the store.
    from headgate.store import open_store

    return open_store(context.store_url)


def has_worker(context: Context, row: RunRow) -> bool:
    """Return whether a worker executes an active run, or takes it up if it is queued."""
    with closing(_open(context)) as store:
        return is_served(store.database, row)


def run_detail(store: Store, run: str) -> RunDetail:
    """Return one run from an open store."""
    seen = run_outcome(store, run)
    return RunDetail(
        **{f.name: getattr(seen, f.name) for f in fields(seen)},
        undone_by=tuple(r.id for r in store.runs.list(RunFilter(undo_of=run))),
        progress=tuple(store.journal.notes(run)),
        counts=store.progress.of(run),
        documents=store.step_documents.of(run),
        request=store.requests.of_run(run),
        waits_for=store.questions.open(run) if seen.row.state.is_active else None,
        audit=tuple(store.audit.list(run)),
    )


def run_outcome(store: Store | SqliteReader, run: str) -> RunOutcome:
    """Return a run with its steps; NotFoundError if there is none with this id."""
    row = store.runs.get(run)
    plan = load_plan(row.plan, source=f"run {run}")
    entries = store.journal.entries(run)
    records = step_records(entries)
    changed = any(r.begun and r.state.may_have_effect for r in records.values())
    undone = any(r.state is StepState.UNDONE for r in records.values())
    resumable = row.state in (RunState.FAILED, RunState.CANCELLED) and not undone
    ended = not row.state.is_active
    steps = step_views(plan, records, ended=ended)
    if row.state is RunState.RUNNING and row.attempt > 1 and not is_rolling_back(entries):
        steps = _tried_again(steps)
    ways = {
        "can_undo": ended and changed and row.undo_of is None,
        "can_resume": resumable and not started_undos(store, run),
    }
    later = overtaken(store, row) if resumable else []
    return RunOutcome(
        row=row,
        plan=plan,
        steps=steps,
        undo_of=row.undo_of,
        state_after=(
            *_unexpected(plan, records),
            *describe_run_state(
                row,
                plan.steps,
                [_effect(step) for step in steps],
                suspended=_suspended(plan, records),
                is_rolling_back=is_rolling_back(entries),
                **{way: is_open and not later for way, is_open in ways.items()},
            ),
            *(f"{reason[0].upper()}{reason[1:]}: undo that run first." for reason in later),
        ),
        **ways,
    )


def kept_until(context: Context, row: RunRow) -> datetime | None:
    """Return until when the run's snapshots are kept for an undo, None without an end.

    The snapshots of a run that stopped halfway and wasn't undone are kept without an end.
    """
    if row.state is not RunState.DONE or row.undo_of is not None or row.ended_at is None:
        return None
    return datetime.fromisoformat(row.ended_at) + context.registry.keep_snapshots


def step_views(
    plan: Plan, records: Mapping[int, StepRecord], *, ended: bool
) -> tuple[StepView, ...]:
    """Return every step with its state in the journal; `ended`: the run has ended."""
    return tuple(
        _view(step, records.get(position, StepRecord()), ended=ended)
        for position, step in enumerate(plan.steps)
    )


def _tried_again(steps: tuple[StepView, ...]) -> tuple[StepView, ...]:
    """Return the steps of a run that was resumed: the one that it failed at is under way again."""
    now = next((n for n, step in enumerate(steps) if step.state != "done"), None)
    if now is None or steps[now].state != "failed":
        return steps
    again = replace(steps[now], state="running", error=None, ended_at=None)
    return (*steps[:now], again, *steps[now + 1 :])


def _unexpected(plan: Plan, records: Mapping[int, StepRecord]) -> Iterator[str]:
    """Say where a query that was to skip a record read it without failing."""
    for position, record in sorted(records.items()):
        step = plan.steps[position]
        if isinstance(step, CutCopy) and record.state is StepState.DONE:
            said = step.said(record.was)
            if said is not None:
                yield f"{said}."


def _suspended(plan: Plan, records: Mapping[int, StepRecord]) -> tuple[StopPipeline, ...]:
    return find_suspensions(plan.steps, {p: r.as_record() for p, r in records.items()})


def _effect(step: StepView) -> str:
    """Return its state as far as it changed something: a step that was blocked before did not."""
    return "skipped" if step.state == "failed" and step.begun_at is None else step.state


def _view(step: Step, record: StepRecord, *, ended: bool) -> StepView:
    return StepView(
        action=step.action,
        symbol=step.symbol,
        describe=step.describe(),
        state=_state(record, ended=ended),
        error=record.error,
        begun_at=record.begun_at,
        ended_at=record.ended_at,
        code=record.code,
    )


def _state(record: StepRecord, *, ended: bool) -> str:
    if record.state is StepState.WAITING:
        return "skipped" if ended else "waiting"
    if record.state is StepState.IN_DOUBT and not ended:
        return "running"
    return record.state.value
