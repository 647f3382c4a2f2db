"""The visible differences of two graphs, node by node."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.match import Matches
from headgate.compat.report import Change, ChangeKind
from headgate.compat.upstream import appearance, visible
from headgate.model.topology import Node, Topology
from headgate.model.version import Version


def changes(before: Version, after: Version, nodes: Matches) -> tuple[Change, ...]:
    """Return added, removed, changed and moved nodes, in the order of the graphs."""
    return tuple(_changes(before.topology, after.topology, nodes))


def _changes(before: Topology, after: Topology, nodes: Matches) -> Iterator[Change]:
    old, new = {n.id: n for n in before.nodes}, {n.id: n for n in after.nodes}
    yield from (Change(ChangeKind.REMOVED, i, None, _what(old[i])) for i in nodes.removed)
    yield from (Change(ChangeKind.ADDED, None, i, _what(new[i])) for i in nodes.added)
    for b, a in nodes.pairs.items():
        if appearance(old[b]) != appearance(new[a]):
            yield Change(ChangeKind.CHANGED, b, a, _difference(old[b], new[a]))
        elif b != a:
            yield Change(ChangeKind.MOVED, b, a, _what(new[a]))


def _what(node: Node) -> str:
    return f"{node.operator.replace('_', ' ')}: {node.label}"


def _difference(was: Node, now: Node) -> str:
    if was.label != now.label:
        return f"{was.label} -> {now.label}"
    old, new = visible(was), visible(now)
    keys = sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k))
    return f"{now.label}: {', '.join(keys)}"
