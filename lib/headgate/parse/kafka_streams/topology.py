"""Draw a description as a topology: repartition topics join its sub-topologies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.parse.kafka_streams.description import DescribedNode, Description, Key
from headgate.parse.kafka_streams.generated_names import generated, number_of
from headgate.parse.kafka_streams.internal_topics import Joint, joints
from headgate.parse.kafka_streams.node_ids import Part, node_ids, store_id
from headgate.parse.kafka_streams.operators import UNREAD, Neighbours, neighbours_of, operators

_NO_NUMBER = -1
_KINDS = {
    "source": NodeKind.SOURCE,
    "processor": NodeKind.TRANSFORM,
    "sink": NodeKind.SINK,
}
_ROLES = (
    ("shared", ("OUTERSHARED", "-shared-join-store")),
    ("other", ("JOINOTHER", "OUTEROTHER", "-other-join-store")),
    ("this", ("JOINTHIS", "OUTERTHIS", "-this-join-store")),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A topology, and which node stands for which described name, store and internal topic."""

    topology: Topology
    nodes: dict[Key, str]
    operators: dict[Key, str]
    stores: dict[Key, str]
    joints: tuple[Joint, ...]
    joint_nodes: dict[Key, str]
    neighbours: Neighbours


@dataclass(slots=True)
class _Drawing:
    """`at` maps each described node to what it is drawn as: itself, or its joint's key."""

    description: Description
    found: Neighbours
    joints: tuple[Joint, ...]
    words: dict[Key, tuple[str, str]]
    at: dict[Key, Hashable] = field(default_factory=dict)


def draw(description: Description) -> Drawn:
    """Return the drawing; nodes are in the order in which data passes them."""
    found, inner = neighbours_of(description), joints(description)
    drawing = _Drawing(description, found, inner, operators(description, found, inner))
    drawing.at = {n.key: n.key for n in description.nodes}
    for joint in inner:
        drawing.at |= {n.key: _joint_key(joint) for n in (*joint.sinks, *joint.sources)}
    parts, edges = _parts(drawing), _edges(drawing)
    ids = node_ids(parts, edges)
    nodes = [_node(n, drawing, ids) for n in description.nodes if drawing.at[n.key] == n.key]
    nodes += [_joint_node(j, ids[_joint_key(j)]) for j in inner]
    stores, store_nodes, store_edges = _stores(drawing, ids)
    joined = [Edge(ids[a], ids[b]) for a, b in edges]
    return Drawn(
        Topology(
            _ordered([*nodes, *store_nodes], joined, store_edges),
            tuple(dict.fromkeys((*joined, *store_edges))),
        ),
        {key: ids[drawn] for key, drawn in drawing.at.items()},
        {key: word for key, (word, _) in drawing.words.items()},
        stores,
        inner,
        {(j.topology, j.topic): ids[_joint_key(j)] for j in inner},
        found,
    )


def _joint_key(joint: Joint) -> Hashable:
    return "joint", joint.topology, joint.topic


def _parts(drawing: _Drawing) -> dict[Hashable, Part]:
    out: dict[Hashable, Part] = {}
    for node in drawing.description.nodes:
        if drawing.at[node.key] == node.key:
            word = drawing.words[node.key][0]
            out[node.key] = Part(word, _target(node), _order(node.name))
    for joint in drawing.joints:
        out[_joint_key(joint)] = Part("repartition", joint.kind.value, _order(joint.topic))
    return out


def _order(name: str) -> tuple[int, str]:
    number = number_of(name)
    return (_NO_NUMBER if number is None else number, name)


def _target(node: DescribedNode) -> str:
    """Return what is outside: a sink's topic; with an extractor's class only the code knows it."""
    return node.topic or ("*" if node.extractor is not None else "")


def _edges(drawing: _Drawing) -> list[tuple[Hashable, Hashable]]:
    at = drawing.at
    found = ((at[a], at[b]) for a, b in drawing.description.edges)
    return list(dict.fromkeys((a, b) for a, b in found if a != b))


def _node(node: DescribedNode, drawing: _Drawing, ids: dict[Hashable, str]) -> Node:
    word, why = drawing.words[node.key]
    details: dict[str, Any] = {
        "described_as": node.name,
        "generated": generated(node.name) is not None,
        "told_by": why if node.kind == "processor" else None,
        "stores": list(node.stores),
        "topology": node.topology,
        **({"global": True} if node.is_global else {}),
        **_ends(node),
    }
    if node.kind == "processor" and word in UNREAD:
        details["read"] = False
    return Node(
        id=ids[node.key],
        kind=_KINDS[node.kind],
        operator=word,
        label=_label(node, word),
        subtopology=node.subtopology,
        details=_said(details),
    )


