"""The graph of one pipeline: sources, transforms, repartitions, state stores and sinks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


class NodeKind(StrEnum):
    """The five kinds of the contract; joins and aggregations are looks of an `operator`."""

    SOURCE = "source"
    TRANSFORM = "transform"
    REPARTITION = "repartition"
    STATE_STORE = "state_store"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class Node:
    """One box of the graph.

    `id` depends on the operator and its path to the sink, never on attribute numbers, paths,
    the order of reading or the form of the evidence. `operator` is one lower-case word such as
    `kafka`, `project`, `filter`, `watermark`, `aggregate`, `stream_join`, `static_join`,
    `deduplicate`, `union`, `exchange`, `state_store`, `unknown`. `details` holds what the
    evidence says in the engine's own terms; its keys are listed in the contract of `topology`.
    """

    id: str
    kind: NodeKind
    operator: str
    label: str
    subtopology: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """Data flows from `source` to `target` (both node ids); a store hangs on its operator."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes and edges, sources first where the order allows it; split at repartitions.

    A state store is joined to its operator by an edge operator -> store.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def node(self, node_id: str) -> Node | None:
        """Return the node of that id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)

    def subtopologies(self) -> dict[int, tuple[str, ...]]:
        """Return node ids by sub-topology number, numbers ascending."""
        out: dict[int, list[str]] = {}
        for n in self.nodes:
            out.setdefault(n.subtopology, []).append(n.id)
        return {number: tuple(out[number]) for number in sorted(out)}

    def graph(self) -> nx.DiGraph[str]:
        """Return the graph behind the typed model, for descendants, paths and orders."""
        # Half a second that a comparison in CI need not wait for.
        import networkx as nx

        g: nx.DiGraph[str] = nx.DiGraph()
        g.add_nodes_from(n.id for n in self.nodes)
        g.add_edges_from((e.source, e.target) for e in self.edges)
        return g
