"""Apply a lens to a sketch and lay out what is left: the one way to make a scene."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from functools import lru_cache

from headgate.views.layout.arrange import Flow
from headgate.views.layout.label_size import shorten, text_width
from headgate.views.layout.two_level import READABLE, Item, Layout, best_layout, lay_out
from headgate.views.scene.scene import (
    Lens,
    Look,
    Scene,
    SceneBox,
    SceneEdge,
    SceneNode,
    Sketch,
    SketchEdge,
    SketchNode,
    Status,
    worst,
)

HEIGHT = 34.0
NARROWEST = 92.0
EVERYTHING = Lens()
PILLS = frozenset({Look.TOPIC, Look.REPARTITION})
BOLDER = 1.08
"""Width of a bold label relative to a normal label."""
PILL_ROOM, CHIP_ROOM, COUNT_ROOM, TITLE_ROOM = 52.0, 48.0, 34.0, 64.0


def compose(sketch: Sketch, lens: Lens = EVERYTHING, like: Sketch | None = None) -> Scene:
    """Return the scene; pure and deterministic.

    `like` is another sketch that shares nodes with this one, such as one of two versions: both
    flow in the same directions then, whichever of them fill the canvas better.
    """
    seen = _seen(sketch, lens)
    shown = _collapse(seen, lens.collapsed)
    model = None
    if like is not None:
        model = _place(_collapse(like, lens.collapsed), like, lens)
    return _scene(shown, seen, _place(shown, seen, lens, model))


placed = lru_cache(maxsize=16)(compose)
"""`compose` with a cache: a change of the panel doesn't lay out the picture again."""


def is_readable(scene: Scene, view: tuple[float, float]) -> bool:
    """Say whether all of a scene shows in `view` at a zoom at which its labels can be read."""
    return min(view[0] / max(scene.width, 1.0), view[1] / max(scene.height, 1.0)) >= READABLE


def _seen(sketch: Sketch, lens: Lens) -> Sketch:
    """Leave out what focus and only-changes hide."""
    known = {n.id for n in sketch.nodes}
    if lens.focus in known:
        return _restricted(sketch, _around(sketch, [lens.focus or ""], lens.hops))
    if lens.only_changes:
        changed = [n.id for n in sketch.nodes if has_changed(n)]
        return _restricted(sketch, _around(sketch, changed, 1))
    return sketch


def has_changed(node: SketchNode) -> bool:
    """Say whether a node differs between the two versions, or something is to be said of it."""
    return node.status is not Status.SAME or bool(node.marks)


def _around(sketch: Sketch, seeds: Iterable[str], hops: int) -> set[str]:
    """Return the nodes within `hops` edges of the seeds, in either direction."""
    beside: dict[str, list[str]] = {}
    for edge in sketch.edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    distance = dict.fromkeys(seeds, 0)
    queue = deque(distance)
    while queue:
        node = queue.popleft()
        if distance[node] < hops:
            for other in beside.get(node, ()):
                if other not in distance:
                    distance[other] = distance[node] + 1
                    queue.append(other)
    return set(distance)


def _restricted(sketch: Sketch, kept: set[str]) -> Sketch:
    nodes = tuple(n for n in sketch.nodes if n.id in kept)
    edges = tuple(e for e in sketch.edges if e.source in kept and e.target in kept)
    return Sketch(nodes, edges, sketch.boxes, sketch.is_diff)


