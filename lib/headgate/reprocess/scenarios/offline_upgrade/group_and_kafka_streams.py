"""Offline upgrade of a Kafka Streams application or a consumer group: its offsets are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.model.cluster import Group, GroupType
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.evidence import UpgradeVerdict
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.offline_upgrade.spark import (
    CHECK_RISKS,
    compare_step,
    deploy_step,
    gate_step,
    risks_of,
    upgrade_commands,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.internal_topics import (
    Claim,
    ClusterOwners,
    Internal,
    judge,
)
from headgate.reprocess.scenarios.shared.kafka_streams_topology import topology
from headgate.reprocess.steps.base.step import Step, active_reason, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.topics.record_topics import RecordTopics
from headgate.reprocess.steps.upgrade.deploy_version import BackUpOffsets
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion, start_version
from headgate.text.risk import Risk

_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS)


def build(request: PlanRequest, verdict: UpgradeVerdict | None) -> Plan:
    """Return the plan; a consumer group keeps no state that could be judged."""
    pipeline, inspector = request.pipeline, request.inspector
    assert pipeline.group is not None
    group = inspector.kafka.group(pipeline.group)
    topics = inspector.kafka.topics({topic for topic, _ in committed(inspector, group.id)})
    facts = topic_facts(topics)
    blockers = common.topic_blockers(set(facts), topics)
    if not group.is_inactive and (pipeline.commands.stop is None or group.state == "dead"):
        blockers.append(active_reason(inspector, group.id))
    if group.type not in _TYPES and group.state != "dead":
        blockers.append(
            f"group {group.id} is of type {group.type}. Headgate can't restore the offsets of such "
            "a group, so the upgrade can't be rolled back. Check `group` in headgate.toml"
        )
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, verdict, group, facts),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": facts,
            **({"versions": {"before": verdict.before, "after": verdict.after}} if verdict else {}),
            "commands": upgrade_commands(pipeline),
        },
        impact=_impact(verdict),
        risks=(*_risks(pipeline, verdict), *common.group_risks(group)),
        blockers=tuple(blockers),
        options=dict(request.options),
        resources=(f"group:{group.id}",),
    )


def _steps(
    request: PlanRequest,
    verdict: UpgradeVerdict | None,
    group: Group,
    facts: dict[str, dict[str, Any]],
) -> tuple[Step, ...]:
    pipeline = request.pipeline
    stop = common.stop_step(pipeline)
    gate: tuple[Step, ...] = (gate_step(request, verdict),) if verdict else ()
    look: tuple[Step, ...] = (compare_step(request, verdict, group=group.id),) if verdict else ()
    internal, loops = _written_itself(request, group)
    keep = BackUpOffsets(
        pipeline=pipeline.name,
        group=group.id,
        group_type=group.type.value,
        # The old version writes anew what follows from its inputs: back on what it passes on to
        # itself, too, it would count that a third time.
        topics={n: f for n, f in facts.items() if n not in internal and n not in loops},
    )
    own = tuple(sorted(name for name, one in internal.items() if one.claim is Claim.OWNED))
    return (
        stop,
        *gate,
        RecordOffsets(group=group.id),
        *([RecordTopics(application=group.id, topics=own)] if own else []),
        keep,
        deploy_step(request),
        start_version(stop),
        VerifyVersion(pipeline=pipeline.name, group=group.id),
        *look,
    )


def _written_itself(
    request: PlanRequest, group: Group
) -> tuple[Mapping[str, Internal], frozenset[str]]:
    """Return what looks like internal topics of an application, and its intermediate ones."""
    if request.pipeline.engine is not Engine.KAFKA_STREAMS:
        return {}, frozenset()
    inspector = request.inspector
    around = ClusterOwners(
        topics=inspector.kafka.topic_names(),
        groups=inspector.kafka.groups(),
        pipelines=inspector.processes.pipelines(),
        versions=request.others,
    )
    told = topology({}, request.version, group.id, group)
    return judge(group.id, told.internal, around), told.loops


def _impact(verdict: UpgradeVerdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    return {"verdict": verdict.outcome, "findings": list(verdict.codes)}


RECORDS_UNCHECKED = Risk(
    "{pipeline} is a consumer group: Headgate can't check whether the new code can read the "
    "records in the topics"
)
STATE_NOT_BACKED_UP = Risk(
    "local state and changelog topics are not backed up. After a rollback the old version "
    "continues with the new version's state, so records since the upgrade count twice. To "
    "rebuild the state, use from-scratch"
)
REPROCESSED_AFTER_ROLLBACK = Risk(
    "after a rollback the old version reprocesses the records since the upgrade: consumers of "
    "its results get duplicates"
)


def _risks(pipeline: Pipeline, verdict: UpgradeVerdict | None) -> Iterator[str]:
    if verdict is None:
        yield RECORDS_UNCHECKED(pipeline=pipeline.name)
    else:
        yield from risks_of(verdict)
    if pipeline.engine is Engine.KAFKA_STREAMS:
        yield STATE_NOT_BACKED_UP()
    yield REPROCESSED_AFTER_ROLLBACK()


RISKS = (
    RECORDS_UNCHECKED,
    STATE_NOT_BACKED_UP,
    REPROCESSED_AFTER_ROLLBACK,
    *CHECK_RISKS,
    *common.GROUP_RISKS,
)
