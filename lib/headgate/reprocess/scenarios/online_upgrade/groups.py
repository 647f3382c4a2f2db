"""Online upgrade of a consumer group or a Kafka Streams application: two groups, one switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.deleted_records import EARLIEST_OFFSETS, earliest_offsets
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.online_upgrade.group_checks import Pair, blockers_of, risks_of
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.compared_results import comparison_of
from headgate.reprocess.scenarios.shared.group_inputs import input_topics, other_topic_risks
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.reprocess.steps.upgrade.compare_outputs import consumers_of
from headgate.reprocess.steps.upgrade.compare_versions import (
    AwaitEqualLag,
    AwaitOldVersion,
    CompareVersions,
)
from headgate.reprocess.steps.upgrade.confirm_switch import ConfirmSwitch
from headgate.reprocess.steps.upgrade.copy_offsets import CopyOffsets, SwitchOffsets
from headgate.reprocess.steps.upgrade.deploy_version import BackUpOffsets
from headgate.reprocess.steps.upgrade.shadow_topic import CreateShadowTopic, DeleteShadowTopic
from headgate.reprocess.steps.upgrade.start_with_output import StartWithOutput, StopBeside
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion

EARLIEST, COMMITTED = "earliest", "committed"
_COMPARE_SECONDS, _MOST_LAG = 60, 1000
_OWN = frozenset({"name", "id"})


def build(request: PlanRequest) -> Plan:
    """Return the plan, blocked where two versions can't run side by side."""
    new = request.inspector.processes.registered(str(request.options["new-pipeline"]))
    if new is None:
        name = request.options["new-pipeline"]
        return request.block(
            f"--new-pipeline: {name} isn't registered. Add the new version as a [[pipeline]] of "
            "its own to headgate.toml"
        )
    if new.name == request.pipeline.name:
        return request.block(
            f"--new-pipeline: {new.name} is the old version. Add the new version as a [[pipeline]] "
            "of its own to headgate.toml, and pass its name"
        )
    pair = _pair(request, new)
    topics = request.inspector.kafka.topics({*pair.inputs, pair.output})
    blockers = tuple(blockers_of(request, pair, topics))
    if not pair.inputs or pair.output not in topics or new.group is None:
        return request.block(*blockers)
    return _plan(request, pair, topics, blockers)


def _pair(request: PlanRequest, new: Pipeline) -> Pair:
    old, options = request.pipeline, request.options
    is_streams = old.engine is Engine.KAFKA_STREAMS
    inspector = request.inspector
    read = input_topics(inspector, old, request.version, inspector.kafka.group(old.group or ""))
    output = str(options["output-topic"])
    return Pair(
        old=old,
        new=new,
        inputs=tuple(sorted(read)),
        output=output,
        shadow=str(options.get("shadow-topic", f"{output}-shadow")),
        starts_earliest=is_streams and options.get("start-at", EARLIEST) == EARLIEST,
    )


def _plan(
    request: PlanRequest, pair: Pair, topics: Mapping[str, Topic], blockers: tuple[str, ...]
) -> Plan:
    inspector, old, new = request.inspector, pair.old, pair.new
    inputs = {name: topic for name, topic in topics.items() if name in pair.inputs}
    groups = [inspector.kafka.group(p.group or "") for p in (old, new)]
    return Plan(
        scenario=request.scenario,
        pipeline=old.name,
        steps=_steps(request, pair, topic_facts(inputs), groups[0].type.value),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "groups": {"old": old.group, "new": new.group},
            "topics": topic_facts(topics),
            "commands": {p.name: common.command_facts(p) for p in (old, new)},
        },
        impact={
            "consumers": _consumers(inspector, pair),
            "lag": _lag(inputs, committed(inspector, old.group or "")),
            **({EARLIEST_OFFSETS: earliest_offsets(inputs)} if pair.starts_earliest else {}),
        },
        risks=(
            *risks_of(request, pair, inputs),
            *other_topic_risks(old, groups[0], pair.inputs),
            *common.group_risks(groups[0]),
        ),
        blockers=blockers,
        options=dict(request.options),
        resources=(
            *(f"group:{p.group}" for p in (old, new)),
            f"topic:{pair.output}",
            f"topic:{pair.shadow}",
        ),
    )


def _consumers(inspector: Any, pair: Pair) -> list[str]:
    return [n for n in consumers_of(inspector, pair.output, pair.old.name) if n != pair.new.name]


def _lag(inputs: Mapping[str, Topic], at: Mapping[tuple[str, int], Any]) -> int:
    return sum(
        max((part.end or 0) - at[name, part.number].offset, 0)
        for name, topic in inputs.items()
        for part in topic.partitions
        if (name, part.number) in at
    )


def _steps(
    request: PlanRequest, pair: Pair, facts: dict[str, dict[str, Any]], group_type: str
) -> tuple[Step, ...]:
    old, new, options = pair.old, pair.new, request.options
    assert old.group is not None and new.group is not None
    both: dict[str, Any] = {
        "pipeline": old.name,
        "group": old.group,
        "new": new.name,
        "new_group": new.group,
        "topics": facts,
    }
    stop, stop_new = common.stop_step(old), common.stop_step(new)
    shape = asdict(request.inspector.kafka.shapes([pair.output])[pair.output])
    is_streams = pair.is_streams
    return (
        CreateShadowTopic(
            topic=pair.shadow,
            like=pair.output,
            shape={k: v for k, v in shape.items() if k not in _OWN},
        ),
        CopyOffsets(
            pipeline=new.name,
            group=new.group,
            source=old.group,
            topics=facts,
            earliest=pair.starts_earliest,
            application=is_streams,
        ),
        _start(stop_new, pair.shadow),
        CompareVersions(
            **both,
            sink_topic=pair.output,
            topic=pair.shadow,
            seconds=common.at_least(options, "compare-for", 0, _COMPARE_SECONDS),
            drains=is_streams,
            newest="compact" in str(shape["configs"].get("cleanup.policy", "")),
            **comparison_of(options),
        ),
        *(
            [ConfirmSwitch(pipeline=old.name, new=new.name, topic=pair.shadow)]
            if options.get("confirm-switch")
            else []
        ),
        AwaitEqualLag(**both, max_lag=common.at_least(options, "max-lag", 0, _MOST_LAG)),
        StopBeside(**{f.name: getattr(stop_new, f.name) for f in fields(stop_new)}),
        *([AwaitOldVersion(**both)] if is_streams else []),
        stop,
        BackUpOffsets(pipeline=old.name, group=old.group, group_type=group_type, topics=facts),
        SwitchOffsets(
            pipeline=new.name,
            group=new.group,
            old=old.name,
            source=old.group,
            topics=facts,
            has_state=is_streams,
        ),
        _start(stop_new, pair.output),
        VerifyVersion(pipeline=new.name, group=new.group),
        DeleteShadowTopic(topic=pair.shadow),
    )


def _start(stop: StopPipeline, output: str) -> StartWithOutput:
    return StartWithOutput(
        pipeline=stop.pipeline,
        command=stop.start or "",
        stop=stop.command,
        has_status=stop.has_status,
        group=stop.group,
        suspend=stop.suspend,
        reenable=stop.reenable,
        output=output,
    )
