"""What of a large sketch is closed at first, so that nodes can be distinguished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from headgate.views.scene.scene import Look, Scene, Sketch, SketchNode, Status

MANY = 150
"""Maximum number of visible nodes with all groups open. With more nodes, groups start closed."""


def boxed(sketch: Sketch) -> Sketch:
    """Return a sketch of too many nodes with each repartition in the box that it leads into.

    Closed boxes are joined directly then. A repartition that leads into several stays outside.
    """
    if len(sketch.nodes) <= MANY:
        return sketch
    box = {n.id: n.box for n in sketch.nodes}
    ahead: dict[str, set[str | None]] = {}
    for edge in sketch.edges:
        ahead.setdefault(edge.source, set()).add(box.get(edge.target))
    nodes = tuple(_inside(n, ahead.get(n.id, set())) for n in sketch.nodes)
    return replace(sketch, nodes=nodes)


def _inside(node: SketchNode, ahead: Collection[str | None]) -> SketchNode:
    if node.box is None and node.look is Look.REPARTITION and len(ahead) == 1:
        return replace(node, box=next(iter(ahead)))
    return node


def usually_closed(
    sketch: Sketch,
    *,
    selected: str | None = None,
    hits: Iterable[str] = (),
    opened: Collection[str] = (),
) -> frozenset[str]:
    """Return the boxes that are closed as long as nobody opens them; none in a small sketch.

    The box of the selected node is open, and boxes that are `opened`. So are those of nodes that
    changed, the worst first, and of `hits` of a search, while at most `MANY` nodes are visible.
    """
    if len(sketch.nodes) <= MANY:
        return frozenset()
    members = Counter(n.box for n in sketch.nodes if n.box is not None)
    box = {n.id: n.box for n in sketch.nodes}
    closed = set(members) - {box.get(selected or ""), *opened}
    visible = len(sketch.nodes) - sum(members[b] - 1 for b in closed)
    wanted = [*hits, *_worst_first(sketch)]
    for name in dict.fromkeys(box.get(node) for node in wanted):
        if name in closed and visible + members[name] - 1 <= MANY:
            closed.discard(name)
            visible += members[name] - 1
    return frozenset(closed)


def _worst_first(sketch: Sketch) -> list[str]:
    order = {status: n for n, status in enumerate(Status)}
    changed = [n for n in sketch.nodes if n.status is not Status.SAME]
    return [n.id for n in sorted(changed, key=lambda n: order[n.status])]


def stand_ins(sketch: Sketch, scene: Scene) -> Mapping[str, str]:
    """Return under which id each node of the sketch is drawn: its own, or its closed box's."""
    drawn = {n.id for n in scene.nodes}
    return {
        n.id: shown
        for n in sketch.nodes
        if (shown := n.id if n.id in drawn else n.box or "") in drawn
    }
