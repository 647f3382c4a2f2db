"""Which pipelines are paused, since when and by whom, according to their runs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.store.rows import RunFacts, RunFilter, RunRow, RunState
from headgate.store.sqlite_reader import open_soonest
from headgate.text.numbers import short_time
from headgate.usecases.context import Context

if TYPE_CHECKING:
    from headgate.reprocess.plan import Plan
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

STARTS = frozenset({"start_pipeline", "resume_processing", "manual_step"})
"""Actions of steps after which the pipeline runs."""
PAUSE = "pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A pause that hasn't ended: `run` paused the pipeline, `since` is ISO 8601 in UTC."""

    pipeline: str
    run: str
    since: str
    by: str

    @property
    def words(self) -> str:
        """The pause in one clause."""
        return (
            f"paused (since {short_time(self.since)} UTC, by {self.by}): `headgate undo {self.run}`"
            " resumes the pipeline"
        )


def read_paused(context: Context) -> dict[str, Paused]:
    """Return the paused pipelines in the context's store, by name."""
    with closing(open_soonest(context.store_url)) as store:
        return list_paused(store)


def list_paused(store: Store | SqliteReader) -> dict[str, Paused]:
    """Return the paused pipelines, by name.

    A pause ends with the next completed run that starts the pipeline: its undo, a resume, or
    another scenario. If somebody starts the pipeline by hand, only its activity shows this.
    """
    pauses = store.runs.list(RunFilter(scenario=PAUSE, states=(RunState.DONE,)))
    names = dict.fromkeys(row.pipeline for row in pauses if row.pipeline)
    return {name: paused for name in names if (paused := pause_of(store, name))}


def pause_of(store: Store | SqliteReader, pipeline: str) -> Paused | None:
    """Return the pause of a pipeline, None if it isn't paused."""
    row, kind = _last_change(store, pipeline)
    if row is None or kind != PAUSE:
        return None
    return Paused(pipeline=pipeline, run=row.id, since=row.ended_at or "", by=row.created_by)


def ended_by(store: Store | SqliteReader, row: RunFacts) -> RunFacts | None:
    """Return the later run that started the pipeline which `row` had paused.

    None if the pause holds, or `row` didn't pause.
    """
    if row.scenario != PAUSE or row.pipeline is None:
        return None
    last, kind = _last_change(store, row.pipeline)
    is_over = last is not None and kind == "start" and last.created_at > row.created_at
    return last if is_over and _kind(store.runs.get(row.id)) == PAUSE else None


def _last_change(store: Store | SqliteReader, pipeline: str) -> tuple[RunFacts | None, str | None]:
    """Return the newest completed run that paused or started the pipeline, and which of both.

    `pause` or `start`; neither of a pipeline that was never paused. The undo of a resume pauses
    the pipeline again, so the run that paused it first counts.
    """
    done = (RunState.DONE,)
    # Reading a plan takes a while: only of pipelines that were ever paused.
    if not store.runs.list(RunFilter(pipeline=pipeline, scenario=PAUSE, states=done), limit=1):
        return None, None
    undone: set[str] = set()
    for row in store.runs.list(RunFilter(pipeline=pipeline, states=done)):
        if row.id in undone:
            continue
        if kind := _kind(store.runs.get(row.id)):
            return row, kind
        if row.undo_of:
            undone.add(row.undo_of)
    return None, None


def resumes(plan: Plan) -> bool:
    """Return whether a plan resumes a paused pipeline, with the scenario that also pauses it."""
    return plan.scenario == PAUSE and bool(plan.options.get("resume"))


def _kind(row: RunRow) -> str | None:
    """Return `pause`, `start`, or None for a run that leaves things as they were."""
    # Imported here: most stores hold no pause, and a list of runs needs no plan.
    from headgate.reprocess.plan import load_plan

    plan = load_plan(row.plan, source=f"run {row.id}")
    if plan.scenario == PAUSE and not resumes(plan):
        return PAUSE
    return "start" if any(step.action in STARTS for step in plan.steps) else None
