"""Skip: park one poison record, or a range of one partition, and step over it."""

from __future__ import annotations

import re

from headgate.errors import ScenarioError
from headgate.model.cluster import GroupType, Topic
from headgate.model.version import Engine
from headgate.plan.plan import Plan
from headgate.plan.scenario import SUPPORTED, Asked, Option, Scenario, refused
from headgate.plan.scenarios import common
from headgate.plan.step import Step, active_reason
from headgate.plan.steps import ParkRecords, RecordOffsets, StepOver
from headgate.plan.steps.offsets import committed
from headgate.plan.steps.process import start_or_ask
from headgate.plan.steps.skip import outside
from headgate.plan.steps.topics import topic_shapes
from headgate.plan.world import Span

_FORM = re.compile(r"(?P<topic>[\w.-]+):(?P<part>\d+):(?P<first>\d+)(?:-(?P<last>\d+))?", re.ASCII)
_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS)


def build(asked: Asked) -> Plan:
    """Return the plan: stop, record, park the range, step over it, start."""
    span = _span(asked.options["records"])
    pipeline, world = asked.pipeline, asked.world
    group = world.group(str(pipeline.group))
    topics = world.topics([span.topic])
    at = committed(world, group.id).get((span.topic, span.partition))
    position = at.offset if at else None
    refusals = [
        *common.topic_refusals({span.topic}, topics),
        *_outside_log(span, topics.get(span.topic)),
    ]
    if group.type not in _TYPES or (group.state == "dead" and not group.offsets):
        refusals.append(f"there is no group {group.id} of consumers")
    elif not group.is_inactive and pipeline.commands.stop is None:
        refusals.append(active_reason(world, group.id))
    if not refusals and (reason := outside(position, span.begin, span.end)):
        refusals.append(f"{group.id} on {span.topic}[{span.partition}]: {reason}")
    if span.topic not in topics or not topics[span.topic].id:
        return asked.refuse(*refusals)
    over = StepOver(
        group=group.id,
        group_type=group.type.value,
        topics=common.topic_facts(topics),
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
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=_steps(asked, span, over),
        preconditions={
            "cluster_id": world.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": common.topic_facts(topics),
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": {span.topic: 0},
            "total": 0,
            "skipped": {span.topic: span.end - max(position or 0, span.begin)},
        },
        risks=_risks(asked, span),
        refusals=tuple(refusals),
        options=dict(asked.options),
        resources=(f"group:{group.id}",),
    )


def _steps(asked: Asked, span: Span, over: StepOver) -> tuple[Step, ...]:
    pipeline = asked.pipeline
    stop = common.stop_step(pipeline)
    shapes = topic_shapes(asked.world.shapes([span.topic]))
    park = ParkRecords(topics=shapes, only=(span,), pipeline=pipeline.name)
    steps: tuple[Step, ...] = (stop, RecordOffsets(group=over.group), park, over)
    has_commands = stop.command is not None or stop.start is not None
    return (*steps, start_or_ask(stop)) if has_commands else steps


def _span(text: str) -> Span:
    found = _FORM.fullmatch(text.strip())
    first = int(found["first"]) if found else 0
    last = int(found["last"] or first) if found else -1
    if found is None or last < first:
        raise ScenarioError(
            "--records: expected TOPIC:PARTITION:OFFSET or TOPIC:PARTITION:FIRST-LAST, as in"
            f" orders:3:17-20, found {text!r}"
        )
    return Span(topic=found["topic"], partition=int(found["part"]), begin=first, end=last + 1)


def _outside_log(span: Span, topic: Topic | None) -> list[str]:
    """Refuse a range that the partition does not hold in whole."""
    if topic is None:
        return []
    part = next((p for p in topic.partitions if p.number == span.partition), None)
    if part is None:
        return [f"{span.topic} has no partition {span.partition}"]
    if span.begin >= (part.begin or 0) and span.end <= (part.end or 0):
        return []
    return [
        f"{span.topic}[{span.partition}] holds {part.begin} to {(part.end or 0) - 1}, not"
        f" {span.begin} to {span.end - 1}"
    ]


def _risks(asked: Asked, span: Span) -> tuple[str, ...]:
    risks = [
        f"{asked.pipeline.name} never reads {span.begin} to {span.end - 1} of"
        f" {span.topic}[{span.partition}]: its results lack what they would have added",
        "the records stay where they are, so other readers meet them, too; their copy in a parking"
        " topic (headgate-parked-RUN-...) stays until you delete it, also after an undo",
        "an undo puts the group back in front of them: what it has read since comes again",
    ]
    if asked.pipeline.engine is Engine.KAFKA_STREAMS:
        risks.append(
            "state that the application had made of a part of the range before it failed stays,"
            " unless it processes exactly once"
        )
    return tuple(risks)


SCENARIO = Scenario(
    name="skip",
    title="Skip a record",
    what="Park one poison record, or a range of one partition, and go on behind it.",
    build=build,
    options=(
        Option(
            name="records",
            ask="Which records are to be skipped?",
            help="One offset, or a range of one partition, first and last included.",
            metavar="TOPIC:PARTITION:OFFSET[-LAST]",
            required=True,
        ),
    ),
    support={
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
        Engine.SPARK: refused(
            "a query plans a batch as one range of each partition, and its checkpoint holds no"
            " exceptions: a record within a planned batch can't be left out without losing what"
            " stands before it. Where the query keeps no state, from-point begins a new"
            " checkpoint behind the record; else let the new version filter it (offline-upgrade)"
        ),
    },
)
