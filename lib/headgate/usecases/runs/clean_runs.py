"""Remove what old runs have put aside, and nothing that an undo may still need."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.gateway.checkpoint.backups import freed_bytes, kept_by, remove
from headgate.gateway.checkpoint.folders import local_path
from headgate.store import Store, open_store
from headgate.store.rows import ACTIVE_RUNS, RunFacts, RunFilter, RunState
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN, has_effect, undo_begun
from headgate.usecases.runs.clean_checkpoint_locations import Cleaned, clean_places


def clean_between_runs(context: Context, *, by: str) -> tuple[Cleaned, ...]:
    """Do as `clean_runs` does, but nothing while a run is queued or under way."""
    with closing(open_store(context.store_url)) as store:
        if store.runs.count(ACTIVE_RUNS):
            return ()
    return clean_runs(context, by=by)


def clean_runs(context: Context, *, by: str, dry: bool = False) -> tuple[Cleaned, ...]:
    """Remove the snapshots of runs that ended longer ago than they are kept, and return them.

    A run whose snapshots are gone can't be undone any more. Those of a run stay that is under way,
    that stopped half-way and is not undone, or whose undo waits or began and has not ended. With
    `dry` nothing is removed. What is here goes before what is on remote file systems, which may
    not answer: UnreachableError.
    """
    with closing(open_store(context.store_url)) as store:
        found = []
        for row in store.runs.list():
            if _is_over(store, row, context.registry.keep_snapshots):
                found += _clean(context, store, row, by=by, dry=dry)
        keep = context.registry.keep_snapshots
        found += clean_places(
            context, store, lambda row: _is_over(store, row, keep), by=by, dry=dry
        )
        return tuple(found)


def _is_over(store: Store, row: RunFacts, keep: timedelta) -> bool:
    if row.state.is_active or row.ended_at is None:
        return False
    if datetime.now(UTC) - datetime.fromisoformat(row.ended_at) < keep:
        return False
    undos = [store.runs.get(run) for run in undo_begun(store, row.id)]
    half_undone = any(undo.state is not RunState.DONE for undo in undos)
    # One that is queued has begun nothing yet, and may have been told that the snapshots are there.
    half_undone |= any(r.state.is_active for r in store.runs.list(RunFilter(undo_of=row.id)))
    return not half_undone and not _stopped_half_way(store, row)


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
