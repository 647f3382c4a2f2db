"""Which nodes a node reads, and whether these edges changed between two graphs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from headgate.model.topology import NodeKind, Topology
from headgate.rules.core.match_graphs import Matches


@dataclass(frozen=True, slots=True)
class Inputs:
    """The nodes that one node reads, by id: in the old version and in the new one."""

    before: tuple[str, ...]
    after: tuple[str, ...]


def rewired_nodes(
    before: Topology, after: Topology, nodes: Matches, moved: Collection[str]
) -> Mapping[str, Inputs]:
    """Return the inputs of matched nodes whose edges changed, by old id.

    What was added, removed or moved explains the edges next to it: an edge between two other nodes
    counts if the other version has neither this edge nor a path through such nodes. State stores
    aren't among them: one that another operator uses has moved.
    """
    steps = {n.id for n in before.nodes if n.kind in (NodeKind.TRANSFORM, NodeKind.REPARTITION)}
    stores = {n.id for n in before.nodes if n.kind is NodeKind.STATE_STORE}
    stay = {b: a for b, a in nodes.pairs.items() if b not in stores and b not in steps & {*moved}}
    old = _Reads(before, {b: b for b in stay})
    new = _Reads(after, {a: b for b, a in stay.items()})
    return {
        b: Inputs(old.inputs[b], new.inputs[a])
        for b, a in stay.items()
        if old.direct(b) - new.near[a] or new.direct(a) - old.near[b]
    }


class _Reads:
    """What each node of one graph reads; `known` are the nodes that stay, by their old ids."""

    def __init__(self, graph: Topology, known: Mapping[str, str]) -> None:
        inputs: dict[str, list[str]] = {n.id: [] for n in graph.nodes}
        for edge in graph.edges:
            if edge.source in inputs and edge.target in inputs:
                inputs[edge.target].append(edge.source)
        self.inputs = {i: tuple(ids) for i, ids in inputs.items()}
        self.known = known
        self.near = nearest(graph, known, up=True)

    def direct(self, node: str) -> frozenset[str]:
        """Return the inputs that stay, by their old ids."""
        return frozenset(self.known[i] for i in self.inputs[node] if i in self.known)


def nearest(graph: Topology, known: Mapping[str, str], *, up: bool) -> dict[str, frozenset[str]]:
    """Return the nearest nodes in one direction that are `known`, by their names there.

    Stores hang on their operator and lead nowhere, so they are nobody's neighbours.
    """
    stores = {n.id for n in graph.nodes if n.kind is NodeKind.STATE_STORE}
    links: dict[str, list[str]] = {n.id: [] for n in graph.nodes}
    for edge in graph.edges:
        start, end = (edge.target, edge.source) if up else (edge.source, edge.target)
        if start in links and end in links and end not in stores:
            links[start].append(end)
    found: dict[str, frozenset[str]] = {}
    for node in _inmost_first(links):
        near = [{known[i]} if i in known else found.get(i, frozenset()) for i in links[node]]
        found[node] = frozenset().union(*near)
    return found


def _inmost_first(links: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield every node after those that `leads` has for it, as far as there is no cycle."""
    done: set[str] = set()
    for root in links:
        stack = [(root, False)]
        while stack:
            node, is_left = stack.pop()
            if is_left:
                yield node
            elif node not in done:
                done.add(node)
                stack.append((node, True))
                stack += [(i, False) for i in links[node] if i not in done]
