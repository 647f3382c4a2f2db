"""Bounded run of a consumer group or a Kafka Streams application, by its registered commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.model.cluster import Group, GroupType, Topic
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.bounded import options
from headgate.reprocess.scenarios.bounded.options import (
    deleted_unread,
    end_risks,
    start_after,
    time_risks,
    unread_records,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.group_inputs import (
    OTHER_TOPICS,
    described_topology,
    input_topics,
    other_topic_blockers,
    other_topic_risks,
)
from headgate.reprocess.scenarios.shared.processed_records import (
    FIRST_RECORD_EXPIRES,
    retention_risks,
)
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import commits_of, shown
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.process.run_to_offsets import RunToOffsets
from headgate.reprocess.steps.upgrade.deploy_version import BackUpOffsets
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

_TYPES = {
    Engine.CONSUMER_GROUP: (GroupType.CLASSIC, GroupType.CONSUMER),
    Engine.KAFKA_STREAMS: (GroupType.CLASSIC, GroupType.STREAMS),
}


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, keep the offsets, run to the bound and stop, start again if asked."""
    pipeline, inspector = request.pipeline, request.inspector
    commands = pipeline.commands
    if missing := [w for w in ("start", "stop") if getattr(commands, w) is None]:
        return request.block(
            f"{pipeline.name} has no {' and no '.join(missing)} command. Register each missing "
            "command in headgate.toml"
        )
    group = inspector.kafka.group(str(pipeline.group))
    positions = {part: commit.offset for part, commit in commits_of(group).items()}
    wanted = input_topics(inspector, pipeline, request.version, group)
    topics = inspector.kafka.topics(wanted)
    run = RunToOffsets(
        pipeline=pipeline.name,
        group=group.id,
        topics=topic_facts(topics),
        start=str(commands.start),
        stop=str(commands.stop),
        has_status=commands.status is not None,
        drains=pipeline.engine is Engine.KAFKA_STREAMS,
        suspend=commands.suspend,
        reenable=commands.reenable,
        time_limit=common.at_least(request.options, "time-limit", 1, None),
        offsets=tuple(
            shown(name, part.number, positions.get((name, part.number)), part.end)
            for name, topic in sorted(topics.items())
            for part in topic.partitions
        ),
    )
    stop = common.stop_step(pipeline)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(stop, _keep(request, group, topics), run, *start_after(request, stop)),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": topic_facts(topics),
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": dict.fromkeys(sorted(topics), 0),
            "total": 0,
            "to_read": unread_records(topics, positions),
        },
        risks=(*_risks(request, group, topics, positions), *common.group_risks(group)),
        blockers=tuple(_blockers(request, group, wanted, topics)),
        options=dict(request.options),
        resources=(f"group:{group.id}",),
    )


def _keep(request: PlanRequest, group: Group, topics: Mapping[str, Topic]) -> Step:
    """Keep the offsets for an undo; not of an application, whose state no undo restores."""
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        return RecordOffsets(group=group.id)
    return BackUpOffsets(
        pipeline=request.pipeline.name,
        group=group.id,
        group_type=group.type.value,
        topics=topic_facts(topics),
    )


NEW_RECORDS_TOO = Risk(
    "until Headgate stops {pipeline} at the end of the run, {pipeline} also processes records "
    "that arrive during the run"
)
PATTERN_UNCLEAR = Risk(
    "{pipeline} subscribes to topics by pattern: {patterns}. Headgate can't evaluate this "
    "Java syntax, so the run doesn't wait for topics without committed offsets. Add all input "
    "topics to `topics` of {pipeline} in headgate.toml"
)
NO_COMMITTED_OFFSET = Risk(
    "these partitions have records, but no committed offset: {partitions}. There, {pipeline} "
    "starts at the offset that its auto.offset.reset sets. With `latest`, the run may not "
    "end: pass --time-limit",
    partitions="TOPIC[PARTITION]",
)
DELETED_UNREAD = Risk(
    "{lost}. In the affected partitions, {pipeline} starts at the offset that its "
    "auto.offset.reset sets. With `latest`, {pipeline} also skips the records that are left, "
    "and the run may not end: pass --time-limit",
    lost="Kafka has deleted up to N records of TOPIC that weren't processed",
)
OFFSETS_STAY = Risk(
    "an undo doesn't restore the old offsets, because Headgate can't restore the state stores "
    "as they were at these offsets"
)


def _risks(
    request: PlanRequest,
    group: Group,
    topics: Mapping[str, Topic],
    positions: Mapping[tuple[str, int], int],
) -> Iterator[str]:
    name = request.pipeline.name
    yield NEW_RECORDS_TOO(pipeline=name)
    if unclear := described_topology(request.pipeline, request.version, group).unclear:
        yield PATTERN_UNCLEAR(pipeline=name, patterns=name_list(unclear))
    new = [
        f"{t}[{p.number}]"
        for t, topic in sorted(topics.items())
        for p in topic.partitions
        if (t, p.number) not in positions and p.end != p.begin
    ]
    if new:
        yield NO_COMMITTED_OFFSET(partitions=name_list(new), pipeline=name)
    for lost in deleted_unread(topics, positions):
        yield DELETED_UNREAD(lost=lost, pipeline=name)
    yield from other_topic_risks(request.pipeline, group, topics)
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        yield OFFSETS_STAY()
    yield from retention_risks(request.inspector, topics, common.unread_ranges(topics, positions))
    yield from end_risks(request)
    yield from time_risks(request)


def _blockers(
    request: PlanRequest, group: Group, wanted: set[str], topics: Mapping[str, Topic]
) -> Iterator[str]:
    yield from common.topic_blockers(wanted, topics)
    yield from other_topic_blockers(request.pipeline, group, wanted)
    if not wanted:
        yield (
            f"group {group.id} has no committed offsets, and headgate.toml sets no `topics` for "
            "this pipeline. Add the input topics as `topics`"
        )
    if group.state != "dead" and group.type not in _TYPES[request.pipeline.engine]:
        yield (
            f"group {group.id} is of type {group.type}, which doesn't match engine "
            f"{request.pipeline.engine}. Check `engine` and `group` in headgate.toml"
        )


RISKS = (
    NEW_RECORDS_TOO,
    PATTERN_UNCLEAR,
    NO_COMMITTED_OFFSET,
    DELETED_UNREAD,
    OFFSETS_STAY,
    OTHER_TOPICS,
    FIRST_RECORD_EXPIRES,
    *options.RISKS,
    *common.GROUP_RISKS,
)
