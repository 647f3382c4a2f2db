"""Blockers and risks of a reset of a Kafka Streams application."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import GroupType
from headgate.model.kafka_streams import InternalKind, internal_kind
from headgate.reprocess.plan import RESET
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.consumer_group_offsets import move_risks
from headgate.reprocess.scenarios.shared.internal_topics import Claim
from headgate.reprocess.scenarios.shared.kafka_streams_reset import ResetFacts, clears_state
from headgate.reprocess.steps.base.step import active_reason
from headgate.reprocess.steps.offsets.await_transactions import OPEN_SECONDS
from headgate.reprocess.steps.offsets.target import Found, TargetKind, cut_risks
from headgate.text.near_names import near_names
from headgate.text.numbers import name_list

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


def _transaction_risks(seen: ResetFacts) -> Iterator[str]:
    """Name what a transaction is open on now; after the stop the run looks by their ids."""
    there = [name for name in seen.deleted if name in seen.topics]
    if there and (locked := seen.request.inspector.kafka.topics_in_transaction(there)):
        yield (
            f"a transaction is open on {name_list(locked)}. If the transaction is still open "
            f"{OPEN_SECONDS:.0f} s after the stop, the run fails"
        )


def _input_risks(seen: ResetFacts) -> Iterator[str]:
    read = {t for t, _ in seen.positions} - set(seen.internals) | seen.topology.sources
    if seen.wish.target is None:
        yield _no_input(seen, read)
    else:
        yield from _unselected_risks(seen, sorted(read - {*seen.inputs, *seen.intermediate}))
    for topic in seen.inputs:
        if topic in seen.topology.loops:
            yield (
                f"{seen.application} reprocesses records that it has itself written to {topic}, "
                "and writes them there a second time. To skip these records, pass the topic with "
                "--intermediate-topics instead"
            )
    if unclear := seen.topology.unclear:
        yield (
            f"{seen.application} reads the topics that match {name_list(unclear)}. Headgate can't "
            "evaluate this Java syntax, so it knows these topics only by committed offsets. "
            f"{_missing(seen)}"
        )
    if not seen.topology.is_told:
        yield (
            "the topology is unknown. Headgate finds the application's topics only by committed "
            f"offsets and names, and may miss topics. {_topology(seen)}"
        )


def _no_input(seen: ResetFacts, read: set[str]) -> str:
    """Say what comes of a reset that selects no input; of all scenarios, only `reset` can."""
    lacking = ". The results lack the records before these offsets" if clears_state(seen) else ""
    return (
        f"no input topic is selected: offsets of {name_list(read) or 'all inputs'} don't "
        f"change{lacking}. Select topics with --input-topics"
    )


def _unselected_risks(seen: ResetFacts, left: list[str]) -> Iterator[str]:
    """Name topics whose offsets stay: inputs that weren't selected, and what nothing describes."""
    told = seen.topology
    left = [t for t in left if t not in told.internal]
    other = [t for t in left if told.is_told and not told.reads(t)]
    if inputs := [t for t in left if t not in other]:
        yield (
            f"{seen.application} has input topics that aren't selected: {name_list(inputs)}. "
            "Their offsets don't change, so their earlier records aren't reprocessed"
        )
    if other:
        is_reset = seen.request.scenario == RESET
        yield (
            f"group {seen.group.id} has committed offsets of {name_list(other)}, but the topology "
            "doesn't have these topics. The run doesn't change these offsets. If the application "
            "reads these topics, "
            f"{'pass its current topology with --topology' if is_reset else 'capture it again'}"
        )


def _missing(seen: ResetFacts) -> str:
    """Say where to name an input that Headgate misses."""
    if seen.request.scenario == RESET:
        return "Check that --input-topics has every input topic"
    return "If an input is missing, add it to `topics` in headgate.toml"


def _state_risks(seen: ResetFacts) -> Iterator[str]:
    gone = {*seen.deleted, *seen.inputs, *seen.intermediate}
    own, unproven = (
        [n for n, i in seen.internals.items() if i.claim is claim and n not in gone]
        for claim in (Claim.OWNED, Claim.UNPROVEN)
    )
    yield from _kept_risks(seen, own)
    if unproven:
        yield (
            f"the run keeps these topics, because no evidence shows that {seen.application} owns "
            f"them: {name_list(unproven)}. If {seen.application} owns these topics, reprocessed "
            "records count twice"
        )
    for topic in sorted(set(seen.deleted) & seen.internals.keys()):
        if seen.internals[topic].claim is Claim.UNPROVEN:
            yield (
                f"{topic} is deleted, because --internal-topics includes it. Its owner isn't "
                f"verified: {seen.internals[topic].why}"
            )
    if seen.deleted and not (seen.wish.back_up or seen.wish.repartitions_inputs):
        yield (
            f"the records of {name_list(seen.deleted)} are permanently lost. An undo recreates "
            f"the topics empty, without the old state{_BACK_UP}"
        )
    if not clears_state(seen) or seen.request.pipeline.commands.clean is not None:
        return
    if seen.wish.instances:
        yield (
            "UNVERIFIED: local state was reported as cleared on "
            f"{', '.join(seen.wish.instances)}. An instance that still has its old state "
            "counts reprocessed records twice"
        )
    else:
        yield (
            "Headgate does not delete local state on the instances' disks. An instance that keeps "
            "its old state counts reprocessed records twice. Register a `clean` command, or delete "
            "the local state yourself and pass --local-state-cleared INSTANCE"
        )


def _kept_risks(seen: ResetFacts, own: list[str]) -> Iterator[str]:
    """Say what the application's own topics that stay do to results."""
    stores = [name for name in own if internal_kind(name) is InternalKind.CHANGELOG]
    if stores:
        yield (
            f"the run keeps these changelogs: {name_list(stores)}. Their state stores keep their "
            "contents, so reprocessed records count twice"
        )
    if between := [name for name in own if name not in stores]:
        yield (
            f"the run keeps these internal topics: {name_list(between)}. {seen.application} also "
            "processes the unread records in these topics, so the input records that they come "
            "from may count twice"
        )


def _is_reprocessed(seen: ResetFacts) -> bool:
    """Return whether a partition is rewound; one without a committed offset may have been read."""
    ends = {(t.name, p.number): p.end or 0 for t in seen.known.values() for p in t.partitions}
    return any(
        to < seen.positions.get(part, ends.get(part, 0))
        for found in seen.found.values()
        for part, to in found.to.items()
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
        yield f"results are written to the output topic {topic} a second time{by}"
