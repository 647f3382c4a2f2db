"""Blockers and risks of more input partitions for a Kafka Streams application."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.landscape.internal_topic_owner import group_internals, named_by_topology
from headgate.model.cluster import Group, GroupType
from headgate.model.kafka_streams import InternalKind, StreamsApplication
from headgate.model.version import Engine
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.repartition.downstream_topics import Reach
from headgate.reprocess.scenarios.shared import (
    common,
    kafka_streams_options,
    kafka_streams_reset_checks,
)
from headgate.reprocess.scenarios.shared.internal_topics import Claim
from headgate.reprocess.scenarios.shared.kafka_streams_reset import ResetFacts
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The inputs of `application` that are to have `to` partitions.

    `now` has how many each existing one has, `strangers` are those named that it doesn't read.
    `internal` has how many each existing internal topic has. `odd` are repartition topics with
    another number than their inputs give, as the facts name them. `fixed` are those of which it is
    verified that the code fixes the number, because the application works with it.
    """

    application: str
    to: int
    facts: StreamsApplication
    reach: Reach
    now: Mapping[str, int]
    strangers: tuple[str, ...] = ()
    internal: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    odd: Mapping[str, int] = field(default_factory=dict)

    @property
    def raised(self) -> dict[str, int]:
        """Those that have fewer, with how many they have."""
        return {name: count for name, count in self.now.items() if count < self.to}

    @property
    def is_done(self) -> bool:
        """Whether nothing has another number."""
        bound = {count for name, count in self.internal.items() if name not in self.own}
        return not self.raised and (not self.reach.sized or bound == {self.to})

    @property
    def own(self) -> dict[str, int]:
        """What has a number by the code: repartition topics, and the changelogs behind them."""
        found = dict(self.fixed)
        for one in self.facts.repartitions:
            if one.topic in self.fixed:
                behind = (s for s in self.facts.stores if s.subtopology in one.reads_into)
                found |= {s.changelog: self.fixed[one.topic] for s in behind if s.changelog}
        return {self.on_cluster(name): number for name, number in found.items()}

    @property
    def loose(self) -> list[str]:
        """The repartition topics of which no source says whether the code fixes their number."""
        found = (r.topic for r in self.facts.repartitions if r.kind is InternalKind.REPARTITION)
        return [self.on_cluster(name) for name in found if name not in self.fixed]

    def on_cluster(self, topic: str) -> str:
        """Return an internal topic's whole name, which facts without an application id lack."""
        return topic if self.facts.application_id else f"{self.application}-{topic}"


def unknown(request: PlanRequest) -> str | None:
    """Return why it isn't known what comes after the inputs; None if a topology describes it."""
    facts = request.version.streams if request.version else None
    if facts is None or not facts.described:
        return (
            f"Headgate has no topology of {request.pipeline.name}, which shows its stores and "
            "keys. Add a file with the output of Topology#describe() to `evidence` in "
            f"headgate.toml, then run {_capture(request, 'FILE')}"
        )
    if facts.application_id not in (None, request.pipeline.group):
        return (
            f"the stored version of {request.pipeline.name} has application.id "
            f"{facts.application_id}, but `group` in headgate.toml is {request.pipeline.group}. "
            f"Capture a version of {request.pipeline.group}: {_capture(request)}"
        )
    return None


def _capture(request: PlanRequest, evidence: str = "EVIDENCE") -> str:
    return f"`headgate capture {evidence} --pipeline {request.pipeline.name}`"


def blockers(seen: ResetFacts, growth: Growth) -> tuple[str, ...]:
    """Return why the plan may not be applied, each reason once; the broker is asked last."""
    found = [*kafka_streams_reset_checks.blockers(seen), *_of_topics(seen, growth)]
    found += [*_of_keys(seen, growth), *_of_answers(seen, growth)]
    if growth.reach.sized:
        found += _of_internals(seen)
    if not found:
        wanted = dict.fromkeys(growth.raised, growth.to)
        found += seen.request.inspector.kafka.unraisable(wanted).values() if wanted else ()
    return tuple(dict.fromkeys(found))


