"""Facts of a Kafka Streams application: processors, stores, repartitions, topics, configuration.

    StreamsApplication
    ├── processors     every node of the description, by the name that the description gives it
    ├── stores         exact names; a changelog is called `<application.id>-<store>-changelog`
    ├── repartitions   exact names; the topic is called `<application.id>-<name>`
    ├── sources        topics or a pattern; sinks: a topic or an extractor
    ├── internal       internal topics as they are on the cluster
    └── config         what the application is configured with, secrets masked

None means that the evidence did not say, an empty tuple that it said there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum


class InternalKind(StrEnum):
    """What an internal topic is for."""

    CHANGELOG = "changelog"
    REPARTITION = "repartition"
    SUBSCRIPTION_REGISTRATION = "subscription_registration"
    SUBSCRIPTION_RESPONSE = "subscription_response"
    UNKNOWN = "unknown"


_SUBSCRIPTION = re.compile(r"-SUBSCRIPTION-(?P<end>REGISTRATION|RESPONSE)(-\d{10})?-TOPIC$")


def internal_kind(topic: str) -> InternalKind | None:
    """Return what an internal topic of that name would be for, None where it looks like none.

    Only Kafka Streams' way of naming is looked at, which proves nothing: anybody may call a topic
    `orders-changelog`.
    """
    if topic.endswith("-changelog"):
        return InternalKind.CHANGELOG
    if topic.endswith("-repartition"):
        return InternalKind.REPARTITION
    match = _SUBSCRIPTION.search(topic.upper())
    return InternalKind(f"subscription_{match['end'].lower()}") if match else None


def looks_internal(topic: str) -> bool:
    """Whether a topic is called as Kafka Streams calls changelogs and repartition topics."""
    return internal_kind(topic) is not None


class _Counted:
    """What has a `number` where its name holds the counter of a generated one."""

    __slots__ = ()
    number: int | None

    @property
    def is_generated(self) -> bool:
        """Whether Kafka Streams made the name up; it shifts when an operator is inserted."""
        return self.number is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsProcessor(_Counted):
    """One node of the description: `kind` is `source`, `processor` or `sink`.

    `name` is the description's own. `number` is the counter in a generated name
    (`KSTREAM-FILTER-0000000003` is 3), None where the code names the node. `operator` is the word
    of the topology's node, `node` its id; both ends of a repartition topic have the repartition's.
    """

    name: str
    kind: str
    operator: str
    subtopology: int
    number: int | None = None
    stores: tuple[str, ...] = ()
    predecessors: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()
    topology: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsStore(_Counted):
    """One state store by its exact name.

    `number` as for a processor: a generated name shifts, and with it the changelog. `processors`
    are the descriptions' names of all that use it. `changelog` is the topic expected on the
    cluster, without the application id where that is not known; None where none is to be expected
    (a global store; a source topic that serves as changelog stands in `restored_from`).
    """

    name: str
    number: int | None = None
    processors: tuple[str, ...] = ()
    subtopology: int | None = None
    is_global: bool = False
    changelog: str | None = None
    restored_from: str | None = None
    topology: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repartition(_Counted):
    """One topic between sub-topologies: `name` as described, `topic` with the application id."""

    name: str
    topic: str
    kind: InternalKind = InternalKind.REPARTITION
    number: int | None = None
    partitions: int | None = None
    sinks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    writes_from: tuple[int, ...] = ()
    reads_into: tuple[int, ...] = ()
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsSource:
    """A source of outside data: topics by exact name, or a pattern; `processor` is its name."""

    processor: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    subtopology: int | None = None
    is_global: bool = False
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsSink:
    """A sink: its topic, or the class of the extractor that names a topic for each record."""

    processor: str
    topic: str | None = None
    extractor: str | None = None
    subtopology: int | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopic:
    """An internal topic as it is on the cluster; offsets are by partition and no part of a version.

    `configs` are those set on the topic, `effective` those in force as far as they were recorded.
    `proof` says why it belongs to the application, None where somebody's file just lists it.
    """

    name: str
    kind: InternalKind = InternalKind.UNKNOWN
    partitions: int | None = None
    configs: dict[str, str] = field(default_factory=dict)
    effective: dict[str, str] = field(default_factory=dict)
    begin_offsets: tuple[int, ...] = ()
    end_offsets: tuple[int, ...] = ()
    proof: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTopic:
    """An internal topic as a streams group's own topology has it.

    `partitions` is what it has, whether the code fixes that or the inputs give it (Kafka 4.3.1);
    None before the broker knows.
    """

    name: str
    partitions: int | None = None
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSubtopology:
    """A sub-topology as the broker keeps it for a group of the streams protocol (KIP-1071)."""

    id: str
    sources: tuple[str, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[GroupTopic, ...] = ()
    changelogs: tuple[GroupTopic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsApplication:
    """Everything that evidence said of a Kafka Streams application.

    `described` says whether a description of the topology was read; without one processors,
    sinks and stores are at most what the cluster proves. `protocol` is `classic` or `streams`: of
    the group on the cluster, else of the configuration. `group_topology` is the group's own.
    `inputs` are partitions by topic; `said_inputs` as the file had them, where names differ.
    `config` are settings, secrets masked; `config_is_whole` where defaults are among them, too.
    """

    application_id: str | None = None
    described: bool = False
    topologies: tuple[str, ...] = ()
    processors: tuple[StreamsProcessor, ...] = ()
    stores: tuple[StreamsStore, ...] = ()
    repartitions: tuple[Repartition, ...] = ()
    sources: tuple[StreamsSource, ...] = ()
    sinks: tuple[StreamsSink, ...] = ()
    internal: tuple[InternalTopic, ...] | None = None
    inputs: dict[str, int] = field(default_factory=dict)
    said_inputs: dict[str, int] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)
    config_is_whole: bool = False
    protocol: str | None = None
    group_topology: tuple[GroupSubtopology, ...] | None = None

    def store(self, name: str) -> StreamsStore | None:
        """Return the store of that name, or None."""
        return next((s for s in self.stores if s.name == name), None)

    def processor(self, name: str) -> StreamsProcessor | None:
        """Return the node of that name, or None."""
        return next((p for p in self.processors if p.name == name), None)

    def expected_topics(self) -> dict[str, InternalKind]:
        """Return the internal topics that the description implies, none without application id.

        A changelog is expected of each store that could have one: which stores have logging
        switched off is in no description.
        """
        if not self.application_id:
            return {}
        changelogs = {s.changelog: InternalKind.CHANGELOG for s in self.stores if s.changelog}
        return changelogs | {r.topic: r.kind for r in self.repartitions}
