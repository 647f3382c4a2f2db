"""The restore point of a rewind, with its blockers and risks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headgate.errors import ScenarioError
from headgate.model.restore_points import LoggedBatch, RestorePoint, is_before
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.sink_replay import sink_of
from headgate.text.numbers import plural
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso, milliseconds, moment

POINT = "restore-point"
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """The batch to rewind to, and the restore point that has it; None: the checkpoint itself."""

    batch: LoggedBatch
    point: RestorePoint | None = None


def choose(
    request: PlanRequest, checkpoint: Checkpoint, batches: Sequence[LoggedBatch]
) -> Choice | str:
    """Return what a number, a time or a point means, or why there is none.

    The checkpoint's own logs come first. Points of another query id have other numbers: only who
    names one gets it.
    """
    points = kept_points(request, request.pipeline.name)
    own = own_points(request, request.pipeline.name, checkpoint, batches)
    if (id := request.options.get(POINT)) is not None:
        named = next((p for p in points if p.id == id), None)
        return Choice(named.as_batch, named) if named else _no_point(request, str(id), points)
    if not batches and not own:
        return "no batch has completed: there is nothing to rewind to"
    if (at := request.options.get("at")) is not None:
        return _at(str(at), batches, own)
    return _numbered(request, checkpoint, batches, own)


def kept_points(request: PlanRequest, pipeline: str) -> tuple[RestorePoint, ...]:
    """Return the restore points of a pipeline that have a checkpoint, oldest first."""
    return tuple(p for p in request.points(pipeline) if p.location is not None)


def own_points(
    request: PlanRequest,
    pipeline: str,
    checkpoint: Checkpoint,
    batches: Sequence[LoggedBatch],
) -> tuple[RestorePoint, ...]:
    """Return the points of the checkpoint's own query and history, oldest first.

    A rewind uses numbers again: a point with the number of a logged batch may be of another one. A
    remote checkpoint has another location after a rewind, and that is all that is known of it.
    """
    logged = {batch.number: batch for batch in batches}
    return tuple(
        p
        for p in kept_points(request, pipeline)
        if p.query_id == checkpoint.query_id
        and p.batch is not None
        and (p.batch not in logged or p.is_of(logged[p.batch]))
        and is_before(p.history, p.batch, checkpoint.history)
        and (not checkpoint.remote or p.source == checkpoint.location)
    )


def _at(at: str, batches: Sequence[LoggedBatch], own: Sequence[RestorePoint]) -> Choice | str:
    when = milliseconds(moment(at, option="at"))
    logged = [b for b in batches if b.planned_ms is not None and b.planned_ms <= when]
    if logged:
        return Choice(logged[-1])
    kept = [p for p in own if p.planned_ms is not None and p.planned_ms <= when]
    if kept:
        point = max(kept, key=lambda p: p.planned_ms or 0)
        return Choice(point.as_batch, point)
    return f"no batch was planned at or before {at}; {reach(batches, own)}"


def _numbered(
    request: PlanRequest,
    checkpoint: Checkpoint,
    batches: Sequence[LoggedBatch],
    own: Sequence[RestorePoint],
) -> Choice | str:
    number = request.options["batch"]
    if number < 0:
        raise ScenarioError(f"--batch of {request.scenario}: expected 0 or more, found {number}")
    same = next((b for b in batches if b.number == number), None)
    numbered = (p for p in reversed(own) if p.batch == number)
    point = next((p for p in numbered if same is None or p.is_of(same)), None)
    if same is not None and point is not None:
        # Spark removes state sooner than logs: then only the point has it.
        found = request.inspector.checkpoints.rewind(checkpoint.location, number)
        return Choice(same, point if found.missing else None)
    if same is not None:
        return Choice(same)
    if point is not None:
        return Choice(point.as_batch, point)
    return f"batch {number} is missing from the offset log or the commit log; {reach(batches, own)}"


def reach(batches: Sequence[LoggedBatch], points: Sequence[RestorePoint]) -> str:
    """Say what there is: the logs' batches, and the points before them."""
    said = []
    if batches:
        first, last = batches[0], batches[-1]
        at = f" ({_iso(first.planned_ms)} to {_iso(last.planned_ms)})" if first.planned_ms else ""
        said.append(f"available batches: {_ranges([b.number for b in batches])}{at}")
    if points:
        said.append(f"restore points: {_named(points)}")
    return "; ".join(said)


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges, `0 to 1, 3 to 4`; of many only the newest."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    more = len(found) - _NAMED
    shown = [" to ".join(map(str, ends)) for ends in found[-_NAMED:]]
    return ", ".join(shown) + (f" (and {plural(more, 'earlier range')})" if more > 0 else "")


def _no_point(request: PlanRequest, id: str, points: Sequence[RestorePoint]) -> str:
    name = request.pipeline.name
    if not points:
        return (
            f"{name} has no restore points. Choose a batch with --batch, or a time with --at. For "
            "restore points of later batches, set [restore_points] in headgate.toml"
        )
    return f"{name} has no restore point {id}; restore points: {_named(points)}"


def _named(points: Sequence[RestorePoint]) -> str:
    newest = [f"{p.id} (batch {p.batch})" for p in reversed(points)][:_NAMED]
    more = len(points) - len(newest)
    return ", ".join(newest) + (f" and {more} more" if more > 0 else "")


def blockers(
    request: PlanRequest, checkpoint: Checkpoint, point: RestorePoint | None
) -> Iterable[str]:
    """Yield why a point can't be used: damaged, or of another query whose numbers a sink has."""
    if point is None:
        return
    if damage := request.inspector.checkpoints.point_damage(point):
        yield (
            f"restore point {point.id} is damaged: {damage.rstrip('.')}. Choose another restore "
            "point"
        )
    sink = sink_of(request)
    if point.query_id != checkpoint.query_id and sink.is_files:
        yield (
            f"restore point {point.id} is from query {point.query_id}, but the file sink's log "
            f"(`_spark_metadata`) has batches of query {checkpoint.query_id}. Spark skips batch "
            "numbers that are in this log, so output would be lost without an error. Use "
            "from-point with --new-output --output-path FOLDER"
        )


OTHER_QUERY = Risk(
    "restore point {id} is from query {old_query_id}. Since then, the checkpoint was "
    "recreated, and it is now from query {new_query_id}. After the rewind, the next batch has "
    "number {batch}",
    batch="N",
)
VERSION_CHANGED = Risk(
    "{pipeline} changed since restore point {id} was made. With the old state, Spark may fail "
    "to start, or may write wrong results. Compare the versions with `headgate diff`"
)


def risks(
    request: PlanRequest, checkpoint: Checkpoint, point: RestorePoint | None
) -> Iterable[str]:
    """Yield what changed since the point was made."""
    if point is None:
        return
    if point.query_id != checkpoint.query_id:
        yield OTHER_QUERY(
            id=point.id,
            old_query_id=point.query_id,
            new_query_id=checkpoint.query_id,
            batch=(point.batch or 0) + 1,
        )
    if _has_changed(request, point):
        name = request.pipeline.name
        yield VERSION_CHANGED(pipeline=name, id=point.id)


def _has_changed(request: PlanRequest, point: RestorePoint) -> bool:
    if point.fingerprint is None or request.version is None:
        return False
    # Imported here: hardly a plan is one to a restore point.
    from headgate.parse.evidence.version_file import fingerprint

    return fingerprint(request.version) != point.fingerprint


def _iso(at: int | None) -> str | None:
    return iso(from_milliseconds(at)) if at else None


RISKS = (
    OTHER_QUERY,
    VERSION_CHANGED,
)
