"""One version of one pipeline as a sketch: sub-topologies as boxes, joints outside."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.landscape.pipeline_topics import matcher, reads, writes
from headgate.landscape.topics import topic_id
from headgate.model.topology import Edge, Node, NodeKind
from headgate.model.version import Version
from headgate.views.scene.operator_icons import look_of
from headgate.views.scene.scene import Look, Sketch, SketchBox, SketchEdge, SketchNode


def sketch_topology(version: Version, *, name: str) -> Sketch:
    """Return the sketch; topics that sources and sinks name are drawn as nodes `topic:NAME`."""
    topology, links = version.topology, topic_links(version)
    topics = dict.fromkeys(t for e in links for t in (e.source, e.target) if is_topic(t))
    nodes = [SketchNode(id=t, look=Look.TOPIC, label=topic_name(t)) for t in topics]
    nodes += [sketch_node(n, box=box_of(n, name)) for n in topology.nodes]
    edges = [SketchEdge(e.source, e.target) for e in (*topology.edges, *links)]
    known = {n.id for n in nodes}
    return Sketch(
        tuple(nodes),
        tuple(e for e in edges if e.source in known and e.target in known),
        tuple(boxes(topology.nodes, name)),
    )


def sketch_node(node: Node, *, box: str | None) -> SketchNode:
    """Return a topology's node as it is drawn."""
    return SketchNode(id=node.id, look=look_of(node.kind, node.operator), label=node.label, box=box)


def box_of(node: Node, name: str) -> str | None:
    """Return the box that a node is in; repartitions are joints between boxes."""
    return None if node.kind is NodeKind.REPARTITION else f"{name}/{node.subtopology}"


def boxes(nodes: Iterable[Node], name: str) -> list[SketchBox]:
    """Return the boxes of the sub-topologies, in ascending order."""
    numbers = sorted({n.subtopology for n in nodes if n.kind is not NodeKind.REPARTITION})
    return [SketchBox(f"{name}/{number}", name, str(number)) for number in numbers]


def topic_links(version: Version) -> list[Edge]:
    """Return edges topic -> source and sink -> topic, for the topics that the version names."""
    links = [Edge(topic_id(j.topic), j.node) for j in reads(version, matcher(())) if j.node]
    return links + [Edge(j.node, topic_id(j.topic)) for j in writes(version) if j.node]


def is_topic(node_id: str) -> bool:
    """Whether an id is that of a topic."""
    return node_id.startswith("topic:")


def topic_name(node_id: str) -> str:
    """Return the name in a topic's id."""
    return node_id.removeprefix("topic:")
