"""Make restore points that are due, remove expired ones, and verify new ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

from headgate.errors import HeadgateError, ScenarioError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import verified_word
from headgate.store import Store, open_store
from headgate.text.numbers import size
from headgate.usecases.context import Context
from headgate.usecases.restore_points.check_point import check_next
from headgate.usecases.restore_points.lock import locked
from headgate.usecases.restore_points.make_point import make_point
from headgate.usecases.restore_points.remove_points import remove_expired

# A try that failed is repeated at the next commits, not only when the next point is due.
_RETRY = timedelta(seconds=60)


def make_due_points(context: Context) -> Iterator[str]:
    """Make the restore points that are due; yield a sentence for each new one and each error."""
    for pipeline in context.registry.pipelines:
        if context.registry.point_schedule(pipeline).every is None:
            continue
        try:
            yield from _one(context, pipeline)
        except ScenarioError:
            # Nothing to keep yet: the pipeline has not run.
            continue
        except HeadgateError as error:
            yield f"could not make a restore point of {pipeline.name}: {error}"


def check_due_points(context: Context) -> Iterator[str]:
    """Verify each pipeline's newest restore point if it is unverified: Spark reads all state."""
    for pipeline in context.registry.pipelines:
        try:
            checked = check_next(context, pipeline.name)
        except HeadgateError as error:
            yield f"could not check a restore point of {pipeline.name}: {error}"
            continue
        if checked is not None:
            point, found = checked
            said = found.problem or verified_word(found.rows)
            yield f"restore point {point} of {pipeline.name}: {said}"


def _one(context: Context, pipeline: Pipeline) -> Iterator[str]:
    with closing(open_store(context.store_url)) as store:
        if not _is_due(context, store, pipeline):
            return
        before = {p.id for p in store.restore_points.of(pipeline.name)}
        point = make_point(context, pipeline.name)
        if point.id not in before:
            at = f"batch {point.batch}, {size(point.bytes)}" if point.location else "offsets"
            yield f"restore point {point.id} of {pipeline.name}: {at}, {point.seconds:.1f} s"
        with locked(context, pipeline.name):
            for gone in remove_expired(context, store, pipeline):
                yield f"restore point {gone.id} of {pipeline.name} expired"


def _is_due(context: Context, store: Store, pipeline: Pipeline) -> bool:
    every = context.registry.point_schedule(pipeline).every
    assert every is not None
    tried = store.restore_points.tries().get(pipeline.name)
    if tried is None:
        return True
    wait = min(every, _RETRY) if tried.error else every
    return datetime.now(UTC) - datetime.fromisoformat(tried.at) >= wait
