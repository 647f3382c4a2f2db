"""Why inputs of a Kafka Streams application can't get more partitions, and what it risks."""

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
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The inputs of `application` that are to have `to` partitions.

    `now` has how many each of them has that exists, `strangers` are those named that it does not
    read. `internal` has how many the internal topics have that are there. `odd` are repartition
    topics with another number than their inputs give, as the facts name them, `fixed` those of
    which it is proven that the code fixes it, because the application works with that.
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
        """The repartition topics of which nothing tells whether the code fixes their number."""
        found = (r.topic for r in self.facts.repartitions if r.kind is InternalKind.REPARTITION)
        return [self.on_cluster(name) for name in found if name not in self.fixed]

    def on_cluster(self, topic: str) -> str:
        """Return an internal topic's whole name, which facts without an application id lack."""
        return topic if self.facts.application_id else f"{self.application}-{topic}"


def unknown(request: PlanRequest) -> str | None:
    """Return why it is not known what lies behind the inputs; None where it is described."""
    facts = request.version.streams if request.version else None
    if facts is None or not facts.described:
        return (
            f"unknown which state {request.pipeline.name} keeps, and by which keys. Capture a "
            "version with its topology (headgate capture): it shows whether the inputs may get "
            "more partitions. Also register that topology as `evidence` in headgate.toml: the "
            "version that Headgate stores from the cluster has none, and is read first"
        )
    if facts.application_id not in (None, request.pipeline.group):
        return (
            f"the stored version of {request.pipeline.name} is of application "
            f"{facts.application_id}, not of {request.pipeline.group}: capture one of it"
        )
    return None


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
        loop = topic in seen.intermediate
        why = "writes it itself" if loop else f"reads {name_list(seen.inputs) or 'no topic'}"
        yield f"{topic} isn't an input of {seen.application}, which {why}"
    for topic, count in sorted(growth.now.items()):
        if count > growth.to:
            yield (
                f"{topic} has {count} partitions, and Kafka can't remove partitions: it can't have "
                f"{growth.to}"
            )
    if growth.now and growth.is_done:
        behind = "and no state"
        if growth.reach.sized or growth.fixed:
            behind = "and so do the internal topics"
            behind += (
                f" except {name_list(growth.own)}, whose number the code fixes"
                if growth.own
                else ""
            )
        yield f"{name_list(growth.now)} already has {growth.to} partitions, {behind}: nothing to do"


