"""Which topics a reset of a Kafka Streams application may delete, and the evidence for it.

A topic that looks internal and begins with `<application.id>-` is

OWNED      evidence says that it is the application's, and nobody else claims it
CONTESTED  another application or group claims it, too: never deleted
FOREIGN    another application's, by evidence or by its longer id: never deleted
UNPROVEN   nothing says whose it is: somebody has to
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from headgate.landscape.internal_topic_owner import ownership_evidence
from headgate.model.cluster import Cluster, Group
from headgate.model.kafka_streams import internal_kind
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Version


class Claim(StrEnum):
    """Whose a topic is; see the module."""

    OWNED = "owned"
    CONTESTED = "contested"
    FOREIGN = "foreign"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Internal:
    """One topic that looks like the application's internal one; `why` is a clause."""

    topic: str
    claim: Claim
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOwners:
    """What is known of the cluster and of all applications.

    `topics` are the names of all topics, `versions` those stored of registered pipelines by name.
    """

    topics: frozenset[str]
    groups: Mapping[str, Group]
    pipelines: tuple[Pipeline, ...] = ()
    versions: Mapping[str, Version] | None = None


def judge(
    application: str, named: Mapping[str, str], around: ClusterOwners, *, but: Iterable[str] = ()
) -> dict[str, Internal]:
    """Return every topic that looks like an internal one of the application, by its name.

    `named` are the topics that its own topology names, each with the evidence in words. `but` are
    topics that it reads as inputs: they are none of its internal ones, however they are called.
    """
    mine = {t for t in around.topics if t.startswith(f"{application}-") and internal_kind(t)}
    candidates = sorted(mine - set(but))
    proven = _evidence_of(around)
    committed = _committers(around, candidates)
    return {
        topic: _judged(
            topic, application, named.get(topic), proven.get(topic, {}), around, committed
        )
        for topic in candidates
    }


def _judged(
    topic: str,
    application: str,
    named: str | None,
    proven: Mapping[str, str],
    around: ClusterOwners,
    committed: Mapping[str, tuple[str, ...]],
) -> Internal:
    own = named or proven.get(application)
    theirs = dict(_theirs(topic, application, proven, around))
    readers = {
        g: f"group {g} has committed offsets for the topic"
        for g in committed[topic]
        if g != application
    }
    readers |= dict(_pipelines_of(topic, around))
    claims = "; ".join((theirs or readers).values())
    if own is None and theirs:
        return Internal(topic=topic, claim=Claim.FOREIGN, why=claims)
    if theirs or readers:
        why = f"{claims}; {own}" if own else claims
        return Internal(topic=topic, claim=Claim.CONTESTED, why=why)
    if own is None:
        why = "only the prefix of the topic's name suggests that the application owns it"
        return Internal(topic=topic, claim=Claim.UNPROVEN, why=why)
    return Internal(topic=topic, claim=Claim.OWNED, why=own)


def _evidence_of(around: ClusterOwners) -> dict[str, dict[str, str]]:
    """Return by topic the evidence of whose it is, by application id."""
    cluster = Cluster(id="", at="", bootstrap="", groups=dict(around.groups))
    return ownership_evidence(Registry(pipelines=around.pipelines), around.versions or {}, cluster)


def _theirs(
    topic: str, application: str, proven: Mapping[str, str], around: ClusterOwners
) -> Iterator[tuple[str, str]]:
    """Yield the other applications that claim a topic, each with the reason."""
    for other, proof in sorted(proven.items()):
        if other != application:
            yield other, f"the topic belongs to application {other}: {proof}"
    for other in sorted(_ids(around)):
        longer = len(other) > len(application) and topic.startswith(f"{other}-")
        if longer and other not in proven:
            yield other, f"the topic's name starts with {other}-, the prefix of application {other}"


def _pipelines_of(topic: str, around: ClusterOwners) -> Iterator[tuple[str, str]]:
    """Yield the other pipelines that read a topic; a Spark query shows in no group."""
    for name, version in sorted((around.versions or {}).items()):
        streams = version.streams.sources if version.streams else ()
        read = {t for source in version.sources or () for t in source.topics}
        if topic in read | {t for source in streams for t in source.topics}:
            yield name, f"pipeline {name} reads the topic"


def _ids(around: ClusterOwners) -> set[str]:
    registered = {p.group for p in around.pipelines if p.engine is Engine.KAFKA_STREAMS and p.group}
    return registered | around.groups.keys()


def _committers(around: ClusterOwners, topics: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: [] for name in topics}
    for group in around.groups.values():
        for topic in {o.topic for o in group.offsets if o.offset is not None} & found.keys():
            found[topic].append(group.id)
    return {name: tuple(sorted(groups)) for name, groups in found.items()}
