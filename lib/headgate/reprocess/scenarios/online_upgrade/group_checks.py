"""Blockers and risks of two versions that run side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headgate.model.cluster import GroupType, Topic
from headgate.model.registered_pipelines import Effects, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.online_upgrade.output_schema import (
    SCHEMA_RISKS,
    OutputSchema,
    output_schema,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.group_inputs import OTHER_TOPICS, other_topic_blockers
from headgate.reprocess.scenarios.shared.kafka_streams_topology import topology
from headgate.reprocess.steps.offsets.partition_offsets import commits_of, committed
from headgate.reprocess.steps.process.wait_until_stopped import is_running
from headgate.reprocess.steps.upgrade.compare_outputs import consumers_of
from headgate.reprocess.steps.upgrade.group_positions import internal_topics
from headgate.reprocess.steps.upgrade.start_with_output import VARIABLE
from headgate.text.numbers import as_records, name_list
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The old and the new version, and what both read and write."""

    old: Pipeline
    new: Pipeline
    inputs: tuple[str, ...]
    output: str
    shadow: str
    starts_earliest: bool

    @property
    def is_streams(self) -> bool:
        """Whether both are Kafka Streams applications, which have state of their own."""
        return self.old.engine is Engine.KAFKA_STREAMS


def blockers_of(request: PlanRequest, pair: Pair, topics: Mapping[str, Topic]) -> Iterator[str]:
    """Yield why the run can't begin."""
    yield from _pair_blockers(pair)
    yield from _command_blockers(pair)
    yield from _running_blockers(request.inspector, pair)
    yield from _topic_blockers(request.inspector, pair, topics)
    yield from _output_schema(request.inspector, pair).blockers()
    if pair.is_streams and pair.new.group is not None:
        yield from _streams_blockers(request, pair, pair.new.group)


def _pair_blockers(pair: Pair) -> Iterator[str]:
    old, new = pair.old, pair.new
    if new.engine is not old.engine:
        yield (
            f"--new-pipeline: {new.name} has engine {new.engine.value}, but {old.name} has engine "
            f"{old.engine.value}. Pass a pipeline with the same engine"
        )
    if new.group is None or new.group == old.group:
        yield (
            f"{new.name} needs its own consumer group, other than {old.group}. Set another `group` "
            f"for {new.name} in headgate.toml"
        )
    if new.topics and set(new.topics) != set(pair.inputs):
        yield (
            f"{new.name} reads {name_list(sorted(new.topics))}, but {old.name} reads "
            f"{name_list(pair.inputs)}. Both versions must read the same topics. Correct "
            f"`topics` of {new.name} in headgate.toml"
        )


def _command_blockers(pair: Pair) -> Iterator[str]:
    for pipeline in (pair.old, pair.new):
        words = ("stop", "start")
        if missing := [word for word in words if getattr(pipeline.commands, word) is None]:
            yield (
                f"{pipeline.name} has no {' and no '.join(missing)} command. Add each missing "
                "command under [pipeline.commands] in headgate.toml"
            )
    if pair.new.commands.start is not None and not passes_output(pair.new):
        yield (
            f"the start command of {pair.new.name} doesn't contain {VARIABLE}. Pass this variable "
            "to the program as its output topic: before the switch, Headgate sets it to the "
            "shadow topic"
        )


def passes_output(pipeline: Pipeline) -> bool:
    """Return whether the start command passes HEADGATE_OUTPUT_TOPIC to the program."""
    start, call = pipeline.commands.start, pipeline.commands.calls.get("start")
    return VARIABLE in (repr(call) if call is not None else start or "")


def _running_blockers(inspector: Inspector, pair: Pair) -> Iterator[str]:
    old, new = pair.old, pair.new
    if is_running(inspector, old.name, old.group) is False:
        yield f"{old.name} isn't running. Start {old.name}, or use offline-upgrade"
    if new.group is not None and is_running(inspector, new.name, new.group):
        yield f"{new.name} is already running. Stop {new.name}, because the run starts it"
    for name in (old.group, new.group):
        if name is not None and inspector.kafka.group(name).type is GroupType.SHARE:
            yield (
                f"group {name} is a share group. An online upgrade needs a group with committed "
                "offsets, which share groups don't have"
            )