def _collapse(sketch: Sketch, collapsed: frozenset[str]) -> Sketch:
    """Replace the nodes of each collapsed box by one that has the worst of their statuses."""
    stand_in = {n.id: n.box for n in sketch.nodes if n.box in collapsed}
    groups = {
        box.id: SketchNode(
            id=box.id,
            look=Look.GROUP,
            label=f"{box.title} / {box.detail}" if box.detail else box.title,
            status=worst(n.status for n in sketch.nodes if n.box == box.id),
            marks=tuple(dict.fromkeys(m for n in sketch.nodes if n.box == box.id for m in n.marks)),
        )
        for box in sketch.boxes
        if box.id in set(stand_in.values())
    }
    nodes = [n for n in sketch.nodes if n.id not in stand_in]
    edges: dict[tuple[str, str], list[Status]] = {}
    for edge in sketch.edges:
        source = stand_in.get(edge.source) or edge.source
        target = stand_in.get(edge.target) or edge.target
        if source != target or edge.source == edge.target:
            edges.setdefault((source, target), []).append(edge.status)
    merged = tuple(SketchEdge(a, b, _joint_status(s)) for (a, b), s in edges.items())
    return Sketch((*nodes, *groups.values()), merged, sketch.boxes, sketch.is_diff)


def _joint_status(statuses: list[Status]) -> Status:
    """Parallel edges are added or removed only where all of them are."""
    return statuses[0] if len(set(statuses)) == 1 else Status.SAME


def _place(shown: Sketch, seen: Sketch, lens: Lens, model: Layout | None = None) -> Layout:
    counts = Counter(n.box for n in seen.nodes)
    items = [
        Item(n.id, _width(n, counts.get(n.id)), HEIGHT, n.box)
        for n in shown.nodes
    ]  # fmt: skip
    titles = {
        b.id: text_width(shorten(b.title)) * 1.04 + text_width(b.detail) + TITLE_ROOM
        for b in shown.boxes
    }
    pairs = [(e.source, e.target) for e in shown.edges]
    if model is None:
        return best_layout(items, pairs, view=lens.view, box_widths=titles)
    return lay_out(items, pairs, inner=model.inner, outer=model.outer, box_widths=titles)


def _width(node: SketchNode, count: int | None) -> float:
    room = PILL_ROOM if node.look in PILLS else CHIP_ROOM
    if node.look is Look.GROUP and count:
        room += COUNT_ROOM
    bold = BOLDER if node.status is Status.SILENTLY_WRONG else 1.0
    return max(NARROWEST, round(text_width(shorten(node.label)) * bold + room))


def _scene(shown: Sketch, seen: Sketch, layout: Layout) -> Scene:
    counts = Counter(n.box for n in seen.nodes)
    box_of = {n.id: n.box for n in shown.nodes}
    nodes = tuple(_scene_node(n, counts.get(n.id), layout) for n in shown.nodes)
    edges = tuple(
        SceneEdge(e.source, e.target, _rounded(layout.routes[e.source, e.target]),
                  _flow(layout, box_of[e.source], box_of[e.target]), e.status)
        for e in shown.edges
    )  # fmt: skip
    boxes = tuple(
        SceneBox(
            id=b.id, title=shorten(b.title), detail=b.detail,
            x=round(r.x, 1), y=round(r.y, 1),
            width=round(r.width, 1), height=round(r.height, 1),
        )
        for b in shown.boxes
        if (r := layout.boxes.get(b.id))
    )  # fmt: skip
    statuses = Counter(n.status for n in seen.nodes)
    return Scene(
        nodes, edges, boxes, round(layout.width, 1), round(layout.height, 1),
        shown.is_diff, dict(statuses),
    )  # fmt: skip


def _scene_node(node: SketchNode, count: int | None, layout: Layout) -> SceneNode:
    x, y = layout.centres[node.id]
    return SceneNode(
        id=node.id, look=node.look, label=node.label, text=shorten(node.label),
        x=round(x, 1), y=round(y, 1), width=_width(node, count), height=HEIGHT,
        box=node.box, status=node.status, marks=node.marks,
        count=count if node.look is Look.GROUP else None,
    )  # fmt: skip


def _flow(layout: Layout, one: str | None, other: str | None) -> Flow:
    return layout.inner if one is not None and one == other else layout.outer


def _rounded(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    return tuple((round(x, 1), round(y, 1)) for x, y in points)
