"""Decommission a consumer group: delete the group with its offsets, and keep the topics."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import Group, GroupType
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import active_reason
from headgate.reprocess.steps.offsets.delete_group import DeleteGroup
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

_CONSUMERS = (GroupType.CLASSIC, GroupType.CONSUMER)
DELETABLE = (*_CONSUMERS, GroupType.STREAMS)


INPUTS_KEPT = Risk("input topics are kept: {topics}")


def build(request: PlanRequest) -> Plan:
    """Return the plan: verify that the group has no members, record its offsets, delete it."""
    pipeline, inspector = request.pipeline, request.inspector
    group = inspector.kafka.group(str(pipeline.group))
    blockers = list(group_blockers(request, group))
    if group.state != "dead" and group.type not in _CONSUMERS:
        blockers.append(
            f"group {group.id} is of type {group.type}, not a consumer group: check "
            "`engine` and `group` in headgate.toml"
        )
    topics = {o.topic for o in group.offsets} | set(pipeline.topics)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(
            common.stop_step(pipeline),
            RecordOffsets(group=group.id),
            DeleteGroup(group=group.id, group_type=group.type.value, pipeline=pipeline.name),
        ),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": {},
            "total": 0,
            "left_alone": dict.fromkeys(sorted(topics), "an input topic"),
        },
        risks=(
            *([INPUTS_KEPT(topics=name_list(topics))] if topics else []),
            *common.group_risks(group),
        ),
        blockers=tuple(blockers),
        options=dict(request.options),
        resources=(f"group:{group.id}",),
    )


def group_blockers(request: PlanRequest, group: Group) -> Iterator[str]:
    """Refuse a group that is missing, that somebody is in, or that two pipelines share."""
    if group.state == "dead":
        yield (
            f"group {group.id} not found, or not visible to Headgate: check `group` in "
            "headgate.toml. If Kafka has already removed the group, there is nothing to "
            "decommission"
        )
    elif not group.is_inactive:
        yield active_reason(request.inspector, group.id)
    yield from running(request)
    yield from shared_group(request, group)


def shared_group(request: PlanRequest, group: Group) -> Iterator[str]:
    """Refuse a group that another registered pipeline has, too."""
    pipeline, inspector = request.pipeline, request.inspector
    for other in inspector.processes.pipelines():
        if other.name != pipeline.name and other.group == group.id:
            yield (
                f"{other.name} and {pipeline.name} are registered with the same group {group.id}, "
                "so Headgate doesn't delete the group: remove one of the two pipelines from "
                "headgate.toml"
            )


def running(request: PlanRequest) -> Iterator[str]:
    """Refuse what runs: to decommission is for what has been stopped for good."""
    pipeline, inspector = request.pipeline, request.inspector
    if pipeline.commands.status is None:
        return
    status = inspector.processes.status(pipeline.name)
    if status is not Status.STOPPED:
        state = f"{pipeline.name} may still run (status: {status.word})"
        if status is Status.RUNS:
            state = f"{pipeline.name} runs"
        yield f"{state}: stop the pipeline first, then decommission it"


RISKS = (
    INPUTS_KEPT,
    *common.GROUP_RISKS,
)
