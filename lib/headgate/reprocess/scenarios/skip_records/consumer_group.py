"""Skip for a consumer group or a Kafka Streams application: commit the offset after the range."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.cluster import GroupType
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.skip_records.offset_range import outside_log, read_span
from headgate.reprocess.steps.base.step import Step, active_reason, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import commits_of
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.skip_records import SkipRecords, has_no_record, outside
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.reprocess.steps.records.back_up_records import BackUpRecords
from headgate.reprocess.steps.topics.delete_topics import topic_shapes
from headgate.text.numbers import offset_range
from headgate.text.risk import Risk

_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS)


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, record, back up the range, skip it, start."""
    span = read_span(request.options["records"])
    pipeline, inspector = request.pipeline, request.inspector
    group = inspector.kafka.group(str(pipeline.group))
    topics = inspector.kafka.topics([span.topic])
    at = commits_of(group).get((span.topic, span.partition))
    position = at.offset if at else None
    blockers = [
        *common.topic_blockers({span.topic}, topics),
        *outside_log(span, topics.get(span.topic)),
    ]
    if group.type not in _TYPES or (group.state == "dead" and not group.offsets):
        blockers.append(
            f"group {group.id} isn't a consumer group, or does not exist: check "
            "`group` in headgate.toml"
        )
    elif not group.is_inactive and pipeline.commands.stop is None:
        blockers.append(active_reason(inspector, group.id))
    part, reached = (span.topic, span.partition), position
    before: tuple[str, ...] = ()
    if not blockers and has_no_record(inspector, part, position, span.begin):
        reached = span.begin
        before = (_risk_without_records(replace(span, begin=position or 0, end=span.begin)),)
    is_empty = not blockers and has_no_record(inspector, part, span.begin, span.end)
    risks = (*_risks(request, span, is_empty=is_empty), *before)
    skipped = 0 if is_empty else max(span.end - max(position or 0, span.begin), 0)
    if not blockers and (reason := outside(reached, span.begin, span.end)):
        blockers.append(f"group {group.id} on {span.topic}[{span.partition}]: {reason}")
    if span.topic not in topics or not topics[span.topic].id:
        return request.block(*blockers)
    over = SkipRecords(
        group=group.id,
        group_type=group.type.value,
        topics=topic_facts(topics),
        partition=span.partition,
        first=span.begin,
        next=span.end,
        pipeline=pipeline.name,
        offsets=(
            {
                "topic": span.topic,
                "partition": span.partition,
                "from": position,
                "to": span.end,
            },
        ),
    )
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, None if is_empty else span, over),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": topic_facts(topics),
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": {span.topic: 0},
            "total": 0,
            "skipped": {span.topic: skipped},
        },
        risks=(*risks, *common.group_risks(group)),
        blockers=tuple(blockers),
        options=dict(request.options),
        resources=(f"group:{group.id}",),
    )


def _steps(request: PlanRequest, span: Span | None, over: SkipRecords) -> tuple[Step, ...]:
    """Return the steps; `span` has the records to back up, None if there are none."""
    pipeline = request.pipeline
    stop = common.stop_step(pipeline)
    back_up: tuple[Step, ...] = ()
    if span is not None:
        shapes = topic_shapes(request.inspector.kafka.shapes([span.topic]))
        back_up = (BackUpRecords(topics=shapes, only=(span,), pipeline=pipeline.name),)
    steps: tuple[Step, ...] = (stop, RecordOffsets(group=over.group), *back_up, over)
    has_commands = stop.command is not None or stop.start is not None
    return (*steps, start_or_ask(stop)) if has_commands else steps


NOTHING_COMMITTED = Risk(
    "{topic}[{partition}] has no committed record at {offsets}: only transaction markers, or "
    "records that are aborted or compacted. The run moves past them, and backs up nothing "
    "there. Only consumers with isolation.level=read_uncommitted can miss a record",
    offsets="offsets FIRST to LAST",
)


def _risk_without_records(span: Span) -> str:
    return NOTHING_COMMITTED(
        topic=span.topic, partition=span.partition, offsets=offset_range(span.begin, span.end)
    )


UNDO_BEFORE_RANGE = Risk(
    "an undo restores the group's offset before the range. The group then reprocesses all "
    "later records"
)
SKIPPED = Risk(
    "{pipeline} skips {offsets} of {topic}[{partition}]: these records are missing from its "
    "results",
    offsets="offsets FIRST to LAST",
)
SKIPPED_STAY = Risk(
    "the skipped records stay in their topic, so other consumers still receive them. A copy "
    "stays in a backup topic (prefix headgate-backup- and the run id) until you delete it, "
    "even after an undo"
)
UNDO_REPROCESSES = Risk(
    "an undo restores the group's offset before the skipped records. The group then "
    "reprocesses the skipped records and all later records"
)
STATE_INCLUDES_EARLIER = Risk(
    "if the application failed on a record inside the range, it has already processed the "
    "earlier records of the range. The state includes these records, unless the application "
    "uses exactly-once processing"
)


def _risks(request: PlanRequest, span: Span, *, is_empty: bool) -> tuple[str, ...]:
    if is_empty:
        return (
            _risk_without_records(span),
            UNDO_BEFORE_RANGE(),
        )
    risks = [
        SKIPPED(
            pipeline=request.pipeline.name,
            offsets=offset_range(span.begin, span.end),
            topic=span.topic,
            partition=span.partition,
        ),
        SKIPPED_STAY(),
        UNDO_REPROCESSES(),
    ]
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        risks.append(STATE_INCLUDES_EARLIER())
    return tuple(risks)


RISKS = (
    NOTHING_COMMITTED,
    UNDO_BEFORE_RANGE,
    SKIPPED,
    SKIPPED_STAY,
    UNDO_REPROCESSES,
    STATE_INCLUDES_EARLIER,
    *common.GROUP_RISKS,
)
