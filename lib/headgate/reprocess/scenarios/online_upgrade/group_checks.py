"""Blockers and risks of two versions that run side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headgate.errors import SchemaError
from headgate.model.cluster import GroupType, Topic
from headgate.model.registered_pipelines import Effects, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.group_inputs import other_topic_blockers
from headgate.reprocess.scenarios.shared.kafka_streams_topology import topology
from headgate.reprocess.steps.offsets.partition_offsets import commits_of, committed
from headgate.reprocess.steps.process.wait_until_stopped import is_running
from headgate.reprocess.steps.upgrade.compare_outputs import consumers_of
from headgate.reprocess.steps.upgrade.group_positions import internal_topics
from headgate.reprocess.steps.upgrade.start_with_output import VARIABLE
from headgate.text.numbers import as_records, name_list


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
    yield from _schema_blockers(request.inspector, pair)
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


def _schema_blockers(inspector: Inspector, pair: Pair) -> Iterator[str]:
    try:
        wrong = inspector.evidence.schema_issues(pair.output, pair.shadow)
    except SchemaError as error:
        yield f"the schemas of {pair.output} and {pair.shadow} can't be compared: {error}"
        return
    if not wrong:
        return
    consumers = _consumers(inspector, pair)
    if consumers:
        yield (
            f"the output schema isn't compatible: {'; '.join(wrong)}. Consumers of {pair.output}: "
            f"{name_list(consumers)}. Keep these fields, or write to a new topic"
        )


def _consumers(inspector: Inspector, pair: Pair) -> list[str]:
    found = consumers_of(inspector, pair.output, pair.old.name)
    return [name for name in found if name != pair.new.name]


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


def risks_of(request: PlanRequest, pair: Pair, inputs: Mapping[str, Topic]) -> Iterator[str]:
    """Yield what both versions do side by side, what comes twice and what state lacks."""
    old, new = pair.old, pair.new
    effects = (old.effects, new.effects)
    if any(known is not Effects.IDEMPOTENT for known in effects):
        yield (
            f"both versions run until the switch. Side effects of {new.name}, such as HTTP calls "
            f"or database writes, happen twice. Writes to {pair.shadow} don't"
        )
    yield from _duplicate_risks(pair)
    yield from _state_risks(pair, inputs)
    yield (
        f"between the stop of {old.name} and the start of {new.name} no results are written. No "
        "record is lost"
    )
    yield (
        f"if other producers also write to {pair.output}, the comparison reports their records as "
        f"missing in {pair.shadow}"
    )
    yield from _schema_risks(request.inspector, pair)
    if request.options.get("allow-differences"):
        yield "the run switches to the new version even if the results differ"
    yield (
        f"after a rollback, {old.name} reprocesses the records since the switch. {pair.output} "
        "gets their results a second time"
    )


def _schema_risks(inspector: Inspector, pair: Pair) -> Iterator[str]:
    try:
        wrong = inspector.evidence.schema_issues(pair.output, pair.shadow)
    except SchemaError:
        return
    if wrong is None:
        yield (
            f"Headgate doesn't know the schema of {pair.shadow} yet. Before the switch, the run "
            "compares the fields of the JSON results of both versions"
        )
    elif wrong and not _consumers(inspector, pair):
        yield (
            f"the output schema isn't compatible: {'; '.join(wrong)}. {pair.output} has no known "
            "consumers"
        )


def _duplicate_risks(pair: Pair) -> Iterator[str]:
    old, new = pair.old, pair.new
    if pair.is_streams:
        yield (
            f"{new.name} is stopped before {old.name}. If {old.name} processes records in between, "
            "consumers get the results of these records twice. The run reports the maximum number "
            "of such records"
        )
        return
    yield (
        f"if {old.name} stops before it commits the offsets of records that it has processed, "
        "consumers get the results of these records twice. The run reports the maximum number of "
        "such records"
    )
    yield (
        f"{old.name} and {new.name} must write a record's results before they commit its offset. "
        "Otherwise, any stop can lose results, with or without Headgate"
    )


def _state_risks(pair: Pair, inputs: Mapping[str, Topic]) -> Iterator[str]:
    old, new = pair.old, pair.new
    if not pair.is_streams:
        yield (
            f"{new.name} continues at the offsets of the switch. It doesn't get the state that "
            f"{old.name} keeps in its own memory or on disk"
        )
        return
    if pair.starts_earliest:
        count = sum(topic.records or 0 for topic in inputs.values())
        yield (
            f"{new.name} rebuilds its state from all records of {name_list(pair.inputs)} "
            f"({as_records(count)})"
        )
        yield from common.topic_risks(inputs)
    else:
        yield (
            f"{new.name} starts at the committed offsets with empty state, so counts, windows and "
            "joins lack all earlier records. To rebuild the state, set --start-at to earliest"
        )
    if new.commands.clean is None:
        yield (
            f"{new.name} has no `clean` command. After a rollback, delete its local state by hand"
        )
