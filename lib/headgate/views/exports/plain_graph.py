"""What is exported to other tools: a topology or the landscape as one plain graph."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode
from headgate.model.topology import Edge, Topology
from headgate.views.scene.landscape import PIPELINE, Level, look_of_node, stand_in
from headgate.views.scene.operator_icons import look_of
from headgate.views.scene.scene import Look

Fact = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportNode:
    """A node with everything that is said of it; `title` is for people, `facts` for programs."""

    id: str
    look: Look
    title: str
    box: str | None = None
    facts: dict[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExportGraph:
    """A graph to be written; `boxes` are titles by id, in order. Edges' ends are node ids."""

    name: str
    nodes: tuple[ExportNode, ...] = ()
    edges: tuple[Edge, ...] = ()
    boxes: dict[str, str] = field(default_factory=dict)

    def by_box(self) -> dict[str | None, list[ExportNode]]:
        """Return the nodes by box, the boxes' order first; None holds those outside."""
        out: dict[str | None, list[ExportNode]] = {box: [] for box in self.boxes}
        for node in self.nodes:
            out.setdefault(node.box, []).append(node)
        return out


def of_topology(topology: Topology) -> ExportGraph:
    """Return the topology's own nodes and edges; its sub-topologies are the boxes."""
    nodes = tuple(
        ExportNode(
            id=n.id,
            look=look_of(n.kind, n.operator),
            title=_title(n.operator, n.label),
            box=f"sub{n.subtopology}",
            facts={
                "kind": n.kind.value,
                "operator": n.operator,
                "label": n.label,
                "subtopology": n.subtopology,
                "details": _json(n.details),
            },
        )
        for n in topology.nodes
    )
    boxes = {f"sub{number}": f"sub-topology {number}" for number in topology.subtopologies()}
    return ExportGraph("topology", nodes, topology.edges, boxes)


def of_landscape(landscape: Landscape, level: Level) -> ExportGraph:
    """Return the landscape; at the level of pipelines each is one node `pipeline:NAME`."""
    shown_as = {n.id: stand_in(n, level) for n in landscape.nodes}
    facts = _Facts(landscape)
    nodes: dict[str, ExportNode] = {}
    for node in landscape.nodes:
        shown = shown_as[node.id]
        if shown not in nodes:
            nodes[shown] = facts.node(node, shown)
    pairs = ((shown_as[e.source], shown_as[e.target]) for e in landscape.edges)
    edges = dict.fromkeys(Edge(a, b) for a, b in pairs if a != b)
    boxes = {n.box: f"{n.facts['pipeline']} {n.facts['subtopology']}"
             for n in nodes.values() if n.box}  # fmt: skip
    return ExportGraph("landscape", tuple(nodes.values()), tuple(edges), boxes)


class _Facts:
    """What the landscape says of its topics, pipelines and groups, by node."""

    def __init__(self, landscape: Landscape) -> None:
        self.pipelines = {p.name: p for p in landscape.pipelines}
        self.topics = {t.id: t for t in landscape.topics}
        self.groups = {g.node: g for g in landscape.groups if g.node}

    def node(self, node: LandscapeNode, shown_as: str) -> ExportNode:
        whole = shown_as.startswith(PIPELINE) or node.kind is LandscapeKind.PIPELINE
        inner = not whole and node.subtopology is not None
        return ExportNode(
            id=shown_as,
            look=look_of_node(node, shown_as),
            title=(node.pipeline or node.label) if whole else node.label,
            box=f"{node.pipeline}/{node.subtopology}" if inner else None,
            facts={k: v for k, v in self._facts(node, whole).items() if v is not None},
        )

    def _facts(self, node: LandscapeNode, whole: bool) -> dict[str, Fact | None]:
        about: dict[str, Fact | None] = {
            "kind": LandscapeKind.PIPELINE.value if whole else node.kind.value,
            "label": (node.pipeline or node.label) if whole else node.label,
            "pipeline": node.pipeline,
        }
        if pipeline := self.pipelines.get(node.pipeline or ""):
            about |= {"engine": pipeline.engine.value, "owner": pipeline.owner}
            about |= {"lag": pipeline.lag} if whole else {}
        if topic := self.topics.get(node.id):
            about |= {"partitions": topic.partitions, "records": topic.records}
        if group := self.groups.get(node.id):
            about |= {"type": group.type.value, "state": group.state, "lag": group.lag}
        if not whole:
            about |= {"operator": node.operator, "subtopology": node.subtopology}
            about |= {"details": _json(node.details)} if node.details else {}
        return about


def _title(operator: str, label: str) -> str:
    same = label.lower().startswith(operator.lower())
    return label if same else f"{operator} {label}".strip()


def _json(details: object) -> str:
    return json.dumps(details, ensure_ascii=False, default=str)
