"""The facts of an application: of its description, its configuration, its lists of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headgate.model.kafka_streams import (
    InternalTopic,
    Repartition,
    StreamsApplication,
    StreamsProcessor,
    StreamsSink,
    StreamsSource,
    StreamsStore,
)
from headgate.parse.kafka_streams.config import Config
from headgate.parse.kafka_streams.description import DescribedNode, Description, Key
from headgate.parse.kafka_streams.generated_names import number_of
from headgate.parse.kafka_streams.internal_topics import Joint
from headgate.parse.kafka_streams.topic_lists import by_topic
from headgate.parse.kafka_streams.topology import Drawn

REUSES_SOURCE = ("all", "reuse.ktable.source.topics")
"""Values of `topology.optimization` that let a table use its source topic as its changelog."""


@dataclass(frozen=True, slots=True)
class Names:
    """How internal topics are called: `<application.id>-[<topology>-]<name>`."""

    application_id: str | None

    def topic(self, name: str, topology: str | None) -> str:
        """Return the topic's name on the cluster, without an application id as far as known."""
        return "-".join(n for n in (self.application_id, topology, name) if n)


def application(
    description: Description,
    drawn: Drawn,
    config: Config,
    internal: tuple[InternalTopic, ...] | None,
    said_inputs: dict[str, int],
) -> StreamsApplication:
    """Return the facts; the description may be empty."""
    names = Names(config.values.get("application.id") or None)
    partitions = {t.name: t.partitions for t in reversed(internal or ())}
    sources = tuple(_sources(description, drawn))
    topics = [t for s in sources for t in s.topics]
    return StreamsApplication(
        application_id=names.application_id,
        described=not description.is_empty,
        topologies=description.topologies,
        processors=tuple(_processors(description, drawn)),
        stores=tuple(_stores(drawn, names, _reused(description, drawn, config))),
        repartitions=tuple(
            _repartition(j, drawn, names, partitions) for j in _sorted(drawn.joints)
        ),
        sources=sources,
        sinks=tuple(_sinks(description, drawn)),
        internal=internal,
        inputs=by_topic(said_inputs, topics),
        said_inputs=said_inputs,
        config=config.values,
        config_is_whole=config.is_whole,
        protocol=_protocol(config),
    )


def _protocol(config: Config) -> str | None:
    """The setting's default is `classic`; a configuration that does not name it leaves it there."""
    if not config.values:
        return None
    return config.values.get("group.protocol", "classic").lower()


def _ordered(nodes: Iterable[DescribedNode]) -> list[DescribedNode]:
    """By sub-topology, counter and name: the order of the text says nothing."""
    return sorted(nodes, key=lambda n: (n.topology or "", n.subtopology, _number(n.name), n.name))


def _number(name: str) -> int:
    found = number_of(name)
    return -1 if found is None else found


def _processors(description: Description, drawn: Drawn) -> Iterable[StreamsProcessor]:
    joint = {n.key for j in drawn.joints for n in (*j.sinks, *j.sources)}
    for node in _ordered(description.nodes):
        word = "repartition" if node.key in joint else drawn.operators[node.key]
        yield _processor(node, word, drawn)


def _processor(node: DescribedNode, operator: str, drawn: Drawn) -> StreamsProcessor:
    neighbours = drawn.neighbours
    return StreamsProcessor(
        name=node.name,
        kind=node.kind,
        operator=operator,
        subtopology=node.subtopology,
        number=number_of(node.name),
        stores=tuple(sorted(node.stores)),
        predecessors=tuple(sorted(n.name for n in neighbours.before.get(node.key, ()))),
        successors=tuple(sorted(n.name for n in neighbours.after.get(node.key, ()))),
        topology=node.topology,
        node=drawn.nodes[node.key],
    )


def _stores(drawn: Drawn, names: Names, reused: dict[Key, str]) -> Iterable[StreamsStore]:
    for (topology, name), node in sorted(
        drawn.stores.items(), key=lambda s: (s[0][0] or "", s[0][1])
    ):
        users = _ordered(drawn.neighbours.users[topology, name])
        is_global = any(u.is_global for u in users)
        topic = reused.get((topology, name))
        if is_global:
            topic = next((t for u in users for t in _read_by(u, drawn)), None)
        yield StreamsStore(
            name=name,
            number=number_of(name),
            processors=tuple(u.name for u in users),
            subtopology=min(u.subtopology for u in users),
            is_global=is_global,
            changelog=None if topic or is_global else names.topic(f"{name}-changelog", topology),
            restored_from=topic,
            topology=topology,
            node=node,
        )


def _read_by(node: DescribedNode, drawn: Drawn) -> tuple[str, ...]:
    before = drawn.neighbours.before.get(node.key, ())
    return tuple(t for n in before if n.kind == "source" for t in n.topics)


def _reused(description: Description, drawn: Drawn, config: Config) -> dict[Key, str]:
    """Return the source topic that serves as changelog, by store, where optimisation is on."""
    said = config.values.get("topology.optimization", "").replace(" ", "").split(",")
    if not set(said) & set(REUSES_SOURCE):
        return {}
    out: dict[Key, str] = {}
    for node in description.nodes:
        topics = _read_by(node, drawn)
        if drawn.operators[node.key] == "table_source" and len(topics) == 1:
            out |= {(node.topology, s): topics[0] for s in node.stores}
    return out


def _sorted(found: Iterable[Joint]) -> list[Joint]:
    return sorted(found, key=lambda j: (j.topology or "", _number(j.topic), j.topic))


def _repartition(
    joint: Joint, drawn: Drawn, names: Names, partitions: Mapping[str, int | None]
) -> Repartition:
    topic = names.topic(joint.topic, joint.topology)
    return Repartition(
        name=joint.topic,
        topic=topic,
        kind=joint.kind,
        number=number_of(joint.topic),
        partitions=partitions.get(topic),
        sinks=tuple(sorted(n.name for n in joint.sinks)),
        sources=tuple(sorted(n.name for n in joint.sources)),
        writes_from=tuple(sorted({n.subtopology for n in joint.sinks})),
        reads_into=tuple(sorted({n.subtopology for n in joint.sources})),
        node=drawn.joint_nodes[joint.topology, joint.topic],
    )


def _sources(description: Description, drawn: Drawn) -> Iterable[StreamsSource]:
    inner = {n.key for j in drawn.joints for n in j.sources}
    for node in _ordered(description.nodes):
        if node.kind == "source" and node.key not in inner:
            yield StreamsSource(
                processor=node.name,
                topics=tuple(sorted(node.topics)),
                pattern=node.pattern,
                subtopology=node.subtopology,
                is_global=node.is_global,
                node=drawn.nodes[node.key],
            )


def _sinks(description: Description, drawn: Drawn) -> Iterable[StreamsSink]:
    inner = {n.key for j in drawn.joints for n in j.sinks}
    for node in _ordered(description.nodes):
        if node.kind == "sink" and node.key not in inner:
            yield StreamsSink(
                processor=node.name,
                topic=node.topic,
                extractor=node.extractor,
                subtopology=node.subtopology,
                node=drawn.nodes[node.key],
            )
