"""Remove remote checkpoint locations that runs have created and that nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.gateway.adapters.checkpoint_location import is_created_location
from headgate.gateway.checkpoint.backups import Left, left_at, remove_backup
from headgate.gateway.files.addresses import is_remote, without_secret
from headgate.reprocess.plan import UNDO, load_plan
from headgate.reprocess.steps.checkpoint.create_remote import (
    CopyRemoteCheckpoint,
    CreateRemoteCheckpoint,
)
from headgate.reprocess.steps.checkpoint.switch_checkpoint import SwitchCheckpoint
from headgate.store import Store
from headgate.store.rows import RunFacts
from headgate.store.step_records import step_records
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN

_MAKES = (CopyRemoteCheckpoint, CreateRemoteCheckpoint, SwitchCheckpoint)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A removed location, or one that would be removed; `bytes` is the freed space."""

    run: str
    path: str
    bytes: int


def clean_locations(
    context: Context, store: Store, is_over: Callable[[RunFacts], bool], *, by: str, dry: bool
) -> Iterator[Cleaned]:
    """Yield the removed locations; only numbered locations that runs created are removed.

    A location stays if a query may use it, if a run that used it isn't over (`is_over`), or if
    something was written to it within `keep_snapshots`. The checkpoint in headgate.toml is never
    removed. Raises UnreachableError if a file system doesn't respond.
    """
    for place, run in sorted(_made(context, store).items()):
        # The run that made it is among them, unless it was planned without saying so.
        touching: dict[str, RunFacts] = {
            r.id: r for r in store.runs.touching(f"checkpoint:{place}")
        }
        touching[run] = store.runs.get(run)
        if _is_used(context, store, place) or not all(map(is_over, touching.values())):
            continue
        left = left_at(place, context.registry.file_systems)
        if left is None or not _is_quiet(context, left):
            continue
        if not dry:
            # Said first: an undo that is asked for from here on is refused with this reason.
            for row in touching.values():
                if row.undo_of is None:
                    store.audit.add(by=by, action=CLEAN, pipeline=row.pipeline, run=row.id)
            remove_backup(place, context.registry.file_systems)
        yield Cleaned(run, without_secret(place), left.bytes)


def _made(context: Context, store: Store) -> dict[str, str]:
    """Return the locations that runs have made, with the run that did it last."""
    declared = (p.declared or p.checkpoint for p in context.registry.pipelines)
    if not any(is_remote(place) for place in declared if place):
        return {}
    found: dict[str, str] = {}
    for row in reversed(store.runs.list()):
        if row.scenario == UNDO or row.state.is_active:
            continue
        records = step_records(store.journal.entries(row.id))
        plan = load_plan(store.runs.get(row.id).plan, source=f"run {row.id}")
        for position, step in enumerate(plan.steps):
            if isinstance(step, _MAKES) and position in records and records[position].begun:
                found[step.place] = row.id
    return {
        place: run for place, run in found.items() if is_created_location(place, context.registry)
    }


def _is_used(context: Context, store: Store, place: str) -> bool:
    """Whether a query is at the location or was switched to it, as the store has it now."""
    led = {one.rstrip("/") for pair in store.checkpoint_locations.all().values() for one in pair}
    return place in led or not is_created_location(place, context.registry)


def _is_quiet(context: Context, left: Left) -> bool:
    if left.written is None:
        return False
    passed = datetime.now(UTC).timestamp() - left.written / 1000
    return passed >= context.registry.keep_snapshots.total_seconds()
