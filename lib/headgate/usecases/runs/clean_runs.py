"""Remove snapshots of old runs, except those that an undo may still need."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.gateway.checkpoint.backups import freed_bytes, kept_by, remove
from headgate.gateway.checkpoint.folders import local_path
from headgate.reprocess.plan import changed
from headgate.store import Store, open_store
from headgate.store.rows import ACTIVE_RUNS, RunFacts, RunFilter, RunState
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import BOUNDED, CLEAN, has_effect, started_undos
from headgate.usecases.runs.clean_checkpoint_locations import Cleaned, clean_locations
from headgate.usecases.runs.clean_tables import clean_tables


def clean_between_runs(context: Context, *, by: str) -> tuple[Cleaned, ...]:
    """Do as `clean_runs`, but nothing while a run is queued or active."""
    with closing(open_store(context.store_url)) as store:
        if store.runs.count(ACTIVE_RUNS):
            return ()
    return clean_runs(context, by=by)


def clean_runs(context: Context, *, by: str, dry: bool = False) -> tuple[Cleaned, ...]:
    """Remove the snapshots of runs that ended before `keep_snapshots`, and return these runs.

    Afterwards, these runs can't be undone. The snapshots of some runs are never removed: active
    runs, runs that stopped halfway and weren't undone (unless a later bounded run continued them),
    and runs with an undo that waits or hasn't ended. With `dry`, nothing is removed. Local
    snapshots are removed before those in databases and on remote file systems, which may not
    respond: UnreachableError.
    """
    with closing(open_store(context.store_url)) as store:
        found, rows = [], store.runs.list()
        keep, over = context.registry.keep_snapshots, _continued(store, rows)
        for row in rows:
            if _is_over(store, row, keep, over):
                found += _clean(context, store, row, by=by, dry=dry)
        for clean in (clean_locations, clean_tables):
            found += clean(
                context, store, lambda row: _is_over(store, row, keep, over), by=by, dry=dry
            )
        return tuple(found)


def _continued(store: Store, rows: Iterable[RunFacts]) -> frozenset[str]:
    """Return the bounded runs that stopped part-way and that a later one continued.

    Of `rows`, newest first. Ticks of a schedule that end at their time limit are such runs.
    """
    later: set[str] = set()
    found = set()
    for row in rows:
        if row.scenario != BOUNDED or row.state.is_active or row.undo_of is not None:
            continue
        resources = changed(store.runs.resources(row.id))
        if resources and later.issuperset(resources):
            found.add(row.id)
        elif has_effect(store, row.id):
            later.update(resources)
    return frozenset(found)


def _is_over(store: Store, row: RunFacts, keep: timedelta, continued: frozenset[str]) -> bool:
    if row.state.is_active or row.ended_at is None:
        return False
    if datetime.now(UTC) - datetime.fromisoformat(row.ended_at) < keep:
        return False
    undos = [store.runs.get(run) for run in started_undos(store, row.id)]
    half_undone = any(undo.state is not RunState.DONE for undo in undos)
    # One that is queued has begun nothing yet, and may have been told that the snapshots are there.
    half_undone |= any(r.state.is_active for r in store.runs.list(RunFilter(undo_of=row.id)))
    return not half_undone and (row.id in continued or not _stopped_half_way(store, row))


def _stopped_half_way(store: Store, row: RunFacts) -> bool:
    return row.state is not RunState.DONE and has_effect(store, row.id)


def _clean(context: Context, store: Store, row: RunFacts, *, by: str, dry: bool) -> list[Cleaned]:
    was = [entry.data.get("was", {}) for entry in store.journal.entries(row.id)]
    paths = [p for p in kept_by(row.id, context.home, was) if not _is_used(context, p)]
    found = [Cleaned(row.id, str(path), freed_bytes(path)) for path in paths]
    if found and not dry:
        # Said first: an undo that is asked for from here on is refused with this reason.
        store.audit.add(by=by, action=CLEAN, pipeline=row.pipeline, run=row.id)
        for path in paths:
            remove(path)
    return found


def _is_used(context: Context, path: Path) -> bool:
    """Return whether a registered pipeline works in that folder, whatever its name says."""
    places = [p.checkpoint for p in context.registry.pipelines if p.checkpoint]
    return any(local_path(place).is_relative_to(path) for place in places if "://" not in place)
