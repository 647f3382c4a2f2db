"""From scratch for a plain consumer group: every partition's offset to the log's beginning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.cluster import Group, GroupType, Topic
from headgate.model.registry import Pipeline
from headgate.plan.plan import Plan
from headgate.plan.scenario import Asked
from headgate.plan.scenarios import common
from headgate.plan.step import Step, active_reason
from headgate.plan.steps import RecordOffsets, ResetOffsets
from headgate.plan.steps.offsets import Commit, Move, committed
from headgate.plan.steps.process import start_or_ask
from headgate.plan.world import World

_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)


def build(asked: Asked) -> Plan:
    """Return the plan: make sure that nobody is in the group, record, move, start again.

    The topics are those with a committed offset and the registered ones; every partition moves,
    also one that was never committed.
    """
    pipeline, world = asked.pipeline, asked.world
    assert pipeline.group is not None
    group = world.group(pipeline.group)
    positions = {key: c.offset for key, c in committed(world, group.id).items()}
    wanted = {topic for topic, _ in positions} | set(pipeline.topics)
    topics = world.topics(wanted)
    return Plan(
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=_steps(pipeline, group, topics, positions),
        preconditions={
            "cluster_id": world.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": common.topic_facts(topics),
            "commands": common.command_facts(pipeline),
        },
        impact=common.records_again(topics, positions),
        risks=(*common.topic_risks(topics), _twice(pipeline)),
        refusals=tuple(_refusals(pipeline, world, group, wanted, topics)),
        resources=(f"group:{group.id}",),
    )


def _steps(
    pipeline: Pipeline,
    group: Group,
    topics: Mapping[str, Topic],
    positions: Mapping[tuple[str, int], int],
) -> tuple[Step, ...]:
    stop = common.stop_step(pipeline)
    reset = ResetOffsets(
        group=group.id,
        group_type=group.type.value,
        target="beginning",
        topics=common.topic_facts(topics),
        offsets=tuple(_preview(topics, positions)),
    )
    steps: tuple[Step, ...] = (stop, RecordOffsets(group=group.id), reset)
    # Of a group that nothing here starts or stops, it is nobody's duty to start it now.
    has_commands = stop.command is not None or stop.start is not None
    return (*steps, start_or_ask(stop)) if has_commands else steps


def _preview(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> list[dict[str, Any]]:
    moves = []
    for name, topic in sorted(topics.items()):
        for part in topic.partitions:
            at = positions.get((name, part.number))
            was = Commit(offset=at) if at is not None else None
            to = Commit(offset=part.begin) if part.begin is not None else None
            moves.append(Move(topic=name, partition=part.number, was=was, to=to).shown())
    return moves


def _refusals(
    pipeline: Pipeline,
    world: World,
    group: Group,
    wanted: set[str],
    topics: Mapping[str, Topic],
) -> list[str]:
    found = common.topic_refusals(wanted, topics)
    if group.type not in _TYPES and group.state != "dead":
        return [*found, f"group {group.id} is of type {group.type}, not a consumer group"]
    if not group.is_inactive and (pipeline.commands.stop is None or group.state == "dead"):
        found.append(active_reason(world, group.id))
    if not wanted:
        found.append(f"group {group.id} has no committed offset and no topics are registered")
    return found


def _twice(pipeline: Pipeline) -> str:
    return (
        f"{pipeline.name} does again whatever it does with a record: what it writes or sends"
        " reaches its consumers a second time"
    )
