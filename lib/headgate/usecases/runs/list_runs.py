"""List runs without reading or importing plans."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from headgate.store.rows import ACTIVE_RUNS, RunFacts
from headgate.store.sqlite_reader import open_soonest
from headgate.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """A part of the runs, newest first; `total` and `active` count all runs."""

    rows: tuple[RunFacts, ...]
    total: int
    active: int


def list_runs(context: Context, *, limit: int | None = None, offset: int = 0) -> RunPage:
    """Return at most `limit` runs after the newest `offset` runs, without their plans."""
    with closing(open_soonest(context.store_url)) as store:
        return RunPage(
            rows=store.runs.list(limit=limit, offset=offset),
            total=store.runs.count(),
            active=store.runs.count(ACTIVE_RUNS),
        )
