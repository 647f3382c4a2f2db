"""Move the committed offsets of a plain consumer group: what all its scenarios share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from headgate.model.cluster import Group, GroupType, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.pipeline_links import topics_read
from headgate.reprocess.steps.base.step import Step, active_reason, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import chosen, commits_of, shown
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import (
    Found,
    Target,
    TopicPart,
    cut_risks,
    find,
    missing_parts,
    numbers_of,
)
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.text.numbers import as_records, name_list, plural, span
from headgate.text.risk import Risk

_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsRequest:
    """Where to go, and with what: `only` limits topics to some partitions, `topics` the topics.

    Without `topics` those with a committed offset move, and the registered ones. `read` is how far
    partitions were read whose committed offset is beyond their log. Committed offsets of
    `recreated` topics say nothing about what was read of them.
    """

    target: Target
    topics: tuple[str, ...] = ()
    only: Mapping[str, list[int]] = field(default_factory=dict)
    read: Mapping[TopicPart, int] = field(default_factory=dict)
    recreated: frozenset[str] = frozenset()


def move_group(request: PlanRequest, wish: OffsetsRequest) -> Plan:
    """Return the plan: make sure that nobody is in the group, record, move, start again."""
    pipeline, inspector = request.pipeline, request.inspector
    assert pipeline.group is not None
    group = inspector.kafka.group(pipeline.group)
    positions = {key: c.offset for key, c in commits_of(group).items()}
    wanted = set(wish.topics) or {topic for topic, _ in positions} | set(pipeline.topics)
    read = topics_read(request)
    known = inspector.kafka.topics(wanted | read)
    topics = {name: topic for name, topic in known.items() if name in wanted}
    if not topics:
        # Steps on no partition, and the cost of them, would say nothing.
        return request.block(*_blockers(request, group, wanted, topics, Found()))
    facts = topic_facts(topics)
    parts = chosen(facts, wish.only)
    found = find(wish.target, inspector, topics, parts, positions)
    reset = ResetOffsets(
        group=group.id,
        group_type=group.type.value,
        target=wish.target,
        topics=facts,
        only=dict(wish.only),
        offsets=tuple(preview(parts, positions, found)),
        pipeline=pipeline.name,
    )
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(pipeline, reset),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": group.id, "type": group.type.value},
            "topics": facts,
            "commands": common.command_facts(pipeline),
        },
        impact=impact_of(topics, parts, positions, found, wish.read),
        risks=(
            *found.risks,
            *move_risks(request, topics, positions, found, wish.read, recreated=wish.recreated),
            *cut_risks(wish.target, found.to, _existing(positions, topics)),
            *_missing_risks(group, positions, topics),
            *_topic_risks(pipeline, wish, read),
            *_unset_risks(pipeline, known.values(), {*parts, *positions}),
            *common.group_risks(group),
        ),
        blockers=tuple(_blockers(request, group, wanted, topics, found)),
        options=dict(request.options),
        resources=(f"group:{group.id}",),
    )


def _existing(positions: Iterable[TopicPart], topics: Mapping[str, Topic]) -> set[TopicPart]:
    """Return the partitions without those that their topics don't have."""
    missing = missing_parts(positions, topics).values()
    return set(positions) - {part for parts in missing for part in parts}


MISSING_PARTITIONS = Risk(
    "group {group} has committed offsets of {partitions}, but {topic} has only {existing}. "
    "The topic was recreated, so other committed offsets may also be of the old topic",
    partitions="TOPIC[PARTITION]",
    existing="partitions FIRST to LAST",
)


def _missing_risks(
    group: Group, positions: Iterable[TopicPart], topics: Mapping[str, Topic]
) -> Iterator[str]:
    """Name committed offsets of partitions that don't exist: the others are old ones, too."""
    for name, parts in missing_parts(positions, topics).items():
        missing = [f"{name}[{number}]" for _, number in parts]
        yield MISSING_PARTITIONS(
            group=group.id,
            partitions=name_list(missing),
            topic=name,
            existing=numbers_of(topics[name]),
        )


NO_EVIDENCE_OF_READING = Risk(
    "Headgate has no evidence that {pipeline} reads {topics}, but the run commits offsets "
    "there. If {pipeline} doesn't read a topic, omit the topic. Otherwise, add the topic to "
    "`topics` in headgate.toml"
)


