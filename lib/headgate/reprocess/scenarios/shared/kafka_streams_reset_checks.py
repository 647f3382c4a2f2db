"""Blockers and risks of a reset of a Kafka Streams application."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import GroupType
from headgate.model.kafka_streams import InternalKind, internal_kind
from headgate.reprocess.plan import RESET
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.consumer_group_offsets import MOVE_RISKS, move_risks
from headgate.reprocess.scenarios.shared.internal_topics import Claim
from headgate.reprocess.scenarios.shared.kafka_streams_reset import ResetFacts, clears_state
from headgate.reprocess.steps.base.step import active_reason
from headgate.reprocess.steps.offsets.await_transactions import OPEN_SECONDS
from headgate.reprocess.steps.offsets.target import Found, TargetKind, cut_risks
from headgate.text.near_names import near_names
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

_REGISTER = "Add the topology of the application to `evidence` in headgate.toml"
_BACK_UP = ". If an undo should restore the state, pass --back-up-internal"
# A type that could not be told is no proof of anything, and said so further down.
_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS, GroupType.UNKNOWN)


def blockers(seen: ResetFacts, *, needs_group: bool = True) -> tuple[str, ...]:
    """Return why the plan may not be applied, each reason once."""
    of_group = _of_group(seen) if needs_group else ()
    found = [*of_group, *_of_topics(seen), *_of_named(seen), *_of_internals(seen)]
    if not found:
        found = [reason for one in seen.found.values() for reason in one.blockers]
        found += _of_list(seen)
    return tuple(dict.fromkeys(found))


def _of_group(seen: ResetFacts) -> Iterator[str]:
    group, commands = seen.group, seen.request.pipeline.commands
    if group.state == "dead":
        near = near_names(group.id, seen.groups)
        hint = f". Similar ids: {', '.join(near)}" if near else ""
        yield (
            f"group {group.id} not found: no application has this id, or the group's offsets have "
            f"expired. {_id_of(seen)}{hint}"
        )
        return
    if group.type not in _TYPES:
        yield (
            f"group {group.id} is of type {group.type}, so it isn't a Kafka Streams application. "
            f"{_id_of(seen)}"
        )
        return
    if seen.wish.force and group.type is not GroupType.CLASSIC:
        yield (
            f"--force: Kafka can't remove members of a group of type {group.type}. Stop the "
            f"application {group.id}, or wait until the sessions of its members time out"
        )
    if not group.is_inactive and not seen.wish.force and commands.stop is None:
        classic = group.type is GroupType.CLASSIC and bool(group.members)
        hint = " (--force removes members that a killed process left)" if classic else ""
        yield active_reason(seen.request.inspector, group.id) + hint


def _id_of(seen: ResetFacts) -> str:
    """Say where the application id is set."""
    is_reset = seen.request.scenario == RESET
    return f"Check {'--application-id' if is_reset else '`group` in headgate.toml'}"


def _of_topics(seen: ResetFacts) -> Iterator[str]:
    yield from common.topic_blockers({*seen.inputs, *seen.intermediate}, seen.known)
    for topic in sorted({*seen.inputs} & {*seen.intermediate}):
        yield (
            f"{topic} is passed both as input topic and as intermediate topic: pass it only once"
        )
    for topic in seen.inputs:
        own = seen.internals.get(topic)
        if own is not None:
            yield (
                f"{topic} is an internal topic of {seen.application}, not an input: {own.why}. "
                f"{_without(seen)}"
            )
        elif topic in seen.known and seen.topology.is_told and not seen.topology.reads(topic):
            inputs = name_list(seen.topology.sources)
            reads = f"reads {inputs}" if inputs else "lists no input topic by name"
            reason = f"{seen.application} does not read {topic}: its topology {reads}"
            yield f"{reason}. {_without(seen)}"


def _without(seen: ResetFacts) -> str:
    """Say where a topic that isn't an input was named."""
    if seen.wish.inputs is None:
        return "Remove the topic from `topics` in headgate.toml, or capture the current topology"
    if seen.wish.target is not None and seen.wish.target.place is TargetKind.LISTED:
        return "Remove the topic from the list of offsets"
    return "Remove the topic from --input-topics"


