"""Verify a restore point: its files exist with their sizes, and Spark can read its state."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import NotFoundError, RefusedError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.state import StateAdapter
from headgate.gateway.checkpoint import points as stored
from headgate.gateway.checkpoint.folders import remove_tree
from headgate.model.restore_points import PointCheck, RestorePoint
from headgate.store import Store, open_store
from headgate.store.clock import now
from headgate.usecases.context import Context


def check_next(context: Context, pipeline: str) -> tuple[str, PointCheck] | None:
    """Verify the newest restore point if it isn't verified; return its id and the result, or None.

    Older restore points are verified only on request, because each verification starts Spark.
    """
    with closing(open_store(context.store_url)) as store:
        points = [p for p in store.restore_points.of(pipeline) if p.location is not None]
        if not points or points[-1].id in store.restore_points.checks(pipeline):
            return None
    return points[-1].id, check_point(context, points[-1])


def check_point(context: Context, point: RestorePoint) -> PointCheck:
    """Verify a restore point now; record and return the result.

    If Spark can't be started, the restore point stays unverified, because the cause is this
    machine.
    """
    problem, rows = stored.damage(point, context.registry.file_systems), None
    if point.location is None:
        # It has no state that could be unreadable.
        rows = 0
    if problem is None and point.location is not None and point.batch is not None:
        work = RunContext(
            registry=context.registry, home=context.home, run=f"restore-point-{point.id}"
        )
        try:
            found = StateAdapter(work).read(point.location, point.batch)
            counts = [store.rows for store in found]
            rows = None if None in counts else sum(n for n in counts if n is not None)
        except RefusedError as error:
            problem = str(error)
        finally:
            remove_tree(work.run_folder)
    with closing(open_store(context.store_url)) as store:
        store.restore_points.checked(point.id, problem=problem, rows=rows)
    return PointCheck(at=now(), problem=problem, rows=rows)


def check_named(context: Context, pipeline: str, id: str) -> PointCheck:
    """Verify the restore point with this id; NotFoundError if the pipeline doesn't have it."""
    context.registered(pipeline)
    with closing(open_store(context.store_url)) as store:
        return check_point(context, find_point(store, pipeline, id))


def find_point(store: Store, pipeline: str, id: str) -> RestorePoint:
    """Return the restore point with this id; NotFoundError if the pipeline doesn't have it."""
    found = next((p for p in store.restore_points.of(pipeline) if p.id == id), None)
    if found is None:
        raise NotFoundError(
            f"{pipeline} has no restore point {id}: `headgate restore-points {pipeline}` "
            "lists all restore points"
        )
    return found
