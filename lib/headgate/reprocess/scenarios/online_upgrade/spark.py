"""Online upgrade of a Spark query that writes to a Kafka topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Effects
from headgate.model.spark_settings import DEFAULT_RETAINED, RETAINED
from headgate.model.version import Sink
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.evidence import UpgradeVerdict, read_fail_on
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.offline_upgrade.spark import (
    CHECK_RISKS,
    compare_step,
    deploy_step,
    risks_of,
    upgrade_commands,
)
from headgate.reprocess.scenarios.online_upgrade.group_checks import DIFFERENCES_ALLOWED
from headgate.reprocess.scenarios.online_upgrade.output_schema import (
    SCHEMA_RISKS,
    OutputSchema,
    output_schema,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.compared_results import comparison_of
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.upgrade.check_production import CheckProduction
from headgate.reprocess.steps.upgrade.compare_outputs import CompareOutputs, consumers_of
from headgate.reprocess.steps.upgrade.confirm_switch import CONFIRM
from headgate.reprocess.steps.upgrade.run_beside import CATCH_UP, COMPARE, SWITCH, RunBeside
from headgate.reprocess.steps.upgrade.shadow_topic import CreateShadowTopic, DeleteShadowTopic
from headgate.reprocess.steps.upgrade.stage_checkpoint import StageCheckpoint, SwapStagedCheckpoint
from headgate.reprocess.steps.upgrade.verify_switch import VerifySwitch
from headgate.reprocess.steps.upgrade.verify_version import start_version
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk

_COMPARE_SECONDS, _MOST_LAG = 60, 10


def build(request: PlanRequest, verdict: UpgradeVerdict) -> Plan:
    """Return the plan for a verdict that doesn't fail the check."""
    pipeline, inspector = request.pipeline, request.inspector
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    position = (
        inspector.checkpoints.query_position(pipeline.checkpoint) if pipeline.checkpoint else None
    )
    if found is None or position is None:
        return request.block(common.no_checkpoint(pipeline))
    blockers = [*_sink_blockers(request), *_checkpoint_blockers(found, position)]
    if blockers:
        return request.block(*blockers)
    sink = _sink_topic(request)
    topics = inspector.kafka.topics({sink, *found.offsets})
    if blockers := common.topic_blockers({sink, *found.offsets}, topics):
        return request.block(*blockers)
    return _plan(request, verdict, found, topics)


def _plan(
    request: PlanRequest, verdict: UpgradeVerdict, found: Checkpoint, topics: Mapping[str, Topic]
) -> Plan:
    pipeline, inspector = request.pipeline, request.inspector
    sink = _sink_topic(request)
    facts = topic_facts(topics)
    shadow = str(request.options.get("shadow-topic", f"{sink}-shadow"))
    consumers = consumers_of(inspector, sink, pipeline.name)
    assert request.version is not None
    new, old = verdict.sink or Sink(), request.version.sink
    schema = output_schema(inspector, sink, shadow, consumers, new, old)
    blockers = [*schema.blockers(), *_lag_blockers(request)]
    if inspector.kafka.shapes([shadow]):
        blockers.append(
            f"topic {shadow} already exists. Delete it if no consumer needs it, or choose another "
            "topic with --shadow-topic"
        )
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, verdict, found, facts[sink], shadow),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "topics": facts,
            "versions": {"before": verdict.before, "after": verdict.after},
            "commands": upgrade_commands(pipeline),
            "master": inspector.spark_jobs.master(),
        },
        impact={
            "verdict": verdict.outcome,
            "findings": list(verdict.codes),
            "consumers": consumers,
            "snapshot": asdict(inspector.checkpoints.snapshot_size(found.location)),
        },
        risks=(*risks_of(verdict), *_risks(request, sink, schema)),
        blockers=tuple(blockers),
        resources=(f"checkpoint:{found.location}", f"topic:{sink}", f"topic:{shadow}"),
    )


def _lag_blockers(request: PlanRequest) -> Iterator[str]:
    """Refuse a lag beyond the batches that Spark retains: the new version couldn't repeat them."""
    settings = request.version.settings if request.version is not None else {}
    text = settings.get(RETAINED, "")
    retained = int(text) if text.isdecimal() else DEFAULT_RETAINED
    most = common.at_least(request.options, "max-lag", 0, _MOST_LAG)
    if most >= retained:
        yield (
            f"the new version may lag {plural(most, 'batch')} behind, but Spark retains "
            f"only {retained} ({RETAINED}), and the new version repeats the batches of the running "
            "version. Pass a smaller --max-lag"
        )


def _steps(
    request: PlanRequest,
    verdict: UpgradeVerdict,
    found: Checkpoint,
    sink_facts: dict[str, Any],
    shadow: str,
) -> tuple[Step, ...]:
    pipeline, options = request.pipeline, request.options
    sink = _sink_topic(request)
    what = {
        "pipeline": pipeline.name,
        "checkpoint": found.location,
        "query_id": found.query_id,
    }
    seconds = common.at_least(options, "compare-for", 0, _COMPARE_SECONDS)
    max_lag = common.at_least(options, "max-lag", 0, _MOST_LAG)
    stop = common.stop_step(pipeline, checkpoint=found.location)
    shape = asdict(request.inspector.kafka.shapes([sink])[sink])
    return (
        CreateShadowTopic(
            topic=shadow, like=sink, shape={k: v for k, v in shape.items() if k not in _OWN}
        ),
        StageCheckpoint(**what, topic=sink),
        _beside(request, what, shadow, COMPARE, seconds=seconds),
        CompareOutputs(
            pipeline=pipeline.name,
            sink_topic=sink,
            topic=shadow,
            **comparison_of(options),
        ),
        *(
            [_beside(request, what, shadow, CONFIRM, max_lag=max_lag)]
            if options.get("confirm-switch")
            else []
        ),
        _beside(request, what, shadow, CATCH_UP, max_lag=max_lag),
        CheckProduction(
            **what,
            sink_topic=sink,
            sink=sink_facts,
            after=options["after"],
            before=options.get("before"),
            fail_on=read_fail_on(options.get("fail-on")),
            running=verdict.before,
            version=verdict.after,
            approved=verdict.codes,
        ),
        stop,
        _beside(request, what, shadow, SWITCH),
        SwapStagedCheckpoint(**what),
        deploy_step(request),
        start_version(stop),
        VerifySwitch(**what),
        compare_step(request, verdict, found.location, found.query_id),
        DeleteShadowTopic(topic=shadow),
    )


