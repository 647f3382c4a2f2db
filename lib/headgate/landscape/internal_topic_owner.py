"""The owner of an internal topic of Kafka Streams, and the evidence for it.

A topic belongs to an application because
- the application's described topology has a store or repartition of exactly that name,
- the registry lists it among the pipeline's topics,
- the topology that the broker keeps of its streams group names it, or
- it is a repartition topic and the application's group has committed on it.

The prefix of a name isn't evidence: `my-app-v1-counts-changelog` may belong to `my-app` or to
`my-app-v1`. The owner of such a topic isn't verified; every application whose id is a prefix of
the name is a candidate. An application's input is never its internal topic, whatever its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from headgate.model.cluster import Cluster, Group, GroupType, Topic
from headgate.model.kafka_streams import (
    GroupSubtopology,
    InternalKind,
    StreamsApplication,
    internal_kind,
)
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The owner of one topic that looks internal.

    `application` is the verified owner's application id, `owner` its pipeline's name (None if no
    pipeline declares it). `proof` is the evidence in words, or why there is none. If the owner
    isn't verified, `candidates` are the application ids that are a prefix of the topic's name,
    longest first, or those that contradict each other. `records` is an upper bound, `bytes` the
    size of one replica; None if not read.
    """

    topic: str
    kind: InternalKind
    application: str | None = None
    owner: str | None = None
    proof: str = ""
    candidates: tuple[str, ...] = ()
    records: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """An application that may own topics: declared, or only seen as a group."""

    application: str
    pipeline: str | None = None
    facts: StreamsApplication | None = None
    declared: tuple[str, ...] = ()
    group: Group | None = None


def ownership(
    registry: Registry, versions: Mapping[str, Version], cluster: Cluster | None
) -> dict[str, Ownership]:
    """Return the ownership of every topic that looks internal, by its name.

    Without a cluster the topics are those that the described topologies imply. Takes time linear in
    topics, stores and commits.
    """
    claimants = tuple(_claimants(registry, versions, cluster))
    ownership_evidence = _evidence_of(claimants)
    topics = cluster.topics if cluster else {}
    names = sorted(
        {n for n in topics if internal_kind(n)} | ({*ownership_evidence} if not cluster else set())
    )
    ids = {c.application: c.pipeline for c in claimants}
    return {
        name: _ownership(name, topics.get(name), ownership_evidence.get(name, {}), ids)
        for name in names
    }


def ownership_evidence(
    registry: Registry, versions: Mapping[str, Version], cluster: Cluster | None
) -> dict[str, dict[str, str]]:
    """Return {topic: {application id: the evidence in words}}; nothing is weighed here."""
    return _evidence_of(_claimants(registry, versions, cluster))


def owned_by(found: Mapping[str, Ownership], application: str) -> tuple[Ownership, ...]:
    """Return the topics of which an application is the verified owner."""
    return tuple(o for o in found.values() if o.application == application)


def _claimants(
    registry: Registry, versions: Mapping[str, Version], cluster: Cluster | None
) -> Iterator[Claimant]:
    groups = cluster.groups if cluster else {}
    declared = set()
    for pipeline in registry.pipelines:
        if pipeline.engine is Engine.KAFKA_STREAMS and pipeline.group:
            declared.add(pipeline.group)
            yield _declared(pipeline, versions.get(pipeline.name), groups.get(pipeline.group))
    for group in groups.values():
        if group.id not in declared and _is_application(group):
            yield Claimant(application=group.id, group=group)


def _declared(pipeline: Pipeline, version: Version | None, group: Group | None) -> Claimant:
    facts = version.streams if version else None
    # A description of another application under this pipeline's name proves nothing for it.
    fitting = facts if facts and facts.application_id in (None, pipeline.group) else None
    return Claimant(
        application=str(pipeline.group),
        pipeline=pipeline.name,
        facts=fitting,
        declared=pipeline.topics,
        group=group,
    )


def _is_application(group: Group) -> bool:
    """Whether a group shows that it is a Kafka Streams application's."""
    return group.type is GroupType.STREAMS or any(_own_repartitions(group))


def _evidence_of(claimants: Iterable[Claimant]) -> dict[str, dict[str, str]]:
    """Return {topic: {application: the first evidence in words}}."""
    out: dict[str, dict[str, str]] = {}
    for claimant in claimants:
        for topic, proof in _owned_topics(claimant):
            out.setdefault(topic, {}).setdefault(claimant.application, proof)
    return out