def _topic_risks(pipeline: Pipeline, wish: OffsetsRequest, read: frozenset[str]) -> Iterator[str]:
    """Name topics that were chosen, and that nothing shows the pipeline to read."""
    if other := set(wish.topics) - read:
        yield NO_EVIDENCE_OF_READING(pipeline=pipeline.name, topics=name_list(other))


UNSET_OFFSETS = Risk(
    "these partitions have records, but no committed offset, and the run sets none: "
    "{partitions}. When {pipeline} starts, it applies auto.offset.reset. With `latest`, it "
    "skips these records",
    partitions="TOPIC[PARTITION]",
)


def _unset_risks(
    pipeline: Pipeline, topics: Iterable[Topic], known: Set[TopicPart]
) -> Iterator[str]:
    """Name partitions that have records, but neither a committed offset nor a new one."""
    new = [
        f"{topic.name}[{part.number}]"
        for topic in topics
        for part in topic.partitions
        if (topic.name, part.number) not in known and part.end != part.begin
    ]
    if new:
        yield UNSET_OFFSETS(partitions=name_list(new), pipeline=pipeline.name)


def _steps(pipeline: Pipeline, reset: ResetOffsets) -> tuple[Step, ...]:
    stop = common.stop_step(pipeline)
    steps: tuple[Step, ...] = (stop, RecordOffsets(group=reset.group), reset)
    # Of a group that nothing here starts or stops, it is nobody's duty to start it now.
    has_commands = stop.command is not None or stop.start is not None
    return (*steps, start_or_ask(stop)) if has_commands else steps


def preview(
    parts: Iterable[TopicPart], positions: Mapping[TopicPart, int], found: Found
) -> list[dict[str, Any]]:
    """Return where each partition goes, as far as that is known before the stop."""
    moves = []
    for part in parts:
        at = positions.get(part)
        # What is left as it is, is shown as going to where it is.
        to = found.to.get(part, at)
        if to is not None:
            moves.append(shown(*part, at, to))
    return moves


def impact_of(
    topics: Mapping[str, Topic],
    parts: Iterable[TopicPart],
    positions: Mapping[TopicPart, int],
    found: Found,
    read: Mapping[TopicPart, int] | None = None,
) -> dict[str, Any]:
    """Return by topic how many offsets are reprocessed, skipped unread, and left to read.

    Of a partition whose offset is beyond its log both are as many as it may be, unless `read` says
    how far it was read.
    """
    again = dict.fromkeys(sorted(topics), 0)
    skipped, to_read = dict(again), dict(again)
    never: list[str] = []
    logs = {(t.name, p.number): p for t in topics.values() for p in t.partitions}
    for part in parts:
        log = logs.get(part)
        begin, end = (log.begin or 0, log.end or 0) if log else (0, 0)
        at = positions.get(part, begin)
        least, most = _reached(at, begin, end, (read or {}).get(part))
        to = found.to.get(part, at)
        again[part[0]] += max(most - to, 0)
        if to > max(least, begin):
            skipped[part[0]] += to - max(least, begin)
            never.append(span(part, max(least, begin), to))
        to_read[part[0]] += max(end - to, 0)
    return {
        "records": again,
        "total": sum(again.values()),
        "skipped": {name: count for name, count in skipped.items() if count},
        "to_read": to_read,
        **({"never_read": never} if never else {}),
    }


def _reached(at: int, begin: int, end: int, read: int | None) -> tuple[int, int]:
    """Return how far a partition was read at least, and at most."""
    if at <= end:
        return at, at
    return (begin, end) if read is None else (read, read)


NO_COMMITTED_OFFSET = Risk(
    "group {group} has no committed offset in {partitions}. If an earlier offset expired, "
    "{pipeline} processes records there a second time",
    partitions="TOPIC[PARTITION]",
)
READ_RECREATED = Risk(
    "if {pipeline} has already read records of the recreated {word} {topics}, it processes "
    "these records a second time",
    word="topics",
)
REPROCESSES = Risk("{pipeline} reprocesses records: consumers of its results get duplicates")


SKIPPED = Risk(
    "{pipeline} skips {records} in {partitions}: {spans}",
    records="up to N records",
    partitions="N partitions",
    spans="TOPIC[PARTITION] offsets FIRST to LAST",
)