def _ends(node: DescribedNode) -> dict[str, Any]:
    if node.kind == "source":
        return {"format": "kafka", "topics": list(node.topics), "pattern": node.pattern}
    if node.kind == "sink":
        return {"format": "kafka", "target": node.topic, "extractor": node.extractor}
    return {}


def _said(details: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in details.items() if v not in (None, "", [], {})}


def _label(node: DescribedNode, word: str) -> str:
    """Return what people call it: its topics, the code's own name, or the operator's word."""
    if node.kind == "source":
        return ", ".join(node.topics) or f"topics matching {node.pattern}"
    if node.kind == "sink":
        return node.topic or f"topic chosen by {_class(node.extractor)}"
    spoken = word.replace("_", " ")
    return spoken if generated(node.name) else node.name or spoken


def _class(extractor: str | None) -> str:
    """Return the class without its package and the address of the object."""
    name = (extractor or "").split("@")[0].split("/")[0]
    return name.rsplit(".", 1)[-1].split("$$Lambda")[0] + (" lambda" if "$$Lambda" in name else "")


def _joint_node(joint: Joint, node_id: str) -> Node:
    base = joint.topic.removesuffix("-repartition").removesuffix("-topic")
    parsed = generated(base)
    details = {
        "topic": joint.topic,
        "purpose": joint.kind.value,
        "generated": number_of(base) is not None,
        "written_by": [n.name for n in joint.sinks],
        "read_by": [n.name for n in joint.sources],
        "writes_from": sorted({n.subtopology for n in joint.sinks}),
        "reads_into": sorted({n.subtopology for n in joint.sources}),
        "topology": joint.topology,
    }
    label = joint.kind.value.replace("_", " ") if parsed else base
    number = min((n.subtopology for n in joint.sinks), default=0)
    return Node(node_id, NodeKind.REPARTITION, "repartition", label, number, _said(details))


def _stores(
    drawing: _Drawing, ids: dict[Hashable, str]
) -> tuple[dict[Key, str], list[Node], list[Edge]]:
    """Return store ids by (topology, name), their nodes and the edges from all that use them."""
    out: dict[Key, str] = {}
    nodes: list[Node] = []
    edges: list[Edge] = []
    taken: dict[str, int] = {}
    for key in sorted(drawing.found.users, key=lambda k: (k[0] or "", _order(k[1]))):
        users = drawing.found.users[key]
        user_ids = [ids[drawing.at[u.key]] for u in users]
        made = store_id(user_ids, _role(key[1]))
        taken[made] = taken.get(made, 0) + 1
        out[key] = made if taken[made] == 1 else f"{made}-{taken[made]}"
        nodes.append(_store_node(key[1], out[key], users))
        edges += [Edge(user, out[key]) for user in dict.fromkeys(user_ids)]
    return out, nodes, edges


def _role(store: str) -> str:
    """Which of an operator's stores it is; a join has one for each side and a shared one."""
    return next((role for role, marks in _ROLES if any(m in store for m in marks)), "")


def _store_node(name: str, node_id: str, users: tuple[DescribedNode, ...]) -> Node:
    details = {
        "store": name,
        "generated": number_of(name) is not None,
        "used_by": [u.name for u in users],
        "topology": users[0].topology,
        **({"global": True} if any(u.is_global for u in users) else {}),
    }
    number = min(u.subtopology for u in users)
    return Node(node_id, NodeKind.STATE_STORE, "state_store", name, number, _said(details))


def _ordered(
    nodes: list[Node], edges: Iterable[Edge], store_edges: Iterable[Edge]
) -> tuple[Node, ...]:
    """Return the nodes with every input before what it feeds, by id where the order is free."""
    by_id = {n.id: n for n in nodes}
    before: dict[str, set[str]] = {n.id: set() for n in nodes}
    after: dict[str, set[str]] = {n.id: set() for n in nodes}
    for edge in (*edges, *store_edges):
        before[edge.target].add(edge.source)
        after[edge.source].add(edge.target)
    rank = {n.id: (n.subtopology, n.kind is not NodeKind.SOURCE, n.id) for n in nodes}
    out: list[Node] = []
    ready = sorted((i for i in by_id if not before[i]), key=rank.__getitem__, reverse=True)
    waiting = {i: len(b) for i, b in before.items()}
    done: set[str] = set()
    while len(out) < len(nodes):
        if not ready:
            ready = [min((i for i in by_id if i not in done), key=rank.__getitem__)]
        node = ready.pop()
        if node in done:
            continue
        done.add(node)
        out.append(by_id[node])
        for other in sorted(after[node], key=rank.__getitem__, reverse=True):
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    return tuple(out)
