"""The graph of one pipeline: sources, transforms, repartitions, state stores and sinks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


class NodeKind(StrEnum):
    """The five kinds of nodes; a join or an aggregation is a TRANSFORM with this `operator`."""

    SOURCE = "source"
    TRANSFORM = "transform"
    REPARTITION = "repartition"
    STATE_STORE = "state_store"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the graph.

    `id` depends only on the operator and its path to the sink, not on attribute ids, file paths,
    the order of reading or the kind of evidence. `operator` is one lower-case word such as `kafka`,
    `project`, `filter`, `watermark`, `aggregate`, `stream_join`, `static_join`, `deduplicate`,
    `union`, `exchange`, `state_store`, `unknown`. `details` has facts of the evidence in the
    engine's terms.
    """

    id: str
    kind: NodeKind
    operator: str
    label: str
    subtopology: int = 0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """Data flows from node `source` to node `target` (ids); a state store is always a target."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes and edges, if possible with sources first.

    An edge goes from an operator to its state store. Repartitions divide the graph into
    sub-topologies.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def node(self, node_id: str) -> Node | None:
        """Return the node with this id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)

    def subtopologies(self) -> dict[int, tuple[str, ...]]:
        """Return the node ids of each sub-topology, by ascending number."""
        out: dict[int, list[str]] = {}
        for n in self.nodes:
            out.setdefault(n.subtopology, []).append(n.id)
        return {number: tuple(out[number]) for number in sorted(out)}

    def graph(self) -> nx.DiGraph[str]:
        """Return the topology as a networkx graph, to find descendants, paths and orders."""
        # Half a second that a comparison in CI need not wait for.
        import networkx as nx

        g: nx.DiGraph[str] = nx.DiGraph()
        g.add_nodes_from(n.id for n in self.nodes)
        g.add_edges_from((e.source, e.target) for e in self.edges)
        return g
