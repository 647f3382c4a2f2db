"""Which pipelines are paused, since when and by whom, according to their runs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.store.rows import RunFilter, RunRow, RunState
from headgate.store.sqlite_reader import open_soonest
from headgate.usecases.context import Context

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

_STARTS = frozenset({"start_pipeline", "resume_processing", "manual_step"})


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
            f"paused (since {self.since}, by {self.by}): `headgate undo {self.run}` resumes the "
            "pipeline"
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
    done = (RunState.DONE,)
    # Reading a plan takes a while: only of pipelines that were ever paused.
    pauses = store.runs.list(RunFilter(scenario="pause", states=done))
    found = {}
    for name in dict.fromkeys(row.pipeline for row in pauses if row.pipeline):
        if paused := _newest(store, RunFilter(pipeline=name, states=done)):
            found[name] = paused
    return found


def _newest(store: Store | SqliteReader, which: RunFilter) -> Paused | None:
    """Return the pause if it is the newest of the runs that pause or start the pipeline."""
    for row in store.runs.list(which):
        kind = _kind(store.runs.get(row.id))
        if kind == "pause" and row.pipeline:
            since, by = row.ended_at or "", row.created_by
            return Paused(pipeline=row.pipeline, run=row.id, since=since, by=by)
        if kind == "start":
            return None
    return None


def _kind(row: RunRow) -> str | None:
    """Return `pause`, `start`, or None for a run that leaves things as they were."""
    # Imported here: most stores hold no pause, and a list of runs needs no plan.
    from headgate.reprocess.plan import load_plan

    plan = load_plan(row.plan, source=f"run {row.id}")
    if row.scenario == "pause" and not plan.options.get("resume"):
        return "pause"
    return "start" if any(step.action in _STARTS for step in plan.steps) else None