_OWN = frozenset({"name", "id"})


def _beside(
    request: PlanRequest,
    what: dict[str, str],
    shadow: str,
    goal: str,
    *,
    seconds: int = 0,
    max_lag: int = 0,
) -> RunBeside:
    return RunBeside(
        **what,
        entry_point=request.options["after"],
        topic=shadow,
        sink_topic=_sink_topic(request),
        goal=goal,
        seconds=seconds,
        max_lag=max_lag,
    )


def _sink_topic(request: PlanRequest) -> str:
    assert request.version is not None and request.version.sink is not None
    return str(request.version.sink.place)


def _sink_blockers(request: PlanRequest) -> Iterator[str]:
    sink = request.version.sink if request.version else None
    if sink is None or sink.format is None:
        yield (
            "Headgate doesn't know where the running version writes. Store a version with its "
            f"sink: `headgate capture MODULE:FUNCTION --pipeline {request.pipeline.name}`"
        )
    elif sink.format != "kafka":
        yield (
            f"the sink of {request.pipeline.name} has the format {sink.format}. An online upgrade "
            "needs a Kafka topic as the sink. Use offline-upgrade"
        )
    elif not sink.place:
        yield (
            f"{request.pipeline.name} sets no `topic` option on its sink, so it may write to "
            "several topics. Set the option, or use offline-upgrade"
        )
    else:
        yield from _key_blockers(request, sink)


def _key_blockers(request: PlanRequest, sink: Sink) -> Iterator[str]:
    """Block keys that the stored version's JSON values don't have, if their fields are known."""
    for payload in sink.payloads:
        if payload.column != "value" or payload.writer != "to_json" or payload.schema is None:
            continue
        known = [field.name for field in payload.schema.fields]
        taken = {name.casefold() for name in (*known, "key")}
        wrong = [key for key in request.options["keys"] if key.casefold() not in taken]
        if wrong:
            yield (
                f"--keys: columns not found in the results: {name_list(wrong)}. The results have "
                f"{name_list(known)}"
            )


def _checkpoint_blockers(found: Checkpoint, position: QueryPosition) -> Iterator[str]:
    if found.fixed:
        other = ". Use offline-upgrade" if found.remote else ""
        yield f"Headgate can't replace checkpoint {found.location}: {found.fixed}{other}"
    others = [f"source {s.name}" for s in position.sources if s.kind is not SourceKind.KAFKA]
    if others:
        yield (
            f"the query has sources that aren't Kafka: {name_list(others)}. The new version "
            "can't read the same batches from them. Use offline-upgrade"
        )
    if position.batch is None:
        yield f"no batch of checkpoint {found.location} has completed. Start the query first"


RUNS_BESIDE = Risk(
    "the new version {entry_point} runs beside {pipeline}, with the worker's credentials and "
    "the settings under [spark] in headgate.toml",
    entry_point="MODULE:FUNCTION",
)
EFFECTS_TWICE = Risk(
    "both versions run until the switch. Side effects of {entry_point}, such as HTTP calls, "
    "happen twice. Writes to its output topic don't",
    entry_point="MODULE:FUNCTION",
)
PAUSE_AT_SWITCH = Risk(
    "between the stop and the start of {pipeline}, the query processes no records. This takes "
    "as long as a start of Spark and a few batches. No record is lost"
)
INTERRUPTED_BATCH = Risk(
    "if the stop interrupts a batch, its results may be in {topic} twice. Use a stop command "
    "that stops between two batches"
)
OTHER_PRODUCERS = Risk(
    "if other producers also write to {topic}, the comparison reports their records as differences"
)
WRITTEN_TWICE_AFTER_ROLLBACK = Risk(
    "after a rollback, the old version reprocesses the records since the switch. {topic} gets "
    "their results a second time"
)


def _risks(request: PlanRequest, sink: str, schema: OutputSchema) -> Iterator[str]:
    name, after = request.pipeline.name, request.options["after"]
    yield RUNS_BESIDE(entry_point=after, pipeline=name)
    if request.pipeline.effects is not Effects.IDEMPOTENT:
        yield EFFECTS_TWICE(entry_point=after)
    yield PAUSE_AT_SWITCH(pipeline=name)
    yield INTERRUPTED_BATCH(topic=sink)
    yield OTHER_PRODUCERS(topic=sink)
    yield from schema.risks()
    if request.options.get("allow-differences"):
        yield DIFFERENCES_ALLOWED()
    yield WRITTEN_TWICE_AFTER_ROLLBACK(topic=sink)


RISKS = (
    *CHECK_RISKS,
    RUNS_BESIDE,
    EFFECTS_TWICE,
    PAUSE_AT_SWITCH,
    INTERRUPTED_BATCH,
    OTHER_PRODUCERS,
    *SCHEMA_RISKS,
    DIFFERENCES_ALLOWED,
    WRITTEN_TWICE_AFTER_ROLLBACK,
)