def _of_keys(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Refuse what would go wrong without a word: one key's state in two places."""
    kept = {t for s in seen.group.subtopologies or () for t in group_internals(s)}
    if other := _not_described(kept, seen, growth):
        yield (
            f"the broker's topology of {seen.application} has {name_list(other)}, and the stored "
            "version doesn't: capture the running version"
        )
    for topic in growth.reach.unknown:
        yield (
            f"unknown what {seen.application} does with {topic}: the stored version has no "
            "source for it. Capture the running version, or leave the topic out with "
            "--input-topics"
        )
    for topic, stores in growth.reach.stores.items():
        if topic in growth.now and not _always_had(topic, stores, growth):
            yield (
                f"{seen.application} keeps {name_list(stores)} by the keys of {topic}, one store "
                f"per partition. With {growth.to} partitions, new records of a key may go to a "
                "different partition: two tasks would each hold part of its state, and results "
                "would be silently wrong. Neither Kafka nor Headgate moves existing records. "
                f"Either let a new version of {seen.application} repartition() them before that "
                "state: then this scenario rebuilds it. Or stop the producers, fill a new topic "
                f"of {growth.to} partitions by key with their partitioner, and switch them and a "
                f"new version of {seen.application} to it"
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
            f"{name_list(left)} would keep its partition count, and {seen.application} fails to "
            "start if it doesn't match the inputs. Add the topic to --internal-topics"
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
    keeps = "keeps no state"
    if growth.fixed:
        keeps = f"continues with {name_list(growth.own)}, whose number the code fixes,"
    for name in (*(o.name for o in options), "outputs"):
        if name in seen.request.options:
            yield (
                f"--{name}: {seen.application} {keeps} downstream of {name_list(growth.now)}, so "
                "nothing is reprocessed, deleted or cleared"
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


def _state_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    yield (
        f"the state of {seen.application} can't move to other partitions: it is deleted and "
        "rebuilt from what its inputs still hold"
    )
    if growth.fixed:
        said = ", ".join(f"{name} with {count}" for name, count in sorted(growth.own.items()))
        yield f"topics whose number of partitions the code fixes are recreated with it: {said}"
    yield from _odd_risks(growth)
    if growth.loose:
        yield (
            "no description shows whether the code fixes the number of partitions of "
            f"{name_list(growth.loose)} (Repartitioned.withNumberOfPartitions). If it does not, "
            "the topic gets as many as the widest topic that it is written from. If it does, the "
            "topic is recreated with as many as now. The changelogs after it get the same. The "
            "run reports which"
        )


def _odd_risks(growth: Growth) -> Iterator[str]:
    """Name what is no longer needed where the application would work as it is."""
    if odd := {n: count for n, count in growth.odd.items() if n not in growth.fixed}:
        said = ", ".join(f"{growth.on_cluster(n)} has {count}" for n, count in sorted(odd.items()))
        yield (
            f"{said} partitions, which doesn't follow from its inputs, and {growth.application} "
            "isn't running. If the code fixes that number, the topic needn't be recreated. "
            "Start the application first: a plan made while it runs keeps the topic"
        )


def _kept_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Name what the plan takes for granted, and what comes of it where it is wrong."""
    said = ", ".join(f"{name} has {n}" for name, n in sorted(growth.own.items()))
    if growth.fixed:
        yield (
            f"{said} partitions, which doesn't follow from the inputs: the code fixes that, so "
            f"{seen.application} continues with its state. If the code does not fix it, the "
            "application fails to start. Then plan this scenario again: it rebuilds the state"
        )


def _version_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    own = {name for name, one in seen.internals.items() if one.claim is Claim.OWNED}
    if other := _not_described(own, seen, growth):
        yield (
            f"{name_list(other)} belongs to {seen.application}, but is missing in the stored "
            "version. If another version is running, this plan is wrong about its state"
        )


def _order_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    names = name_list(growth.now)
    yield (
        f"in {names}, records of one key keep their order only among records from before the "
        f"change to {growth.to} partitions, and among records after it. Different tasks process "
        "the two, now and at each replay"
    )
    if growth.reach.sized:
        yield (
            "counts and sums are the same in any order. The last value of a key, sessions and "
            f"windows that close may differ. If they matter, let nothing write to {names} until "
            f"{seen.application} has caught up"
        )


def _reader_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    for topic in sorted(growth.raised):
        groups = {g.id: g for g in seen.groups.values() if _reads(g, topic)}
        groups.pop(seen.application, None)
        streams = {i for i, g in groups.items() if g.type is GroupType.STREAMS}
        streams |= groups.keys() & _registered(seen.request)
        others = groups.keys() - streams | _versions(seen.request, topic)
        if streams:
            yield (
                f"{topic} is also read by {name_list(streams)}: a Kafka Streams application with "
                "state after it stops as soon as it sees the new partitions. Repartition it, too"
            )
        if others:
            yield (
                f"{topic} is also read by {name_list(others)}: these consumers see keys move to "
                "other partitions, and start added partitions by their own setting (such as "
                "auto.offset.reset)"
            )


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


def _loss_risks(growth: Growth) -> Iterator[str]:
    if growth.raised:
        yield (
            f"can't be undone: {name_list(growth.raised)} keeps {growth.to} partitions, because "
            "Kafka can't remove partitions. Once they are added, an undo of the run is blocked"
        )
    if growth.reach.sized and growth.internal:
        yield (
            "can't be undone: the internal topics had fewer partitions than the inputs need, "
            "and with them the application would fail to start"
        )
