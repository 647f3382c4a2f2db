"""Which pipelines are paused, since when and by whom, as their runs tell."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from headgate.plan.plan import load_plan
from headgate.store import Store, open_store
from headgate.store.runs import RunRow, RunState
from headgate.usecases.context import Context

_STARTS = frozenset({"start_pipeline", "resume_processing", "ask_person"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A pause that nothing has ended: `run` is what made it, `since` ISO 8601 in UTC."""

    pipeline: str
    run: str
    since: str
    by: str

    @property
    def words(self) -> str:
        """The pause in one clause."""
        return f"paused since {self.since} by {self.by}: `headgate undo {self.run}` goes on"


def read_paused(context: Context) -> dict[str, Paused]:
    """Return the paused pipelines of the context's store by name."""
    with closing(open_store(context.store_url)) as store:
        return list_paused(store)


def list_paused(store: Store) -> dict[str, Paused]:
    """Return the paused pipelines by name.

    A pause ends with the next run of the pipeline that is done and starts it: its undo, a resume,
    another scenario. What somebody starts by hand is not known here: activity shows it.
    """
    found: dict[str, Paused] = {}
    rows = [row for row in store.runs.list() if row.state is RunState.DONE]
    # Reading a plan takes a while: only of pipelines that were ever paused.
    ever = {row.pipeline for row in rows if row.scenario == "pause"}
    ended: set[str] = set()
    for row in rows:
        name = row.pipeline
        if name is None or name not in ever - ended:
            continue
        if (kind := _kind(row)) is None:
            continue
        ended.add(name)
        if kind == "pause":
            by = row.created_by
            found[name] = Paused(pipeline=name, run=row.id, since=row.ended_at or "", by=by)
    return found


def _kind(row: RunRow) -> str | None:
    """Return `pause`, `start`, or None for a run that leaves things as they were."""
    plan = load_plan(row.plan, source=f"run {row.id}")
    if row.scenario == "pause" and not plan.options.get("resume"):
        return "pause"
    return "start" if any(step.action in _STARTS for step in plan.steps) else None