def _of_named(seen: ResetFacts) -> Iterator[str]:
    """Refuse what `--internal-topics` names and is none, or not there."""
    if seen.wish.keep_internal and seen.wish.internal:
        yield (
            "--internal-topics names topics to delete, but --keep-internal keeps all internal "
            "topics: pass only one of these options"
        )
        return
    for topic in seen.wish.internal or ():
        if topic not in seen.topics:
            yield (
                f"--internal-topics: topic {topic} not found. Correct its name, or remove the "
                "topic from the option"
            )
        elif topic in {*seen.inputs, *seen.intermediate}:
            yield (
                f"--internal-topics: {topic} is also an input or intermediate topic, so it can't "
                "be deleted. Remove the topic from the option"
            )
        elif topic not in seen.internals:
            yield (
                f"--internal-topics: {topic} isn't an internal topic of {seen.application}. "
                "Remove the topic from the option"
            )


def _of_internals(seen: ResetFacts) -> Iterator[str]:
    if seen.wish.keep_internal:
        return
    wanted = seen.wish.internal
    for topic, one in seen.internals.items():
        if topic in seen.inputs or topic in seen.intermediate:
            continue
        picked = wanted is None or topic in wanted
        if one.claim is Claim.CONTESTED and picked:
            yield (
                f"{topic} can't be deleted, because other applications or consumers may use it: "
                f"{one.why}. To continue, pass only the other internal topics with "
                "--internal-topics"
            )
        elif one.claim is Claim.FOREIGN and wanted is not None and picked:
            yield (
                f"--internal-topics: {topic} doesn't belong to {seen.application}: {one.why}. "
                "Remove the topic from the option"
            )
        elif one.claim is Claim.UNPROVEN and wanted is None:
            yield (
                f"no evidence that {topic} belongs to {seen.application}: {one.why}. "
                f"{_way(seen)}, or pass the topics to delete with --internal-topics"
            )


def _way(seen: ResetFacts) -> str:
    """Say what decides whose a topic is; a topology that lacks the topic doesn't."""
    if seen.wish.repartitions_inputs:
        return "Register the pipeline that owns the topic"
    if seen.topology.is_told:
        return "Keep all internal topics with --keep-internal"
    return f"{_topology(seen)}, keep all internal topics with --keep-internal"


def _topology(seen: ResetFacts) -> str:
    """Say how Headgate gets to know the topology."""
    return "Pass --topology" if seen.request.scenario == RESET else _REGISTER


def _of_list(seen: ResetFacts) -> Iterator[str]:
    """A list of offsets has to say where every partition of the inputs goes."""
    target = seen.wish.target
    if target is None or target.place is not TargetKind.LISTED:
        return
    listed = {(row.topic, row.partition) for row in target.listed}
    left = [f"{t}[{p}]" for t, p in seen.parts(seen.inputs) if (t, p) not in listed]
    if left:
        yield f"the list of offsets has no row for {name_list(left)}: add the missing rows"


def risks(seen: ResetFacts) -> tuple[str, ...]:
    """Return what the reset risks, each once."""
    every = Found()
    for found in seen.found.values():
        every.to.update(found.to)
    said = [risk for found in seen.found.values() for risk in found.risks]
    said += move_risks(seen.request, seen.known, seen.positions, every)
    if seen.wish.target is not None:
        # Which inputs stay is said of whole topics below.
        said += cut_risks(seen.wish.target, (p for p in every.to if p[0] in seen.inputs), ())
    said += [*_transaction_risks(seen), *common.group_risks(seen.group)]
    said += [*_input_risks(seen), *_state_risks(seen), *_output_risks(seen)]
    return tuple(dict.fromkeys(said))


OPEN_TRANSACTION = Risk(
    "a transaction is open on {topics}. If the transaction is still open "
    f"{OPEN_SECONDS:.0f} s after the stop, the run fails"
)


def _transaction_risks(seen: ResetFacts) -> Iterator[str]:
    """Name what a transaction is open on now; after the stop the run looks by their ids."""
    there = [name for name in seen.deleted if name in seen.topics]
    if there and (locked := seen.request.inspector.kafka.topics_in_transaction(there)):
        yield OPEN_TRANSACTION(topics=name_list(locked))


