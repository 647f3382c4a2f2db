"""The visible differences of two graphs, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Version
from headgate.rules.core.graph_inputs import nearest, rewired_nodes
from headgate.rules.core.match_graphs import Matches, Pair
from headgate.rules.core.report import Change, ChangeKind, label_of
from headgate.rules.core.upstream import appearance, canonical, visible
from headgate.text.numbers import name_list


def moved_nodes(before: Topology, after: Topology, nodes: Matches) -> frozenset[str]:
    """Return the old ids of matched nodes that moved.

    What was added or removed in between moves nobody: a transform has moved where both the next
    matched nodes above it and those below it are others, a state store where it belongs to another
    operator, and a source where its position among the sources changed. A sink stays where it is.
    """
    back = {a: b for b, a in nodes.pairs.items()}
    identity = {b: b for b in nodes.pairs}
    old_above, new_above = nearest(before, identity, up=True), nearest(after, back, up=True)
    old_below, new_below = nearest(before, identity, up=False), nearest(after, back, up=False)
    now = {n.id: n for n in after.nodes}
    return frozenset(
        n.id
        for n in before.nodes
        if n.id in nodes.pairs
        and _has_moved(
            n,
            now[nodes.pairs[n.id]],
            above=old_above[n.id] != new_above[nodes.pairs[n.id]],
            below=old_below[n.id] != new_below[nodes.pairs[n.id]],
        )
    )


def _has_moved(was: Node, now: Node, *, above: bool, below: bool) -> bool:
    match was.kind:
        case NodeKind.SOURCE:
            return was.details.get("position") != now.details.get("position")
        case NodeKind.STATE_STORE:
            return above
        case NodeKind.SINK:
            return False
    return above and below


def changes(
    before: Version, after: Version, nodes: Matches, declared: Iterable[Pair] = ()
) -> tuple[Change, ...]:
    """Return removed, added, changed and moved nodes, in the order of the graphs.

    A node that reads from other nodes than before has changed. `declared` are the pairs of nodes
    that somebody called a rename: each is one change, whatever else differs. A node of which only
    the id differs isn't a change: it has other nodes after it.
    """
    return tuple(_changes(before.topology, after.topology, nodes, dict(declared)))


def _changes(
    before: Topology, after: Topology, nodes: Matches, declared: dict[str | None, str | None]
) -> Iterator[Change]:
    old, new = {n.id: n for n in before.nodes}, {n.id: n for n in after.nodes}
    moved = moved_nodes(before, after, nodes)
    yield from (Change(ChangeKind.REMOVED, i, None, _what(old[i])) for i in nodes.removed)
    yield from (Change(ChangeKind.ADDED, None, i, _what(new[i])) for i in nodes.added)
    rewired = rewired_nodes(before, after, nodes, moved)
    for b, a in nodes.pairs.items():
        if declared.get(b) == a:
            yield Change(ChangeKind.CHANGED, b, a, _renamed(old[b], new[a]))
        elif appearance(old[b]) != appearance(new[a]):
            yield Change(ChangeKind.CHANGED, b, a, _difference(old[b], new[a]))
        elif b in rewired:
            inputs = [old[i] for i in rewired[b].before], [new[i] for i in rewired[b].after]
            yield Change(ChangeKind.CHANGED, b, a, _rewired(new[a], *inputs))
        elif b in moved:
            yield Change(ChangeKind.MOVED, b, a, _what(new[a]))


def _renamed(was: Node, now: Node) -> str:
    if was.label == now.label:
        return f"{now.label}: same node as before (declared as a rename)"
    return f"{was.label} -> {now.label} (declared as a rename)"


def _rewired(node: Node, was: Sequence[Node], now: Sequence[Node]) -> str:
    """Return old and new inputs by their labels; by exact names if the labels are equal."""
    old, new = (", ".join(n.label for n in nodes) or "none" for nodes in (was, now))
    if old == new:
        old, new = (", ".join(map(_exact_name, nodes)) for nodes in (was, now))
    return f"{label_of(node)}: input {old} -> {new}"


def _exact_name(node: Node) -> str:
    return str(node.details.get("topic") or node.details.get("described_as") or node.id)


def _what(node: Node) -> str:
    word = node.operator.replace("_", " ")
    return word if node.label.replace("_", " ") == word else f"{word}: {node.label}"


def _difference(was: Node, now: Node) -> str:
    if was.label != now.label:
        return f"{was.label} -> {now.label}"
    old, new = visible(was), visible(now)
    keys = sorted(
        k for k in old.keys() | new.keys() if canonical(old.get(k)) != canonical(new.get(k))
    )
    parts = (_detail(k, old.get(k), new.get(k)) for k in keys)
    return f"{label_of(now)}: {', '.join(parts)}"


def _detail(key: str, old: Any, new: Any) -> str:
    """Return what differs by its name; of columns and the like also which of them."""
    word = key.replace("_", " ")
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return word
    return f"{word} ({name_list(n for n in {*old, *new} if old.get(n) != new.get(n))})"
