"""The graph of an application without a known description: what its group shows.

A group of the streams protocol names sources, repartitions and changelogs by sub-topology, a
classic one only the topics that it commits on. Operators and sinks are never known here: each
sub-topology has one node that says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from headgate.model.cluster import Group
from headgate.model.kafka_streams import (
    GroupSubtopology,
    GroupTopic,
    InternalKind,
    Repartition,
    StreamsApplication,
    StreamsSource,
    StreamsStore,
    internal_kind,
)
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.parse.kafka_streams.generated_names import number_of
from headgate.parse.kafka_streams.node_ids import Part, node_ids, store_id

UNKNOWN = "unknown"


@dataclass(slots=True)
class _Sketch:
    parts: dict[Hashable, Part] = field(default_factory=dict)
    edges: dict[tuple[Hashable, Hashable], None] = field(default_factory=dict)


def partial(
    app: StreamsApplication, group: Group | None, owned: Sequence[str]
) -> tuple[StreamsApplication, Topology]:
    """Return facts and graph; both are empty where there is no group that reads anything."""
    kept = app.group_topology or _of_commits(group, owned)
    if not kept:
        return app, Topology()
    sketch = _sketch(kept)
    ids = node_ids(sketch.parts, sketch.edges)
    stores = _stores(app, kept, ids)
    known = replace(
        app,
        sources=_sources(kept, ids),
        stores=stores,
        repartitions=_repartitions(app, kept, ids),
    )
    return known, _topology(known, kept, sketch, ids)


def _of_commits(group: Group | None, owned: Sequence[str]) -> tuple[GroupSubtopology, ...]:
    """Return one sub-topology for everything that a classic group reads: more is not known."""
    if group is None:
        return ()
    assigned = {t for m in group.members or () for t, _ in m.assignment}
    read = {o.topic for o in group.offsets} | assigned
    changelogs = [t for t in owned if internal_kind(t) is InternalKind.CHANGELOG]
    if not read and not owned:
        return ()
    return (
        GroupSubtopology(
            id="0",
            sources=tuple(sorted(read - set(owned))),
            repartition_sinks=tuple(sorted(set(owned) - set(changelogs))),
            changelogs=tuple(GroupTopic(name=t) for t in sorted(changelogs)),
        ),
    )


def _sketch(kept: Sequence[GroupSubtopology]) -> _Sketch:
    sketch = _Sketch()
    for sub in kept:
        middle = ("operators", sub.id)
        sketch.parts[middle] = Part(UNKNOWN, order=(0, sub.id))
        for topic in sub.sources:
            sketch.parts["source", sub.id, topic] = Part("source", topic)
            sketch.edges[("source", sub.id, topic), middle] = None
        for topic in sub.repartition_sinks:
            sketch.parts["joint", topic] = Part("repartition", order=(0, topic))
            sketch.edges[middle, ("joint", topic)] = None
        for read in sub.repartition_sources:
            sketch.parts["joint", read.name] = Part("repartition", order=(0, read.name))
            sketch.edges[("joint", read.name), middle] = None
    return sketch


def _sources(
    kept: Sequence[GroupSubtopology], ids: dict[Hashable, str]
) -> tuple[StreamsSource, ...]:
    return tuple(
        StreamsSource(
            processor="", topics=(topic,), subtopology=_number(sub),
            node=ids["source", sub.id, topic],
        )
        for sub in kept
        for topic in sub.sources
    )  # fmt: skip


def _number(sub: GroupSubtopology) -> int:
    return int(sub.id) if sub.id.isdecimal() and len(sub.id) < 9 else 0


def _bare(app: StreamsApplication, topic: str, end: str) -> str:
    return topic.removeprefix(f"{app.application_id}-").removesuffix(end)


def _stores(
    app: StreamsApplication, kept: Sequence[GroupSubtopology], ids: dict[Hashable, str]
) -> tuple[StreamsStore, ...]:
    found = []
    for sub in kept:
        for topic in sub.changelogs:
            if topic.name in sub.sources:
                # A table that is optimised restores from its input; its store's name is not said.
                continue
            name = _bare(app, topic.name, "-changelog")
            node = store_id([ids["operators", sub.id]], name)
            found.append(
                StreamsStore(
                    name=name, number=number_of(name), subtopology=_number(sub),
                    changelog=topic.name, node=node,
                )
            )  # fmt: skip
    return tuple(found)


def _repartitions(
    app: StreamsApplication, kept: Sequence[GroupSubtopology], ids: dict[Hashable, str]
) -> tuple[Repartition, ...]:
    read = {t.name: t for s in kept for t in s.repartition_sources}
    written = {t for s in kept for t in s.repartition_sinks}
    return tuple(
        Repartition(
            name=_bare(app, topic, ""),
            topic=topic,
            kind=internal_kind(topic) or InternalKind.REPARTITION,
            number=number_of(_bare(app, topic, "")),
            partitions=read[topic].partitions if topic in read else None,
            writes_from=tuple(_number(s) for s in kept if topic in s.repartition_sinks),
            reads_into=tuple(
                _number(s) for s in kept if any(t.name == topic for t in s.repartition_sources)
            ),
            node=ids["joint", topic],
        )
        for topic in sorted({*read, *written})
    )


def _topology(
    app: StreamsApplication,
    kept: Sequence[GroupSubtopology],
    sketch: _Sketch,
    ids: dict[Hashable, str],
) -> Topology:
    edges = [Edge(ids[a], ids[b]) for a, b in sketch.edges]
    for sub in kept:
        mine = [s for s in app.stores if s.subtopology == _number(sub) and s.node]
        edges += [Edge(ids["operators", sub.id], str(s.node)) for s in mine]
    return Topology(tuple(_nodes(app, kept, ids)), tuple(dict.fromkeys(edges)))


def _nodes(
    app: StreamsApplication, kept: Sequence[GroupSubtopology], ids: dict[Hashable, str]
) -> Iterator[Node]:
    for source in app.sources:
        details = {"format": "kafka", "topics": list(source.topics)}
        yield Node(
            str(source.node), NodeKind.SOURCE, "source", source.topics[0],
            source.subtopology or 0, details,
        )  # fmt: skip
    for sub in kept:
        yield Node(
            ids["operators", sub.id], NodeKind.TRANSFORM, UNKNOWN, "unknown operators",
            _number(sub), {"read": False},
        )  # fmt: skip
    for r in app.repartitions:
        facts = {"topic": r.name, "purpose": r.kind.value, "generated": r.is_generated}
        number = (*r.writes_from, *r.reads_into, 0)[0]
        label = r.name.removesuffix("-repartition").removesuffix("-topic")
        yield Node(str(r.node), NodeKind.REPARTITION, "repartition", label, number, facts)
    for store in app.stores:
        facts = {"store": store.name, "generated": store.is_generated}
        yield Node(
            str(store.node), NodeKind.STATE_STORE, "state_store", store.name,
            store.subtopology or 0, facts,
        )  # fmt: skip
