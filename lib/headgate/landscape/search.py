"""Look around in the landscape: find nodes by words, their surroundings, a part of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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


def only(landscape: Landscape, ids: Iterable[str]) -> Landscape:
    """Return the landscape with just these nodes and the edges among them; facts stay."""
    kept = set(ids)
    return replace(
        landscape,
        nodes=tuple(n for n in landscape.nodes if n.id in kept),
        edges=tuple(e for e in landscape.edges if e.source in kept and e.target in kept),
    )


def part(landscape: Landscape, ids: Iterable[str]) -> Landscape:
    """Return the landscape with just these nodes, and facts only of what they belong to."""
    kept = set(ids)
    shown = only(landscape, kept)
    pipelines = {n.pipeline for n in shown.nodes}
    return replace(
        shown,
        pipelines=tuple(p for p in landscape.pipelines if p.name in pipelines),
        topics=tuple(t for t in landscape.topics if t.id in kept),
        groups=tuple(g for g in landscape.groups if g.node in kept or g.pipeline in pipelines),
    )


def _text(node: LandscapeNode) -> str:
    facts = (node.label, node.operator, node.pipeline or "", *map(str, node.details.values()))
    return " ".join(facts).lower()