def move_risks(
    request: PlanRequest,
    topics: Mapping[str, Topic],
    positions: Mapping[TopicPart, int],
    found: Found,
    read: Mapping[TopicPart, int] | None = None,
    *,
    recreated: Set[str] = frozenset(),
) -> list[str]:
    """Name what is reprocessed, what is never read, and what is no longer whole."""
    pipeline = request.pipeline
    reached = _all_reached(topics, positions, found, read or {})
    back = [p for p, to in found.to.items() if p in reached and to < reached[p][1]]
    on = {p: reached[p][0] for p, to in found.to.items() if p in reached and to > reached[p][0]}
    ends = {(t.name, p.number): p.end for t in topics.values() for p in t.partitions}
    first = [p for p, to in found.to.items() if p not in positions and to < (ends.get(p) or 0)]
    # Who asks for an offset after the earliest one wants none of the records before it.
    begins = {(t.name, p.number): p.begin or 0 for t in topics.values() for p in t.partitions}
    rewound = {topic for topic, _ in (*back, *first)}
    cut = {p[0] for p in (*back, *first) if found.to[p] <= begins[p]}
    risks = common.topic_risks({name: topics[name] for name in rewound}, within=rewound - cut)
    if unset := [p for p in first if p[0] not in recreated]:
        new = [f"{topic}[{number}]" for topic, number in unset]
        risks.append(
            NO_COMMITTED_OFFSET(
                group=pipeline.group, partitions=name_list(new), pipeline=pipeline.name
            )
        )
    if twice := {topic for topic, _ in (*back, *first) if topic in recreated}:
        risks.append(
            READ_RECREATED(
                pipeline=pipeline.name,
                word="topic" if len(twice) == 1 else "topics",
                topics=name_list(twice),
            )
        )
    is_again = any(topic not in recreated for topic, _ in back)
    if is_again and not request.has_new_outputs:
        risks.append(REPROCESSES(pipeline=pipeline.name))
    if on:
        count = sum(found.to[part] - at for part, at in on.items())
        spans = name_list(span(part, at, found.to[part]) for part, at in on.items())
        risks.append(
            SKIPPED(
                pipeline=pipeline.name,
                records=as_records(count),
                partitions=plural(len(on), "partition"),
                spans=spans,
            )
        )
    return risks


def _all_reached(
    topics: Mapping[str, Topic],
    positions: Mapping[TopicPart, int],
    found: Found,
    read: Mapping[TopicPart, int],
) -> dict[TopicPart, tuple[int, int]]:
    """Return how far each partition that moves was read: without a commit, to its log's begin."""
    reached = {}
    for topic in topics.values():
        for log in topic.partitions:
            part = (topic.name, log.number)
            if part in found.to:
                begin = log.begin or 0
                at = positions.get(part, begin)
                end = log.end if log.end is not None else at
                reached[part] = _reached(at, begin, end, read.get(part))
    return reached


def _blockers(
    request: PlanRequest, group: Group, wanted: set[str], topics: Mapping[str, Topic], found: Found
) -> list[str]:
    blockers = common.topic_blockers(wanted, topics)
    # A chain also moves the group of an application without state.
    is_app = request.pipeline.engine is Engine.KAFKA_STREAMS
    types = (*_TYPES, GroupType.STREAMS) if is_app else _TYPES
    if group.type not in types and group.state != "dead":
        return [*blockers, _other_type(group)]
    if not group.is_inactive and (request.pipeline.commands.stop is None or group.state == "dead"):
        blockers.append(active_reason(request.inspector, group.id))
    if not wanted:
        blockers.append(
            f"group {group.id} has no committed offsets, and headgate.toml sets no "
            "`topics` for this pipeline. Add the input topics as `topics`"
        )
    return blockers + [r for r in found.blockers if r not in blockers]


def _other_type(group: Group) -> str:
    if group.type is GroupType.UNKNOWN:
        return (
            f"the brokers report no type for group {group.id}, so Headgate can't verify that it is "
            "a consumer group: check Headgate's ACLs on this group (operation Describe)"
        )
    return (
        f"group {group.id} is of type {group.type}, not a consumer group: check `engine` and "
        "`group` in headgate.toml"
    )


MOVE_RISKS = (
    *common.TOPIC_RISKS,
    NO_COMMITTED_OFFSET,
    READ_RECREATED,
    REPROCESSES,
    SKIPPED,
)
RISKS = (
    *MOVE_RISKS,
    MISSING_PARTITIONS,
    NO_EVIDENCE_OF_READING,
    UNSET_OFFSETS,
    *common.GROUP_RISKS,
)