READS_OWN_OUTPUT = Risk(
    "{pipeline} reprocesses records that it has itself written to {topic}, and writes them "
    "there a second time. To skip these records, pass the topic with --intermediate-topics "
    "instead"
)
PATTERN_UNCLEAR = Risk(
    "{pipeline} reads the topics that match {patterns}. Headgate can't evaluate this Java "
    "syntax, so it knows these topics only by committed offsets. {advice}",
    advice="If an input is missing, add it to `topics` in headgate.toml",
)
TOPOLOGY_UNKNOWN = Risk(
    "the topology is unknown. Headgate finds the application's topics only by committed "
    "offsets and names, and may miss topics. {advice}",
    advice=_REGISTER,
)


def _input_risks(seen: ResetFacts) -> Iterator[str]:
    read = {t for t, _ in seen.positions} - set(seen.internals) | seen.topology.sources
    if seen.wish.target is None:
        yield _no_input(seen, read)
    else:
        yield from _unselected_risks(seen, sorted(read - {*seen.inputs, *seen.intermediate}))
    for topic in seen.inputs:
        if topic in seen.topology.loops:
            yield READS_OWN_OUTPUT(pipeline=seen.application, topic=topic)
    if unclear := seen.topology.unclear:
        yield PATTERN_UNCLEAR(
            pipeline=seen.application, patterns=name_list(unclear), advice=_missing(seen)
        )
    if not seen.topology.is_told:
        yield TOPOLOGY_UNKNOWN(advice=_topology(seen))


NO_INPUT_SELECTED = Risk(
    "no input topic is selected: offsets of {topics} don't change{lacking}. Select topics "
    "with --input-topics",
    lacking=". The results lack the records before these offsets",
)


def _no_input(seen: ResetFacts, read: set[str]) -> str:
    """Say what comes of a reset that selects no input; of all scenarios, only `reset` can."""
    lacking = None if clears_state(seen) else ""
    return NO_INPUT_SELECTED(topics=name_list(read) or "all inputs", lacking=lacking)


INPUTS_NOT_SELECTED = Risk(
    "{pipeline} has input topics that aren't selected: {topics}. Their offsets don't change, "
    "so their earlier records aren't reprocessed"
)
NOT_IN_TOPOLOGY = Risk(
    "group {group} has committed offsets of {topics}, but the topology doesn't have these "
    "topics. The run doesn't change these offsets. If the application reads these topics, "
    "{advice}",
    advice="capture it again",
)


def _unselected_risks(seen: ResetFacts, left: list[str]) -> Iterator[str]:
    """Name topics whose offsets stay: inputs that weren't selected, and what nothing describes."""
    told = seen.topology
    left = [t for t in left if t not in told.internal]
    other = [t for t in left if told.is_told and not told.reads(t)]
    if inputs := [t for t in left if t not in other]:
        yield INPUTS_NOT_SELECTED(pipeline=seen.application, topics=name_list(inputs))
    if other:
        is_reset = seen.request.scenario == RESET
        yield NOT_IN_TOPOLOGY(
            group=seen.group.id,
            topics=name_list(other),
            advice="pass its current topology with --topology" if is_reset else None,
        )


def _missing(seen: ResetFacts) -> str | None:
    """Say where a reset names an input that Headgate misses."""
    is_reset = seen.request.scenario == RESET
    return "Check that --input-topics has every input topic" if is_reset else None


UNPROVEN_KEPT = Risk(
    "the run keeps these topics, because no evidence shows that {pipeline} owns them: "
    "{topics}. If {pipeline} owns these topics, reprocessed records count twice"
)
UNPROVEN_DELETED = Risk(
    "{topic} is deleted, because --internal-topics includes it. Its owner isn't verified: {reason}"
)
RECORDS_LOST = Risk(
    "the records of {topics} are permanently lost. An undo recreates the topics empty, "
    "without the old state{option}",
    option="",
)
CLEARED_BY_HAND = Risk(
    "UNVERIFIED: local state was reported as cleared on {instances}. An instance that still "
    "has its old state counts reprocessed records twice"
)
LOCAL_STATE_STAYS = Risk(
    "Headgate does not delete local state on the instances' disks. An instance that keeps its "
    "old state counts reprocessed records twice. Register a `clean` command, or delete the "
    "local state yourself and pass --local-state-cleared INSTANCE"
)


