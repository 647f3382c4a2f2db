"""Ask the landscape: find nodes, their surroundings, what lies up- and downstream, a path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import networkx as nx

from headgate.landscape.landscape import Landscape, LandscapeNode


def search(landscape: Landscape, text: str) -> tuple[str, ...]:
    """Return ids of nodes whose label, operator, pipeline or details hold every word of `text`.

    Case does not matter; no words find nothing. The landscape's order.
    """
    words = text.lower().split()
    if not words:
        return ()
    return tuple(n.id for n in landscape.nodes if all(w in _text(n) for w in words))


def neighbours(landscape: Landscape, ids: Iterable[str], hops: int = 1) -> frozenset[str]:
    """Return the nodes at most `hops` edges away in either direction, with `ids` themselves."""
    graph = landscape.graph()
    found = {i for i in ids if i in graph}
    edge = found
    for _ in range(hops):
        edge = {m for n in edge for m in (*graph.pred[n], *graph.succ[n])} - found
        found = found | edge
    return frozenset(found)


def downstream(landscape: Landscape, node_id: str) -> frozenset[str]:
    """Return everything that data of the node can reach, without the node."""
    graph = landscape.graph()
    return frozenset(nx.descendants(graph, node_id)) if node_id in graph else frozenset()


def upstream(landscape: Landscape, node_id: str) -> frozenset[str]:
    """Return everything whose data can reach the node, without the node."""
    graph = landscape.graph()
    return frozenset(nx.ancestors(graph, node_id)) if node_id in graph else frozenset()


def path(landscape: Landscape, start: str, end: str) -> tuple[str, ...]:
    """Return a shortest way that data takes from `start` to `end`, empty where there is none."""
    try:
        return tuple(nx.shortest_path(landscape.graph(), start, end))
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        return ()


def only(landscape: Landscape, ids: Iterable[str]) -> Landscape:
    """Return the landscape with just these nodes and the edges among them; facts stay."""
    kept = set(ids)
    return replace(
        landscape,
        nodes=tuple(n for n in landscape.nodes if n.id in kept),
        edges=tuple(e for e in landscape.edges if e.source in kept and e.target in kept),
    )


def _text(node: LandscapeNode) -> str:
    facts = (node.label, node.operator, node.pipeline or "", *map(str, node.details.values()))
    return " ".join(facts).lower()