def _topic_blockers(inspector: Inspector, pair: Pair, topics: Mapping[str, Topic]) -> Iterator[str]:
    yield from common.topic_blockers({*pair.inputs, pair.output}, topics)
    if not pair.inputs:
        yield f"group {pair.old.group} has no committed offsets. Start {pair.old.name} first"
    if pair.output in pair.inputs:
        yield (
            f"--output-topic: {pair.old.name} reads {pair.output}. Pass the topic that "
            f"{pair.old.name} writes to"
        )
    if inspector.kafka.shapes([pair.shadow]):
        yield (
            f"topic {pair.shadow} already exists. Delete it if no consumer needs it, or choose "
            "another topic with --shadow-topic"
        )
    group = inspector.kafka.group(pair.old.group or "")
    yield from other_topic_blockers(pair.old, group, pair.inputs)
    at = commits_of(group)
    unread = [
        f"{name}[{part.number}]"
        for name in pair.inputs
        if name in topics
        for part in topics[name].partitions
        if (name, part.number) not in at and part.begin != part.end
    ]
    if unread and not pair.starts_earliest:
        yield (
            f"group {pair.old.group} has no committed offset for {name_list(unread)}, so "
            "Headgate doesn't know where the new version should start in these partitions. Wait "
            "until the group has committed offsets for them"
        )


def _output_schema(inspector: Inspector, pair: Pair) -> OutputSchema:
    found = consumers_of(inspector, pair.output, pair.old.name)
    consumers = [name for name in found if name != pair.new.name]
    return output_schema(inspector, pair.output, pair.shadow, consumers, pair.shadow)


def _streams_blockers(request: PlanRequest, pair: Pair, application: str) -> Iterator[str]:
    inspector, old = request.inspector, pair.old.group or ""
    left = internal_topics(inspector, application)
    if left or committed(inspector, application):
        what = f"topics {name_list(left)}" if left else "committed offsets"
        tool = f"`headgate plan decommission {pair.new.name}`"
        if inspector.kafka.group(application).state == "dead":
            # Decommission is blocked without the group, of which topics are left.
            tool = "kafka-topics.sh"
        yield (
            f"application {application} already has {what}. Delete them with {tool}, or give "
            f"{pair.new.name} a new application.id and set `group` in headgate.toml to it"
        )
    told = topology({}, request.version, old, inspector.kafka.group(old))
    if told.loops:
        yield (
            f"{pair.old.name} both writes and reads these topics: {name_list(sorted(told.loops))}. "
            "With an online upgrade, both versions would write to them. Use offline-upgrade"
        )
    if more := sorted(told.sinks - {pair.output} - told.loops):
        yield (
            f"{pair.old.name} also writes to {name_list(more)}. An online upgrade can replace only "
            "one output topic. Use offline-upgrade"
        )


EFFECTS_TWICE = Risk(
    "both versions run until the switch. Side effects of {new_pipeline}, such as HTTP calls "
    "or database writes, happen twice. Writes to {shadow_topic} don't"
)
NO_RESULTS_AT_SWITCH = Risk(
    "between the stop of {pipeline} and the start of {new_pipeline} no results are written. "
    "No record is lost"
)
OTHER_PRODUCERS = Risk(
    "if other producers also write to {topic}, the comparison reports their records as "
    "missing in {shadow_topic}"
)
DIFFERENCES_ALLOWED = Risk("the run switches to the new version even if the results differ")
WRITTEN_TWICE_AFTER_ROLLBACK = Risk(
    "after a rollback, {pipeline} reprocesses the records since the switch. {topic} gets "
    "their results a second time"
)