def _state_risks(seen: ResetFacts) -> Iterator[str]:
    gone = {*seen.deleted, *seen.inputs, *seen.intermediate}
    own, unproven = (
        [n for n, i in seen.internals.items() if i.claim is claim and n not in gone]
        for claim in (Claim.OWNED, Claim.UNPROVEN)
    )
    yield from _kept_risks(seen, own)
    if unproven:
        yield UNPROVEN_KEPT(pipeline=seen.application, topics=name_list(unproven))
    for topic in sorted(set(seen.deleted) & seen.internals.keys()):
        if seen.internals[topic].claim is Claim.UNPROVEN:
            yield UNPROVEN_DELETED(topic=topic, reason=seen.internals[topic].why)
    if seen.deleted and not (seen.wish.back_up or seen.wish.repartitions_inputs):
        yield RECORDS_LOST(topics=name_list(seen.deleted), option=_BACK_UP)
    if not clears_state(seen) or seen.request.pipeline.commands.clean is not None:
        return
    if seen.wish.instances:
        yield CLEARED_BY_HAND(instances=", ".join(seen.wish.instances))
    else:
        yield LOCAL_STATE_STAYS()


CHANGELOGS_KEPT = Risk(
    "the run keeps these changelogs: {topics}. Their state stores keep their contents, so "
    "reprocessed records count twice"
)
INTERNAL_KEPT = Risk(
    "the run keeps these internal topics: {topics}. {pipeline} also processes the unread "
    "records in these topics, so the input records that they come from may count twice"
)


def _kept_risks(seen: ResetFacts, own: list[str]) -> Iterator[str]:
    """Say what the application's own topics that stay do to results."""
    stores = [name for name in own if internal_kind(name) is InternalKind.CHANGELOG]
    if stores:
        yield CHANGELOGS_KEPT(topics=name_list(stores))
    if between := [name for name in own if name not in stores]:
        yield INTERNAL_KEPT(topics=name_list(between), pipeline=seen.application)


def _is_reprocessed(seen: ResetFacts) -> bool:
    """Return whether a partition is rewound; one without a committed offset may have been read."""
    ends = {(t.name, p.number): p.end or 0 for t in seen.known.values() for p in t.partitions}
    return any(
        to < seen.positions.get(part, ends.get(part, 0))
        for found in seen.found.values()
        for part, to in found.to.items()
    )


WRITTEN_TWICE = Risk(
    "results are written to the output topic {topic} a second time{consumers}",
    consumers=". Consumers that get duplicates: CONSUMERS",
)


def _output_risks(seen: ResetFacts) -> Iterator[str]:
    if "outputs" in seen.request.options or not _is_reprocessed(seen):
        return
    for topic in sorted(seen.topology.sinks - seen.topology.loops):
        readers = sorted(
            g.id
            for g in seen.groups.values()
            if any(o.topic == topic and o.offset is not None for o in g.offsets)
        )
        by = f". Consumers that get duplicates: {name_list(readers)}" if readers else ""
        yield WRITTEN_TWICE(topic=topic, consumers=by)


RISKS = (
    *MOVE_RISKS,
    OPEN_TRANSACTION,
    READS_OWN_OUTPUT,
    PATTERN_UNCLEAR,
    TOPOLOGY_UNKNOWN,
    NO_INPUT_SELECTED,
    INPUTS_NOT_SELECTED,
    NOT_IN_TOPOLOGY,
    UNPROVEN_KEPT,
    UNPROVEN_DELETED,
    RECORDS_LOST,
    CLEARED_BY_HAND,
    LOCAL_STATE_STAYS,
    CHANGELOGS_KEPT,
    INTERNAL_KEPT,
    WRITTEN_TWICE,
    *common.GROUP_RISKS,
)
