"""How data flows through a landscape: what reaches what, and in how many steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

import networkx as nx

from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode

Graph = nx.DiGraph
CROSSING = "crossing"
"""Edge attribute: 1 between a topic and a pipeline or group, 0 inside a pipeline or group."""


def flow(landscape: Landscape) -> nx.DiGraph[str]:
    """Return the graph that data takes, with `crossing` on its edges.

    A state store is drawn after its operator, but feeds it, too. So the edge has both directions
    here, and what its operators write is downstream of a store. If several operators share a
    store, evidence seldom says which of them only read it; all of them count.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    unit = {n.id: unit_of(n) for n in landscape.nodes}
    graph.add_nodes_from(unit)
    stores = {n.id for n in landscape.nodes if n.kind is LandscapeKind.STATE_STORE}
    for edge in landscape.edges:
        crossing = int(unit[edge.source] != unit[edge.target])
        graph.add_edge(edge.source, edge.target, crossing=crossing)
        if edge.target in stores and not crossing:
            graph.add_edge(edge.target, edge.source, crossing=0)
    return graph


def unit_of(node: LandscapeNode) -> str:
    """Return what a step is counted between: `pipeline:NAME`, or the node itself."""
    return node.id if node.pipeline is None else f"pipeline:{node.pipeline}"


def reached(
    graph: nx.DiGraph[str],
    starts: Iterable[str],
    *,
    backwards: bool = False,
    steps: int | None = None,
) -> dict[str, int]:
    """Return the nodes that data of `starts` reaches, each with its least number of steps.

    The starts themselves are at 0. A step leads from a topic into a pipeline or out of it; ways
    inside a pipeline cost nothing. `steps` is the most that are taken, None for all.
    """
    beside: Mapping[str, Mapping[str, Mapping[str, int]]] = graph.pred if backwards else graph.succ
    found = {s: 0 for s in starts if s in graph}
    queue = deque(found)
    while queue:
        node = queue.popleft()
        for other, edge in beside[node].items():
            cost = found[node] + edge[CROSSING]
            if cost >= found.get(other, cost + 1) or (steps is not None and cost > steps):
                continue
            found[other] = cost
            # Free edges first: what leaves the queue then has its final cost.
            (queue.append if edge[CROSSING] else queue.appendleft)(other)
    return found
