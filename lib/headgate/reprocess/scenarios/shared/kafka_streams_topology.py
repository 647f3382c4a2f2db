"""What a plan knows of a Kafka Streams application's topology, and from where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.errors import EvidenceError
from headgate.landscape.internal_topic_owner import group_internals, named_by_topology
from headgate.model.cluster import Group
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.version import Version
from headgate.text.java_patterns import java_pattern

PREFIX = "topology-"
INTERNAL, SOURCE = f"{PREFIX}internal", f"{PREFIX}source"
PATTERN, SINK, STORE = f"{PREFIX}pattern", f"{PREFIX}sink", f"{PREFIX}store"
GIVEN = "the topology from --topology contains the topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """What evidence says. `internal` maps a topic to the evidence that it is the application's.

    `sources` are read from outside and committed; `patterns` are regular expressions of more. They
    are whole if `is_told`. `stores` is None if it isn't known which there are. `committed` are the
    topics that its group has offsets of.
    """

    is_told: bool = False
    internal: Mapping[str, str] = field(default_factory=dict)
    sources: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    sinks: frozenset[str] = frozenset()
    stores: frozenset[str] | None = None
    committed: frozenset[str] = frozenset()

    def reads(self, topic: str) -> bool:
        """Whether the topic is, or may be, one of its inputs."""
        return topic in self.sources or bool(self.unclear) or self.matches(topic)

    def matches(self, topic: str) -> bool:
        """Whether one of its patterns is known to match the topic."""
        found = (java_pattern(p) for p in self.patterns)
        return any(p is not None and p.fullmatch(topic) for p in found)

    @property
    def unclear(self) -> tuple[str, ...]:
        """The patterns that only Java understands: no topic is known not to match them."""
        return tuple(p for p in self.patterns if java_pattern(p) is None)

    @property
    def loops(self) -> frozenset[str]:
        """Topics that it both writes and reads: a reset skips what is in them.

        An unclear pattern says so only of topics that the application has committed offsets of.
        """
        sure = {t for t in self.sinks if t in self.sources or self.matches(t)}
        return frozenset(sure | {t for t in self.sinks & self.committed if self.reads(t)})


def topology_options(version: Version, application: str) -> dict[str, list[str]]:
    """Return what a version says as options of a plan, which is rebuilt from them.

    EvidenceError if the version isn't a Kafka Streams application's, or is another one's.
    """
    facts = version.streams
    if facts is None or not facts.described:
        raise EvidenceError(
            "--topology: the evidence has no description of a Kafka Streams topology. Pass the "
            "output of Topology#describe()"
        )
    if facts.application_id not in (None, application):
        raise EvidenceError(
            f"--topology: the evidence describes application {facts.application_id}, not "
            f"{application}. Pass the topology of {application}, or correct --application-id"
        )
    told = _described(facts, application, GIVEN)
    return {
        INTERNAL: sorted(told.internal),
        SOURCE: sorted(told.sources),
        PATTERN: sorted(told.patterns),
        SINK: sorted(told.sinks),
        STORE: sorted(told.stores or ()),
    }


def topology(
    options: Mapping[str, Any], version: Version | None, application: str, group: Group
) -> Topology:
    """Return what is known: what was given, else what is stored, and what the broker keeps, too.

    A stored version of another application says nothing.
    """
    facts = version.streams if version else None
    if any(name in options for name in (INTERNAL, SOURCE, PATTERN, SINK, STORE)):
        told = _given(options)
    elif facts and facts.described and facts.application_id in (None, application):
        told = _described(facts, application)
    else:
        told = Topology()
    committed = frozenset(o.topic for o in group.offsets if o.offset is not None)
    return replace(_with_group(told, group), committed=committed)


def _given(options: Mapping[str, Any]) -> Topology:
    return Topology(
        is_told=True,
        internal=dict.fromkeys(options.get(INTERNAL, ()), GIVEN),
        sources=frozenset(options.get(SOURCE, ())),
        patterns=tuple(options.get(PATTERN, ())),
        sinks=frozenset(options.get(SINK, ())),
        stores=frozenset(options.get(STORE, ())),
    )


def _described(facts: StreamsApplication, application: str, proof: str | None = None) -> Topology:
    named = {t: proof or why for t, why in named_by_topology(facts, application)}
    read = [s for s in facts.sources if not s.is_global]
    return Topology(
        is_told=True,
        internal=named,
        sources=frozenset(t for s in read for t in s.topics) - named.keys(),
        patterns=tuple(s.pattern for s in read if s.pattern),
        sinks=frozenset(s.topic for s in facts.sinks if s.topic) - named.keys(),
        stores=frozenset(s.name for s in facts.stores if not s.is_global),
    )


def _with_group(told: Topology, group: Group) -> Topology:
    """Add what the broker keeps of a streams group's topology; it has no sinks and no patterns."""
    kept = group.subtopologies
    if not kept:
        return told
    proof = f"the topic is in the topology that the broker stores for streams group {group.id}"
    own = _internals(group.id, (t for s in kept for t in group_internals(s)), proof)
    sources = frozenset(t for s in kept for t in s.sources)
    return Topology(
        is_told=True,
        internal={**own, **told.internal},
        sources=told.sources | (sources - own.keys()),
        patterns=told.patterns,
        sinks=told.sinks,
        stores=told.stores,
    )


def _internals(application: str, topics: Iterable[str], proof: str) -> dict[str, str]:
    return {t: proof for t in topics if t.startswith(f"{application}-")}