def risks_of(request: PlanRequest, pair: Pair, inputs: Mapping[str, Topic]) -> Iterator[str]:
    """Yield what both versions do side by side, what comes twice and what state lacks."""
    old, new = pair.old, pair.new
    effects = (old.effects, new.effects)
    if any(known is not Effects.IDEMPOTENT for known in effects):
        yield EFFECTS_TWICE(new_pipeline=new.name, shadow_topic=pair.shadow)
    yield from _duplicate_risks(pair)
    yield from _state_risks(pair, inputs)
    yield NO_RESULTS_AT_SWITCH(pipeline=old.name, new_pipeline=new.name)
    yield OTHER_PRODUCERS(topic=pair.output, shadow_topic=pair.shadow)
    yield from _output_schema(request.inspector, pair).risks()
    if request.options.get("allow-differences"):
        yield DIFFERENCES_ALLOWED()
    yield WRITTEN_TWICE_AFTER_ROLLBACK(pipeline=old.name, topic=pair.output)


TWICE_BETWEEN_STOPS = Risk(
    "{new_pipeline} is stopped before {pipeline}. If {pipeline} processes records in between, "
    "consumers get the results of these records twice. The run reports the maximum number of "
    "such records"
)
TWICE_IF_UNCOMMITTED = Risk(
    "if {pipeline} stops before it commits the offsets of records that it has processed, "
    "consumers get the results of these records twice. The run reports the maximum number of "
    "such records"
)
RESULTS_BEFORE_COMMIT = Risk(
    "{pipeline} and {new_pipeline} must write a record's results before they commit its "
    "offset. Otherwise, any stop can lose results, with or without Headgate"
)


def _duplicate_risks(pair: Pair) -> Iterator[str]:
    old, new = pair.old, pair.new
    if pair.is_streams:
        yield TWICE_BETWEEN_STOPS(new_pipeline=new.name, pipeline=old.name)
        return
    yield TWICE_IF_UNCOMMITTED(pipeline=old.name)
    yield RESULTS_BEFORE_COMMIT(pipeline=old.name, new_pipeline=new.name)


STATE_NOT_COPIED = Risk(
    "{new_pipeline} continues at the offsets of the switch. It doesn't get the state that "
    "{pipeline} keeps in its own memory or on disk"
)
STATE_REBUILT = Risk(
    "{new_pipeline} rebuilds its state from all records of {topics} ({records})",
    records="up to N records",
)
STATE_EMPTY = Risk(
    "{new_pipeline} starts at the committed offsets with empty state, so counts, windows and "
    "joins lack all earlier records. To rebuild the state, set --start-at to earliest"
)
NO_CLEAN_COMMAND = Risk(
    "{new_pipeline} has no `clean` command. After a rollback, delete its local state by hand"
)


def _state_risks(pair: Pair, inputs: Mapping[str, Topic]) -> Iterator[str]:
    old, new = pair.old, pair.new
    if not pair.is_streams:
        yield STATE_NOT_COPIED(new_pipeline=new.name, pipeline=old.name)
        return
    if pair.starts_earliest:
        count = sum(topic.records or 0 for topic in inputs.values())
        yield STATE_REBUILT(
            new_pipeline=new.name, topics=name_list(pair.inputs), records=as_records(count)
        )
        yield from common.topic_risks(inputs)
    else:
        yield STATE_EMPTY(new_pipeline=new.name)
    if new.commands.clean is None:
        yield NO_CLEAN_COMMAND(new_pipeline=new.name)


RISKS = (
    EFFECTS_TWICE,
    NO_RESULTS_AT_SWITCH,
    OTHER_PRODUCERS,
    DIFFERENCES_ALLOWED,
    WRITTEN_TWICE_AFTER_ROLLBACK,
    *SCHEMA_RISKS,
    TWICE_BETWEEN_STOPS,
    TWICE_IF_UNCOMMITTED,
    RESULTS_BEFORE_COMMIT,
    STATE_NOT_COPIED,
    STATE_REBUILT,
    STATE_EMPTY,
    NO_CLEAN_COMMAND,
    *common.TOPIC_RISKS,
    OTHER_TOPICS,
    *common.GROUP_RISKS,
)