def _of_topics(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    for topic in growth.strangers:
        why = f"Its inputs: {name_list(seen.inputs) or 'none'}"
        if topic in seen.intermediate:
            why = "The application writes to this topic itself"
        yield f"--input-topics: {topic} isn't an input of {seen.application}. {why}"
    for topic, count in sorted(growth.now.items()):
        if count > growth.to:
            yield (
                f"{topic} has {count} partitions, and Kafka can't reduce them to {growth.to}. "
                f"Choose at least {count} with --partitions"
            )
    if growth.now and growth.is_done:
        behind = ""
        if growth.reach.sized or growth.fixed:
            behind = ". The internal topics have the same number"
            if growth.own:
                behind += f" except {name_list(growth.own)} (number set in the code)"
        has = "has" if len(growth.now) == 1 else "have"
        yield (
            f"nothing to do: {name_list(growth.now)} already {has} "
            f"{plural(growth.to, 'partition')}{behind}"
        )


def _of_keys(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Block what would be silently wrong: one key's state in two partitions."""
    kept = {t for s in seen.group.subtopologies or () for t in group_internals(s)}
    if other := _not_described(kept, seen, growth):
        yield (
            f"the broker's topology of {seen.application} has internal topics that the stored "
            f"version lacks: {name_list(other)}. Capture the running version: "
            f"{_capture(seen.request)}"
        )
    for topic in growth.reach.unknown:
        yield (
            f"Headgate doesn't know how {seen.application} uses {topic}: the stored version has "
            "no source for this topic. Capture the running version "
            f"({_capture(seen.request)}), or pass only the other inputs with --input-topics"
        )
    for topic, stores in growth.reach.stores.items():
        if topic in growth.now and not _always_had(topic, stores, growth):
            yield (
                f"{seen.application} keeps state ({name_list(stores)}) by the keys of {topic}, "
                f"one store per partition. With {plural(growth.to, 'partition')}, new records of "
                "a key may go to another partition. Two tasks would then each hold part of the "
                "key's state: results would be silently wrong. Kafka and Headgate don't move "
                "existing records. Add a repartition() before the state in a new version of "
                f"{seen.application}: this scenario then rebuilds the state. Or stop the "
                f"producers, and copy {topic} with the producers' partitioner into a new topic "
                f"with {plural(growth.to, 'partition')}. Then switch the producers and a new "
                f"version of {seen.application} to the new topic"
            )


def _not_described(topics: set[str], seen: ResetFacts, growth: Growth) -> set[str]:
    """Return the internal topics that the stored version does not name."""
    return topics - {topic for topic, _ in named_by_topology(growth.facts, seen.application)}


def _always_had(topic: str, stores: tuple[str, ...], growth: Growth) -> bool:
    """Return whether changelogs show that it worked with as many partitions already."""
    kept = [s.changelog for s in growth.facts.stores if s.name in stores]
    changelogs = {growth.on_cluster(name) for name in kept if name}
    counts = {count for name, count in growth.internal.items() if name in changelogs}
    return growth.now[topic] == growth.to and counts == {growth.to}


def _of_internals(seen: ResetFacts) -> Iterator[str]:
    own = {n for n, i in seen.internals.items() if i.claim is Claim.OWNED}
    if left := sorted(own - set(seen.deleted)):
        yield (
            f"--internal-topics: add {name_list(left)}, or omit the option. Otherwise, these "
            f"topics would keep the old number of partitions. {seen.application} fails to start if "
            "that number doesn't match the inputs"
        )


def _of_answers(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Refuse answers that say what becomes of things which nothing happens to."""
    if growth.reach.sized:
        return
    options = (
        kafka_streams_options.INTERMEDIATE_TOPICS,
        kafka_streams_options.INTERNAL_TOPICS,
        kafka_streams_options.CLEARED,
    )
    why = f"{seen.application} keeps no state downstream of {name_list(growth.now)}"
    if growth.fixed:
        why = f"the code sets the number of partitions of {name_list(growth.own)}"
    for name in (*(o.name for o in options), "outputs"):
        if name in seen.request.options:
            yield (
                f"--{name}: omit this option. Nothing is reprocessed, deleted or cleared, because "
                f"{why}"
            )


def risks(seen: ResetFacts, growth: Growth) -> tuple[str, ...]:
    """Return what it risks, each once."""
    if growth.reach.sized:
        found = [*kafka_streams_reset_checks.risks(seen), *_state_risks(seen, growth)]
    else:
        found = [*common.group_risks(seen.group), *_kept_risks(seen, growth)]
    found += [*_version_risks(seen, growth), *_reader_risks(seen, growth)]
    found += _order_risks(seen, growth)
    return tuple(dict.fromkeys([*found, *_loss_risks(growth)]))


STATE_DELETED = Risk(
    "the state of {pipeline} can't move to other partitions. The run deletes the state, and "
    "the application rebuilds it from the records that the inputs still hold"
)
RECREATED_BY_CODE = Risk(
    "the application recreates these topics with the number of partitions that its code sets: "
    "{topics}",
    topics="TOPIC (N partitions)",
)
PARTITIONS_UNKNOWN = Risk(
    "Headgate doesn't know whether the code sets the number of partitions of {topics} "
    "(Repartitioned.withNumberOfPartitions). If the code sets it, the application recreates "
    "such a topic with its current number of partitions. Otherwise, the topic and the "
    "downstream changelogs get as many partitions as the upstream topic with the most "
    "partitions. The run reports the numbers"
)


def _state_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    yield STATE_DELETED(pipeline=seen.application)
    if growth.fixed:
        yield RECREATED_BY_CODE(topics=_numbers(growth.own))
    yield from _odd_risks(growth)
    if growth.loose:
        yield PARTITIONS_UNKNOWN(topics=name_list(growth.loose))


ODD_PARTITIONS = Risk(
    "these topics have more or fewer partitions than their inputs: {topics}. If the code sets "
    "these numbers, the topics needn't be recreated. Headgate can't verify this, because "
    "{pipeline} isn't running. Start the application, then plan again: the new plan keeps "
    "topics with a number that the code sets",
    topics="TOPIC (N partitions)",
)


def _odd_risks(growth: Growth) -> Iterator[str]:
    """Name what is no longer needed where the application would work as it is."""
    if odd := {growth.on_cluster(n): c for n, c in growth.odd.items() if n not in growth.fixed}:
        yield ODD_PARTITIONS(topics=_numbers(odd), pipeline=growth.application)


PARTITIONS_ASSUMED = Risk(
    "these topics have more or fewer partitions than the inputs: {topics}. The plan assumes "
    "that the code sets these numbers, so {pipeline} keeps its state. If the code doesn't set "
    "them, the application fails to start. Then plan this scenario again: the new plan "
    "rebuilds the state",
    topics="TOPIC (N partitions)",
)


def _kept_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Name what the plan takes for granted, and what comes of it where it is wrong."""
    if growth.fixed:
        yield PARTITIONS_ASSUMED(topics=_numbers(growth.own), pipeline=seen.application)


def _numbers(topics: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name} ({plural(count, 'partition')})" for name, count in sorted(topics.items())
    )


VERSION_LACKS = Risk(
    "the stored version of {pipeline} lacks these internal topics of the application: "
    "{topics}. If another version is running, this plan is wrong about the application's "
    "state: capture the running version"
)


def _version_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    own = {name for name, one in seen.internals.items() if one.claim is Claim.OWNED}
    if other := _not_described(own, seen, growth):
        yield VERSION_LACKS(pipeline=seen.application, topics=name_list(other))


ORDER_OF_KEYS = Risk(
    "after the change to {partitions}, old and new records of a key may be in different "
    "partitions of {topics}. Different tasks then process these records, so their order isn't "
    "kept, even on reprocessing",
    partitions="N partitions",
)
ORDER_OF_RESULTS = Risk(
    "results that depend on the order of records may change: the last value of a key, "
    "sessions and closed windows. Counts and sums don't change. To keep the order, stop the "
    "producers of {topics} until {pipeline} has caught up"
)


def _order_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    names = name_list(growth.now)
    yield ORDER_OF_KEYS(partitions=plural(growth.to, "partition"), topics=names)
    if growth.reach.sized:
        yield ORDER_OF_RESULTS(topics=names, pipeline=seen.application)


OTHER_APPLICATIONS = Risk(
    "{topic} is also read by {applications}. A Kafka Streams application that keeps state "
    "from this topic stops when it sees the new partitions: repartition that application, too"
)
OTHER_CONSUMERS = Risk(
    "{topic} is also read by {consumers}. For these consumers, keys move to other partitions. "
    "Their settings (such as auto.offset.reset) decide at which offset they start in the "
    "added partitions"
)


def _reader_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    for topic in sorted(growth.raised):
        groups = {g.id: g for g in seen.groups.values() if _reads(g, topic)}
        groups.pop(seen.application, None)
        streams = {i for i, g in groups.items() if g.type is GroupType.STREAMS}
        streams |= groups.keys() & _registered(seen.request)
        others = groups.keys() - streams | _versions(seen.request, topic)
        if streams:
            yield OTHER_APPLICATIONS(topic=topic, applications=name_list(streams))
        if others:
            yield OTHER_CONSUMERS(topic=topic, consumers=name_list(others))


def _reads(group: Group, topic: str) -> bool:
    return any(o.topic == topic and o.offset is not None for o in group.offsets)


def _registered(request: PlanRequest) -> set[str]:
    """Return the application ids that are registered."""
    found = (
        p.group for p in request.inspector.processes.pipelines() if p.engine is Engine.KAFKA_STREAMS
    )
    return {group for group in found if group}


def _versions(request: PlanRequest, topic: str) -> set[str]:
    """Return the other pipelines whose stored version reads a topic; a query shows in no group."""
    return {
        name
        for name, version in request.others.items()
        if any(topic in source.topics for source in version.sources or ())
    }


PARTITIONS_STAY = Risk(
    "the added partitions of {topics} can't be undone, because Kafka can't remove partitions. "
    "Once the partitions are added, an undo of the run is blocked"
)
DELETION_STAYS = Risk(
    "the deletion of internal topics can't be undone: if they had the old number of "
    "partitions again, {pipeline} would fail to start"
)


def _loss_risks(growth: Growth) -> Iterator[str]:
    if growth.raised:
        yield PARTITIONS_STAY(topics=name_list(growth.raised))
    if growth.reach.sized and growth.internal:
        yield DELETION_STAYS(pipeline=growth.application)


RISKS = (
    *kafka_streams_reset_checks.RISKS,
    STATE_DELETED,
    RECREATED_BY_CODE,
    PARTITIONS_UNKNOWN,
    ODD_PARTITIONS,
    PARTITIONS_ASSUMED,
    VERSION_LACKS,
    ORDER_OF_KEYS,
    ORDER_OF_RESULTS,
    OTHER_APPLICATIONS,
    OTHER_CONSUMERS,
    PARTITIONS_STAY,
    DELETION_STAYS,
)