def _owned_topics(claimant: Claimant) -> Iterator[tuple[str, str]]:
    """Yield the topics that one application verifiably owns, strongest evidence first."""
    if claimant.facts is not None:
        yield from named_by_topology(claimant.facts, claimant.application)
    for topic in claimant.declared:
        if internal_kind(topic):
            yield topic, f"headgate.toml lists the topic for pipeline {claimant.pipeline}"
    if claimant.group is not None:
        yield from _by_group_topology(claimant.group)
        inputs = _inputs(claimant)
        for topic in _own_repartitions(claimant.group):
            if topic not in inputs:
                yield (
                    topic,
                    f"group {claimant.group.id} has committed offsets of this repartition topic",
                )


def _inputs(claimant: Claimant) -> set[str]:
    """Return what an application is known to read from outside."""
    described = claimant.facts.sources if claimant.facts else ()
    kept = claimant.group.subtopologies if claimant.group else None
    return {t for s in described for t in s.topics} | {t for s in kept or () for t in s.sources}


def named_by_topology(facts: StreamsApplication, application: str) -> Iterator[tuple[str, str]]:
    """Yield the internal topics that a described topology names, each with the evidence in words.

    A description without an application id has names that only lack the id before them.
    """
    prefix = "" if facts.application_id else f"{application}-"
    for store in facts.stores:
        if store.changelog:
            yield (
                f"{prefix}{store.changelog}",
                f"the application's topology has the store {store.name}",
            )
    for repartition in facts.repartitions:
        what = repartition.kind.value.replace("_", " ")
        yield (
            f"{prefix}{repartition.topic}",
            f"the application's topology has the {what} {repartition.name}",
        )


def _by_group_topology(group: Group) -> Iterator[tuple[str, str]]:
    proof = f"the broker's topology of streams group {group.id} contains the topic"
    for subtopology in group.subtopologies or ():
        for topic in group_internals(subtopology):
            if topic.startswith(f"{group.id}-"):
                yield topic, proof


def group_internals(subtopology: GroupSubtopology) -> tuple[str, ...]:
    """Return the internal topics that a streams group's sub-topology names.

    With optimisation the changelogs include a table's own input topic, which isn't internal.
    """
    reading = (t.name for t in subtopology.repartition_sources)
    kept = (t.name for t in subtopology.changelogs if t.name not in subtopology.sources)
    return tuple(dict.fromkeys((*reading, *subtopology.repartition_sinks, *kept)))


def _own_repartitions(group: Group) -> Iterator[str]:
    """Repartition topics that a group commits on under its own id.

    A consumer of another application's repartition topic has another group id. An application whose
    id is a prefix of another one's could still read that one's topic as an input. Then both commit
    on it, and the evidence contradicts itself, which is reported.
    """
    for topic in dict.fromkeys(o.topic for o in group.offsets if o.offset is not None):
        kind = internal_kind(topic)
        if kind not in (None, InternalKind.CHANGELOG) and topic.startswith(f"{group.id}-"):
            yield topic


def _ownership(
    name: str,
    topic: Topic | None,
    ownership_evidence: Mapping[str, str],
    ids: Mapping[str, str | None],
) -> Ownership:
    found = Ownership(
        topic=name,
        kind=internal_kind(name) or InternalKind.UNKNOWN,
        records=topic.records if topic else None,
        bytes=topic.bytes if topic else None,
    )
    if not ownership_evidence:
        return _unverified(found, ids)
    if len(ownership_evidence) > 1:
        said = "; ".join(f"{a}: {p}" for a, p in sorted(ownership_evidence.items()))
        candidates = tuple(sorted(ownership_evidence, key=_longest))
        return replace(found, candidates=candidates, proof=f"contradictory evidence: {said}")
    ((application, proof),) = ownership_evidence.items()
    owner = ids.get(application)
    said = proof if owner else f"{proof}, but no pipeline has application id {application}"
    return replace(found, application=application, owner=owner, proof=said)


def _unverified(found: Ownership, ids: Iterable[str]) -> Ownership:
    candidates = tuple(sorted((i for i in ids if found.topic.startswith(f"{i}-")), key=_longest))
    if not candidates:
        proof = "unverified: no known application id is a prefix of this name"
    else:
        said = " or ".join(candidates)
        proof = (
            f"unverified: the name starts with application id {said}, but no other evidence shows "
            "the owner"
        )
    return replace(found, candidates=candidates, proof=proof)


def _longest(application: str) -> tuple[int, str]:
    return -len(application), application
