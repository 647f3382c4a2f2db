"""Facts of a Kafka Streams application: processors, stores, repartitions, topics, configuration.

    StreamsApplication
    ├── processors     every node of the description, by its name in the description
    ├── stores         exact names; the changelog is called `<application.id>-<store>-changelog`
    ├── repartitions   exact names; the topic is called `<application.id>-<name>`
    ├── sources        topics or a pattern; sinks: a topic or an extractor
    ├── internal       internal topics as they are on the cluster
    └── config         the application's settings, secrets masked

None means that the evidence doesn't say; an empty tuple, that there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum


class InternalKind(StrEnum):
    """The purpose of an internal topic."""

    CHANGELOG = "changelog"
    REPARTITION = "repartition"
    SUBSCRIPTION_REGISTRATION = "subscription_registration"
    SUBSCRIPTION_RESPONSE = "subscription_response"
    UNKNOWN = "unknown"


_SUBSCRIPTION = re.compile(r"-SUBSCRIPTION-(?P<end>REGISTRATION|RESPONSE)(-\d{10})?-TOPIC$")


def internal_kind(topic: str) -> InternalKind | None:
    """Return the purpose of an internal topic with this name, None for other names.

    The name isn't evidence of an owner: any topic can be called `orders-changelog`.
    """
    if topic.endswith("-changelog"):
        return InternalKind.CHANGELOG
    if topic.endswith("-repartition"):
        return InternalKind.REPARTITION
    match = _SUBSCRIPTION.search(topic.upper())
    return InternalKind(f"subscription_{match['end'].lower()}") if match else None


def looks_internal(topic: str) -> bool:
    """Whether a topic's name follows Kafka Streams' pattern for internal topics."""
    return internal_kind(topic) is not None


class _Counted:
    """What has a `number` where its name holds the counter of a generated one."""

    __slots__ = ()
    number: int | None

    @property
    def is_generated(self) -> bool:
        """Whether Kafka Streams generated the name.

        A generated name changes if an operator is inserted before it.
        """
        return self.number is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsProcessor(_Counted):
    """One node of the description: `kind` is `source`, `processor` or `sink`.

    `name` is the name in the description. `number` is the counter in a generated name
    (`KSTREAM-FILTER-0000000003` is 3), None if the code sets the name. `operator` and `node` are
    the operator and the id of the topology's node. The sink and the source of a repartition topic
    both have the node of the repartition.
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

    `number` is as for a processor: a generated store name can change, and the changelog's name with
    it. `processors` are the names of all processors that use the store. `changelog` is the expected
    topic on the cluster, without the application id if that is unknown. It is None for a global
    store, and if a source topic is used as the changelog (`restored_from`).
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
    """One internal topic between sub-topologies: `topic` is `name` with the application id."""

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
    """A source of external topics, by exact name or by a pattern; `processor` is its name."""

    processor: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    subtopology: int | None = None
    is_global: bool = False
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsSink:
    """A sink: its topic, or the class of the extractor that chooses a topic for each record."""

    processor: str
    topic: str | None = None
    extractor: str | None = None
    subtopology: int | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopic:
    """An internal topic on the cluster. Its offsets (by partition) aren't part of a version.

    `configs` are the settings on the topic, `effective` those in force, as far as they were
    recorded. `proof` says why the topic belongs to the application, None if it is only listed in a
    file.
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
    """An internal topic in the topology that the broker stores for a streams group.

    `partitions` is the topic's number of partitions, set by the code or derived from the inputs
    (Kafka 4.3.1); None if the broker doesn't know it yet.
    """

    name: str
    partitions: int | None = None
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSubtopology:
    """A sub-topology that the broker stores for a group of the streams protocol (KIP-1071)."""

    id: str
    sources: tuple[str, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[GroupTopic, ...] = ()
    changelogs: tuple[GroupTopic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsApplication:
    """Everything that the evidence reports about a Kafka Streams application.

    `described`: a description of the topology was read. Without one, processors, sinks and stores
    are only those that the cluster shows. `protocol` is `classic` or `streams`: of the group on the
    cluster, else of the configuration. `group_topology` is the topology that the broker stores for
    the group. `inputs` are partitions by topic. `said_inputs` are the inputs as the file has them,
    if its names differ. `config` are settings, secrets masked; `config_is_whole`: it also has the
    default values.
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
        """Return the store with this name, or None."""
        return next((s for s in self.stores if s.name == name), None)

    def processor(self, name: str) -> StreamsProcessor | None:
        """Return the node with this name, or None."""
        return next((p for p in self.processors if p.name == name), None)

    def expected_topics(self) -> dict[str, InternalKind]:
        """Return the internal topics that the description implies; none without an application id.

        Every store that can have a changelog is expected to have one: a description doesn't show
        whether logging is disabled.
        """
        if not self.application_id:
            return {}
        changelogs = {s.changelog: InternalKind.CHANGELOG for s in self.stores if s.changelog}
        return changelogs | {r.topic: r.kind for r in self.repartitions}
