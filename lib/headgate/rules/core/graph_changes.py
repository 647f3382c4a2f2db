"""The visible differences of two graphs, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.model.topology import Node, Topology
from headgate.model.version import Version
from headgate.rules.core.match_graphs import Matches, Pair
from headgate.rules.core.places import moved_nodes
from headgate.rules.core.report import Change, ChangeKind
from headgate.rules.core.upstream import appearance, visible


def changes(
    before: Version, after: Version, nodes: Matches, declared: Iterable[Pair] = ()
) -> tuple[Change, ...]:
    """Return removed, added, changed and moved nodes, in the order of the graphs.

    `declared` are the pairs of nodes that somebody called a rename: each is one change, whatever
    else differs. A node whose id alone differs is no change: it has other nodes behind it.
    """
    return tuple(_changes(before.topology, after.topology, nodes, dict(declared)))


def _changes(
    before: Topology, after: Topology, nodes: Matches, declared: dict[str | None, str | None]
) -> Iterator[Change]:
    old, new = {n.id: n for n in before.nodes}, {n.id: n for n in after.nodes}
    moved = moved_nodes(before, after, nodes)
    yield from (Change(ChangeKind.REMOVED, i, None, _what(old[i])) for i in nodes.removed)
    yield from (Change(ChangeKind.ADDED, None, i, _what(new[i])) for i in nodes.added)
    for b, a in nodes.pairs.items():
        if declared.get(b) == a:
            yield Change(ChangeKind.CHANGED, b, a, _renamed(old[b], new[a]))
        elif appearance(old[b]) != appearance(new[a]):
            yield Change(ChangeKind.CHANGED, b, a, _difference(old[b], new[a]))
        elif b in moved:
            yield Change(ChangeKind.MOVED, b, a, _what(new[a]))


def _renamed(was: Node, now: Node) -> str:
    if was.label == now.label:
        return f"{now.label}, declared to be the same"
    return f"{was.label} -> {now.label}, declared to be a rename"


def _what(node: Node) -> str:
    return f"{node.operator.replace('_', ' ')}: {node.label}"


def _difference(was: Node, now: Node) -> str:
    if was.label != now.label:
        return f"{was.label} -> {now.label}"
    old, new = visible(was), visible(now)
    keys = sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k))
    return f"{now.label}: {', '.join(keys)}"
