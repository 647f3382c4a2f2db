"""Remove restore points: a named one, or those beyond their age or size limit."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime

from headgate.errors import RefusedError
from headgate.gateway.checkpoint import points as stored
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import RestorePoint
from headgate.store import Store, open_store
from headgate.usecases.context import Context, needs_file
from headgate.usecases.restore_points.check_point import find_point
from headgate.usecases.restore_points.lock import locked


def remove_point(context: Context, pipeline: str, id: str, *, by: str) -> RestorePoint:
    """Remove one restore point and return it; RefusedError while an active run uses it."""
    needs_file(context)
    context.registered(pipeline)
    with closing(open_store(context.store_url)) as store, locked(context, pipeline):
        point = find_point(store, pipeline, id)
        if used := user(store, point):
            raise RefusedError(
                f"run {used} uses restore point {id}: wait until the run ends, or run "
                f"`headgate cancel {used}`"
            )
        store.audit.add(by=by, action="delete restore point", pipeline=pipeline, point=id)
        _remove(context, store, point)
        return point


def remove_expired(context: Context, store: Store, pipeline: Pipeline) -> tuple[RestorePoint, ...]:
    """Remove what is older than `keep`, then the oldest until `max_size` fits; return them."""
    gone = expired(context, store, pipeline)
    remove_all(context, store, gone)
    return gone


def remove_all(context: Context, store: Store, points: Iterable[RestorePoint]) -> None:
    """Remove restore points one after the other, so that a kill doesn't damage the others."""
    for point in points:
        _remove(context, store, point)


def expired(
    context: Context, store: Store, pipeline: Pipeline, *, extra: RestorePoint | None = None
) -> tuple[RestorePoint, ...]:
    """Return restore points older than `keep`, then the oldest until all fit `max_size`.

    `extra` is a restore point that will be added. The newest one is never removed, because an idle
    pipeline makes no newer one. Those that an active run uses aren't removed either.
    """
    schedule = context.registry.point_schedule(pipeline)
    kept = list(store.restore_points.of(pipeline.name))
    if extra is None:
        newest, candidates = kept[-1:], kept[:-1]
    else:
        newest, candidates = [extra], kept
    gone: list[RestorePoint] = []
    for point in candidates:
        rest = [p for p in candidates if p not in gone]
        is_old = _age_seconds(point) > schedule.keep.total_seconds()
        if not is_old and stored.distinct_bytes([*rest, *newest]) <= schedule.max_bytes:
            break
        if user(store, point) is None:
            gone.append(point)
    return tuple(gone)


def _remove(context: Context, store: Store, point: RestorePoint) -> None:
    # The document goes first: what is left of the files then belongs to no point.
    stored.remove(point, context.registry.file_systems)
    store.restore_points.remove(point.id)


def user(store: Store, point: RestorePoint) -> str | None:
    """Return an active run that uses a restore point, None if there is none."""
    runs = store.runs.touching(f"point:{point.id}")
    return next((r.id for r in runs if r.state.is_active), None)


def _age_seconds(point: RestorePoint) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(point.made_at)).total_seconds()
