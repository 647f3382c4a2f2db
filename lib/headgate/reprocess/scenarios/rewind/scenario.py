"""Rewind: restore the offsets and the state of a query at the end of an earlier batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from headgate.model.restore_points import LoggedBatch, RestorePoint, Rewind, skipped_after
from headgate.model.version import Engine
from headgate.reprocess import remote_checkpoint
from headgate.reprocess.conditions import BATCH_DONE, CHECKPOINT, COPIES_STATE
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.rewind import inputs, points
from headgate.reprocess.scenarios.rewind.inputs import Inputs, read_inputs
from headgate.reprocess.scenarios.rewind.points import POINT, Choice, choose
from headgate.reprocess.scenarios.rewind.points import blockers as point_blockers
from headgate.reprocess.scenarios.rewind.points import risks as point_risks
from headgate.reprocess.scenarios.shared import common, sink_replay
from headgate.reprocess.scenarios.shared.chain_offer import DOWNSTREAM_DUPLICATES
from headgate.reprocess.scenarios.shared.recreated_topics import known_topics
from headgate.reprocess.scenarios.shared.sink_replay import SINKS, SinkPlan, plan_sink
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.create_remote import CopyRemoteCheckpoint, ReadRemoteState
from headgate.reprocess.steps.checkpoint.rewind import CopyToBatch, ReadState, SwapCheckpoint
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso

_WHEN = "batch"


@dataclass(frozen=True, slots=True)
class _Found:
    """What the plan is made of: the checkpoint, the batch, and what was seen around both."""

    checkpoint: Checkpoint
    batch: LoggedBatch
    rewind: Rewind
    inputs: Inputs
    sink: SinkPlan
    point: RestorePoint | None = None


def build(request: PlanRequest, *, reads_all: bool = True) -> Plan:
    """Return the plan: stop, copy to the batch, read the state, cut the sink, change, start.

    A time becomes the batch or the restore point that it means, so that the plan stays the same.
    `reads_all`: the query then reads all records after the batch. In a chain it may skip some.
    """
    pipeline, inspector = request.pipeline, request.inspector
    checkpoint = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    if checkpoint is None:
        return request.block(common.no_checkpoint(pipeline))
    batches = inspector.checkpoints.batches(checkpoint.location)
    chosen = choose(request, checkpoint, batches)
    if isinstance(chosen, str):
        return request.block(chosen)
    batch, point = chosen.batch, chosen.point
    request = replace(request, options=_resolved(request, chosen))
    later = next((b.planned_ms for b in batches if b.number == batch.number + 1), None)
    last = checkpoint.last_offset_batch or batch.number
    rewind = inspector.checkpoints.rewind(
        checkpoint.location, batch.number, point.location if point else None
    )
    found = _Found(
        checkpoint=checkpoint,
        batch=batch,
        rewind=rewind,
        inputs=read_inputs(
            inspector,
            checkpoint,
            batch,
            batches,
            rewind.input_files,
            known_topics(request.version, point),
        ),
        sink=plan_sink(
            request,
            batch.number,
            max(last, batch.number),
            since=later or (point.committed_ms if point else None),
            point=point,
        ),
        point=point,
    )
    return _plan(request, found, reads_all=reads_all)


def _resolved(request: PlanRequest, chosen: Choice) -> dict[str, Any]:
    kept = {k: v for k, v in request.options.items() if k not in ("at", "batch", POINT)}
    if chosen.point is not None:
        return kept | {POINT: chosen.point.id}
    return kept | {"batch": chosen.batch.number}


def _plan(request: PlanRequest, found: _Found, *, reads_all: bool) -> Plan:
    pipeline, at = request.pipeline, found.checkpoint
    place = remote_checkpoint.new_place(request.inspector, pipeline) if at.remote else None
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps_elsewhere(request, found, place) if place else _steps(request, found),
        preconditions={
            **found.inputs.facts,
            "batch": _ends(found.batch),
            "checkpoint": {"location": at.location, "query_id": at.query_id},
            "commands": common.command_facts(pipeline),
            **({"restore_point": found.point.location} if found.point else {}),
        },
        impact={
            "records": found.inputs.again,
            "total": sum(found.inputs.again.values()),
            "uncounted": found.inputs.uncounted,
            "input_files": found.rewind.input_files,
            "batches": max((at.last_offset_batch or 0) - found.batch.number, 0),
            # The copy links the state: what takes room is what the query writes anew.
            "snapshot": {
                "files": found.rewind.files,
                "bytes": found.rewind.size,
                "copied": found.rewind.size if at.remote else 0,
            },
        },
        risks=(
            *_risks(request, found, reads_all=reads_all),
            *(remote_checkpoint.risks(pipeline, at, place) if place else ()),
        ),
        blockers=tuple(_blockers(request, found)),
        options=dict(request.options),
        resources=(
            *(f"checkpoint:{p}" for p in (at.location, place) if p),
            *found.sink.resources,
            *((f"point:{found.point.id}",) if found.point else ()),
        ),
    )


def _steps(request: PlanRequest, found: _Found) -> tuple[Step, ...]:
    pipeline, at, batch = request.pipeline, found.checkpoint, found.batch
    stop = common.stop_step(pipeline, checkpoint=at.location)
    what: dict[str, Any] = {
        "pipeline": pipeline.name,
        "checkpoint": at.location,
        "query_id": at.query_id,
        "batch": batch.number,
    }
    copy = CopyToBatch(
        **what,
        planned_at=_iso(batch.planned_ms),
        committed_at=_iso(batch.committed_ms),
        watermark=_iso(batch.watermark_ms),
        last=at.last_offset_batch,
        input_files=found.rewind.input_files,
        offsets=tuple(_moves(at, batch)),
        new_query_id=found.sink.new_query_id,
        files=found.rewind.files,
        bytes=found.rewind.size,
        **_of_point(found),
    )
    read = ReadState(
        checkpoint=at.location,
        batch=batch.number,
        point_location=found.point.location if found.point else None,
    )
    return (
        stop,
        copy,
        *((read,) if found.rewind.stores else ()),
        *found.sink.steps,
        SwapCheckpoint(**what),
        start_or_ask(stop, fresh=bool(sum(found.inputs.again.values()))),
    )


def _steps_elsewhere(request: PlanRequest, found: _Found, place: str) -> tuple[Step, ...]:
    at, batch = found.checkpoint, found.batch
    stop = common.stop_step(request.pipeline, checkpoint=at.location)
    copy = CopyRemoteCheckpoint(
        pipeline=request.pipeline.name,
        checkpoint=at.location,
        query_id=at.query_id,
        place=place,
        batch=batch.number,
        new_query_id=found.sink.new_query_id,
        at=f"planned {planned}" if (planned := _iso(batch.planned_ms)) else None,
        offsets=tuple(_moves(at, batch)),
        bytes=found.rewind.size,
        files=found.rewind.files,
        **_of_point(found),
    )
    read = ReadRemoteState(place=place, batch=batch.number)
    again = bool(sum(found.inputs.again.values()))
    return (
        stop,
        copy,
        *((read,) if found.rewind.stores else ()),
        *found.sink.steps,
        *remote_checkpoint.switch_and_start(stop, at, place, fresh=again, made=True),
    )


def _of_point(found: _Found) -> dict[str, Any]:
    if found.point is None:
        return {}
    return {"point": found.point.id, "point_location": found.point.location}


def _moves(at: Checkpoint, batch: LoggedBatch) -> Iterator[dict[str, Any]]:
    """Yield each partition with where the query is and where the batch ended."""
    for topic, parts in sorted(batch.offsets.items()):
        for number, offset in sorted(parts.items()):
            now = at.offsets.get(topic, {}).get(number)
            yield {"topic": topic, "partition": number, "from": now, "to": offset}


def _ends(batch: LoggedBatch) -> dict[str, dict[str, int]]:
    return {t: {str(p): o for p, o in sorted(ps.items())} for t, ps in batch.offsets.items()}


def _blockers(request: PlanRequest, found: _Found) -> list[str]:
    at, batch = found.checkpoint, found.batch
    blockers = [*common.must_be_stopped(request.pipeline, request.inspector)]
    blockers += common.shared_checkpoint(request.pipeline, request.inspector)
    if batch.number == at.last_offset_batch and _is_same_query(found):
        blockers.append(
            f"batch {batch.number} is the last batch, so there is nothing to rewind. Choose an "
            "earlier batch"
        )
    if at.remote:
        blockers += remote_checkpoint.blockers(request.pipeline)
    elif at.fixed:
        blockers.append(f"Headgate can't replace checkpoint {at.location}: {at.fixed}")
    if missing := found.rewind.missing:
        blockers.append(
            f"Headgate can't rewind to batch {batch.number}: {'; '.join(missing)}. Choose another "
            "batch or a restore point"
        )
    if lost := found.rewind.lost_inputs:
        blockers.append(
            f"{len(lost)} of {found.rewind.input_files} input files of later batches no longer "
            f"exist, such as {lost[0]}. Their records would be missing. Choose a later batch"
        )
    blockers += point_blockers(request, at, found.point)
    return [*blockers, *found.inputs.blockers, *found.sink.blockers]


def _is_same_query(found: _Found) -> bool:
    return found.point is None or found.point.query_id == found.checkpoint.query_id


SKIPPED_BEFORE = Risk(
    "an earlier run skipped records after batch {batch}. After the rewind, {pipeline} "
    "processes these records",
    batch="N",
)
COPIED_CHECKPOINT = Risk(
    "checkpoint {location} is a copy: its state metadata points to the schema files of "
    "{other_location}. The run corrects these paths"
)
NO_STATUS_COMMAND = Risk(
    "{pipeline} has no status command: only new batches in the checkpoint show whether the "
    "query runs. Register a status command. If the Spark session stays open after the query "
    "has stopped, the session may still write to the old state for a minute: stop the whole "
    "application"
)


def _risks(request: PlanRequest, found: _Found, *, reads_all: bool) -> list[str]:
    risks = [*found.inputs.risks, *found.sink.risks]
    if reads_all:
        risks += common.catch_up_risks(request.version, found.inputs.unread)
    risks += point_risks(request, found.checkpoint, found.point)
    point = found.point.history if found.point else None
    if skipped_after(found.checkpoint.history, point, found.batch.number):
        risks.append(SKIPPED_BEFORE(batch=found.batch.number, pipeline=request.pipeline.name))
    if found.rewind.foreign_schema_files:
        risks.append(
            COPIED_CHECKPOINT(
                location=found.checkpoint.location,
                other_location=found.rewind.foreign_schema_files[0],
            )
        )
    if request.pipeline.commands.status is None:
        risks.append(NO_STATUS_COMMAND(pipeline=request.pipeline.name))
    return risks


def _iso(at: int | None) -> str | None:
    return iso(from_milliseconds(at)) if at else None


OPTIONS = (
    Option(
        name="batch",
        ask="Last batch to keep",
        help="Number of the last batch to keep; all later batches are reprocessed.",
        kind=Kind.NUMBER,
        metavar="N",
        one_of=_WHEN,
        required=True,
    ),
    Option(
        name="at",
        ask="Time to rewind to",
        help="Rewind to the last batch that was planned at or before this time (default zone: "
        "UTC).",
        metavar="TIME",
        one_of=_WHEN,
        required=True,
    ),
    Option(
        name=POINT,
        ask="Restore point",
        help="Id of the restore point to rewind to; `headgate restore-points` lists the ids.",
        metavar="ID",
        one_of=_WHEN,
        required=True,
    ),
    Option(
        name="sink",
        ask="Sink",
        help="Sink of the query; `other` is any sink that writes a repeated batch again. Needed "
        "only if no stored version shows the sink.",
        kind=Kind.CHOICE,
        choices=SINKS,
    ),
    Option(
        name="sink-path",
        ask="Folder or topic of the sink",
        help=(
            "Folder of a file sink (relative to headgate.toml) or topic of a Kafka sink. Needed "
            "only if no stored version shows it."
        ),
        metavar="FOLDER|TOPIC",
    ),
    Option(
        name="new-query-id",
        ask="Give the query a new id",
        help=(
            "Give the query a new id, so that sinks such as Delta don't skip its reprocessed "
            "batches."
        ),
        kind=Kind.FLAG,
    ),
)

SCENARIO = Scenario(
    name="rewind",
    title="Rewind to an earlier batch",
    short="Rewind offsets and state to an earlier batch.",
    what="Rewind offsets and state to the end of an earlier batch.",
    build=build,
    steps=(
        "stop_pipeline",
        "copy_to_batch",
        "read_state",
        "swap_checkpoint",
        "copy_remote_checkpoint",
        "read_remote_state",
        "cut_sink_log",
        "record_output",
        "switch_checkpoint",
        "start_at_checkpoint",
        "start_pipeline",
        "manual_step",
    ),
    risks=lambda: (
        *inputs.RISKS,
        *sink_replay.RISKS,
        *common.CATCH_UP_RISKS,
        *points.RISKS,
        SKIPPED_BEFORE,
        COPIED_CHECKPOINT,
        NO_STATUS_COMMAND,
        *remote_checkpoint.RISKS,
        DOWNSTREAM_DUPLICATES,
    ),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(CHECKPOINT, BATCH_DONE, COPIES_STATE),
        Engine.CONSUMER_GROUP: refused(
            "a consumer group has no old state to rewind to: Kafka keeps only its newest offsets. "
            "Use from-point or from-scratch"
        ),
        Engine.KAFKA_STREAMS: refused(
            "a Kafka Streams application has no old state to rewind to: stores and changelogs hold "
            "only the newest value of a key. Use from-point or from-scratch"
        ),
    },
)
