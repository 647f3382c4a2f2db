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
            f"what {request.pipeline.name} keeps, and by which keys, is not known: capture a"
            " version"
            " with its topology (headgate capture), which tells whether its inputs may get more"
            " partitions. Register that topology as `evidence` in headgate.toml, too: what the"
            " cluster alone shows of the application is stored without one, and is asked first"
        )
    if facts.application_id not in (None, request.pipeline.group):
        return (
            f"the stored version of {request.pipeline.name} is of {facts.application_id}, not of"
            f" {request.pipeline.group}: capture one of it"
        )
    return None


def blockers(seen: ResetFacts, growth: Growth) -> tuple[str, ...]:
    """Return why the plan may not be applied, each reason once; the broker is asked last."""
    found = [*kafka_streams_reset_checks.blockers(seen), *_of_topics(seen, growth)]
    found += [*_of_keys(seen, growth), *_of_answers(seen, growth)]
    if growth.reach.sized:
        found += _of_internals(seen, growth)
    if not found:
        wanted = dict.fromkeys(growth.raised, growth.to)
        found += seen.request.inspector.unraisable(wanted).values() if wanted else ()
    return tuple(dict.fromkeys(found))


def _of_topics(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    for topic in growth.strangers:
        loop = topic in seen.intermediate
        why = "writes it itself" if loop else f"reads {name_list(seen.inputs) or 'no topic'}"
        yield f"{topic} is no input of {seen.application}, which {why}"
    for topic, count in sorted(growth.now.items()):
        if count > growth.to:
            yield f"{topic} has {count} partitions, and Kafka takes none away: {growth.to} can't be"
    if growth.now and growth.is_done:
        behind = "and no state"
        if growth.reach.sized or growth.fixed:
            behind = "and so have the internal topics"
            behind += (
                f" but {name_list(growth.own)}, whose number the code fixes" if growth.own else ""
            )
        yield f"{name_list(growth.now)} has {growth.to} partitions already, {behind}: nothing to do"


def _of_keys(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Refuse what would go wrong without a word: one key's state in two places."""
    kept = {t for s in seen.group.subtopologies or () for t in group_internals(s)}
    if other := _not_described(kept, seen, growth):
        yield (
            f"the broker keeps {name_list(other)} in the topology of {seen.application}, and the"
            " stored"
            " version has none of that: capture the version that runs"
        )
    for topic in growth.reach.unknown:
        yield (
            f"what {seen.application} does with {topic} is not known: the stored version has no"
            " source of it. Capture the one that runs, or leave it out with --input-topics"
        )
    for topic, stores in growth.reach.stores.items():
        if topic in growth.now and not _always_had(topic, stores, growth):
            yield (
                f"{seen.application} keeps {name_list(stores)} by the keys of {topic} as they lie"
                " in"
                f" its partitions: of a key whose records come to another one of {growth.to}, two"
                " tasks would each hold a part, and results would be wrong without an error."
                f" Kafka moves no record, and nothing here copies any. Either let a new version of"
                f" {seen.application} repartition() them in front of that state: then this scenario"
                f" makes it anew. Or fill a new topic of {growth.to} partitions by key, with the"
                " partitioner of its producers, while they stand still; then let them and a new"
                f" version of {seen.application} use that one"
            )


def _not_described(topics: set[str], seen: ResetFacts, growth: Growth) -> set[str]:
    """Return the internal topics that the stored version does not name."""
    return topics - {topic for topic, _ in named_by_topology(growth.facts, seen.application)}


def _always_had(topic: str, stores: tuple[str, ...], growth: Growth) -> bool:
    """Return whether changelogs show that it worked with as many partitions already."""
    kept = [s.changelog for s in growth.facts.stores if s.name in stores]
    name_list = {growth.on_cluster(name) for name in kept if name}
    counts = {count for name, count in growth.internal.items() if name in name_list}
    return growth.now[topic] == growth.to and counts == {growth.to}


def _of_internals(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    own = {n for n, i in seen.internals.items() if i.claim is Claim.OWNED}
    if left := sorted(own - set(seen.deleted)):
        yield (
            f"{name_list(left)} would stay as it is, and {seen.application} refuses to start on"
            " another"
            " number of partitions than its inputs call for: name it with --internal-topics, too"
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
    keeps = "keeps nothing"
    if growth.fixed:
        keeps = f"goes on with {name_list(growth.own)}, whose number the code fixes,"
    for name in (*(o.name for o in options), "outputs"):
        if name in seen.request.options:
            yield (
                f"--{name}: {seen.application} {keeps} behind {name_list(growth.now)}, so nothing"
                " is read again, deleted or cleared"
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
        f"the state of {seen.application} can't be carried over to other partitions: it is deleted"
        " and made anew from what its inputs still hold"
    )
    if growth.fixed:
        said = ", ".join(f"{name} with {count}" for name, count in sorted(growth.own.items()))
        yield f"what has a number by the code is made anew with that: {said}"
    yield from _odd_risks(growth)
    if growth.loose:
        yield (
            f"no description tells whether the code fixes the number of {name_list(growth.loose)}"
            " (Repartitioned.withNumberOfPartitions): one that it does not fix gets as many"
            " partitions as the widest of what it is written from, one that it fixes comes back"
            " with as many as it has now, and so do the changelogs behind it; the run says which"
        )


def _odd_risks(growth: Growth) -> Iterator[str]:
    """Name what is no longer needed where the application would work as it is."""
    if odd := {n: count for n, count in growth.odd.items() if n not in growth.fixed}:
        said = ", ".join(f"{growth.on_cluster(n)} has {count}" for n, count in sorted(odd.items()))
        yield (
            f"{said} partitions, which its inputs don't give, and {growth.application} is not at"
            " work: if the code fixes that number, it need not be made anew. Start it first: a plan"
            " that finds it at work leaves it alone"
        )


def _kept_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    """Name what the plan takes for granted, and what comes of it where it is wrong."""
    said = ", ".join(f"{name} has {n}" for name, n in sorted(growth.own.items()))
    if growth.fixed:
        yield (
            f"{said} partitions, which the inputs don't give: the code fixes that, so"
            f" {seen.application} goes on with its state. Where it does not fix it, the application"
            " refuses to start, and this scenario, asked again, makes the state anew"
        )


def _version_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    own = {name for name, one in seen.internals.items() if one.claim is Claim.OWNED}
    if other := _not_described(own, seen, growth):
        yield (
            f"{name_list(other)} is {seen.application}'s, and its stored version has none of that:"
            " where that is not the version that runs, what is said here of its state is wrong"
        )


def _order_risks(seen: ResetFacts, growth: Growth) -> Iterator[str]:
    names = name_list(growth.now)
    yield (
        f"records of one key in {names} are in order only within those from before it had"
        f" {growth.to} partitions, and within those since: different tasks read the two, now and"
        " whenever it is read from its beginning"
    )
    if growth.reach.sized:
        yield (
            "counts and sums come out the same in any order; the last value of a key, sessions and"
            " windows that close may not: where they matter, let nothing write to"
            f" {names} until {seen.application} has caught up"
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
                f"{topic} is read by {name_list(streams)}, too: a Kafka Streams application with"
                " state"
                " behind it ends as soon as it sees the new partitions, and has to be"
                " repartitioned, too"
            )
        if others:
            yield (
                f"{topic} is read by {name_list(others)}, too: its keys move for them as well, and"
                " added partitions begin where each is configured to"
            )


def _reads(group: Group, topic: str) -> bool:
    return any(o.topic == topic and o.offset is not None for o in group.offsets)


def _registered(request: PlanRequest) -> set[str]:
    """Return the application ids that are registered."""
    found = (p.group for p in request.inspector.pipelines() if p.engine is Engine.KAFKA_STREAMS)
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
            f"can't be undone: {name_list(growth.raised)} keeps {growth.to} partitions, Kafka takes"
            " none away; from then on an undo of the run is refused"
        )
    if growth.reach.sized and growth.internal:
        yield (
            "can't be undone: the internal topics had fewer partitions than the inputs call for,"
            " and with them the application would refuse to start"
        )
