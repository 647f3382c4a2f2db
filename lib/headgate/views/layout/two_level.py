"""Two-level layered layout: clusters are arranged inside, then as sized boxes among the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.views.layout.arrange import Arrangement, Flow, arrange
from headgate.views.layout.edge_routing import Placed, Router
from headgate.views.layout.graph import Join, Point
from headgate.views.layout.pack import pack

MAX_ZOOM = 1.15
"""Largest zoom of a small graph."""
WORTH = {
    (Flow.RIGHT, Flow.RIGHT): 1.0,
    (Flow.DOWN, Flow.RIGHT): 0.98,
    (Flow.DOWN, Flow.DOWN): 0.88,
    (Flow.RIGHT, Flow.DOWN): 0.7,
}
"""Score of a picture by the flow inside boxes and the flow between boxes, at equal zoom.

A flow from left to right reads best. In a downward flow, edges cross the titles of boxes.
"""
READABLE = 0.7
"""Below this zoom, only a part of a picture is shown at first, so the picture scores lower."""
CLIPPED = 0.8
MANY = 600
"""Maximum number of nodes for which several layouts are tried."""
LONELY_WIDTH = 1100.0
"""Nodes without edges fill rows of at least this width."""


@dataclass(frozen=True, slots=True)
class Item:
    """One node of the layout: its size in pixels and the cluster it belongs to, if any."""

    id: str
    width: float
    height: float
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle by its top left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances in pixels: between layers and between siblings, inside boxes and outside.

    Layers that lie below each other are nearer (`down`): nodes are wide and low, and a window has
    less height than width.
    `left`, `top`, `right`, `bottom` are the boxes' padding; `top` includes the header.
    """

    inner_layer: float = 24.0
    inner_sibling: float = 14.0
    outer_layer: float = 42.0
    outer_sibling: float = 24.0
    inner_down: float = 16.0
    outer_down: float = 28.0
    left: float = 12.0
    top: float = 38.0
    right: float = 12.0
    bottom: float = 12.0
    loose: float = 44.0

    def inside(self, flow: Flow) -> float:
        """Return the distance between layers in a box of that flow."""
        return self.inner_down if flow is Flow.DOWN else self.inner_layer

    def between(self, flow: Flow) -> float:
        """Return the distance between layers of boxes and joints."""
        return self.outer_down if flow is Flow.DOWN else self.outer_layer


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of the nodes, boxes of the clusters, the points of each edge, and the whole size.

    An edge's points run from its source's border to its target's; a curve through them is
    tangent to the flow (`inner` within a box, `outer` elsewhere) at every point.
    """

    centres: dict[str, Point] = field(default_factory=dict)
    boxes: dict[str, Rect] = field(default_factory=dict)
    routes: dict[tuple[str, str], tuple[Point, ...]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0
    inner: Flow = Flow.RIGHT
    outer: Flow = Flow.RIGHT

    def zoom(self, view: tuple[float, float]) -> float:
        """Return the zoom at which everything fits into `view`, no more than `MAX_ZOOM`."""
        return min(MAX_ZOOM, view[0] / max(self.width, 1.0), view[1] / max(self.height, 1.0))


def best_layout(
    items: Sequence[Item],
    edges: Iterable[tuple[str, str]],
    *,
    view: tuple[float, float] = (1230.0, 670.0),
    box_widths: Mapping[str, float] | None = None,
    spacing: Spacing = Spacing(),
) -> Layout:
    """Return the layout that shows largest in `view`, of all directions; deterministic.

    Above `MANY` items it is the one from left to right.
    """
    pairs = list(dict.fromkeys(edges))
    candidates = [
        lay_out(items, pairs, inner=i, outer=o, box_widths=box_widths, spacing=spacing)
        for i, o in (WORTH if len(items) <= MANY else list(WORTH)[:1])
    ]
    return max(candidates, key=lambda c: round(_worth(c, view), 6))


def _worth(layout: Layout, view: tuple[float, float]) -> float:
    zoom = layout.zoom(view)
    return zoom * WORTH[layout.inner, layout.outer] * (1.0 if zoom >= READABLE else CLIPPED)


def lay_out(
    items: Sequence[Item],
    edges: Iterable[tuple[str, str]],
    *,
    inner: Flow = Flow.RIGHT,
    outer: Flow = Flow.RIGHT,
    box_widths: Mapping[str, float] | None = None,
    spacing: Spacing = Spacing(),
) -> Layout:
    """Lay out `items`; `box_widths` are the least widths of boxes (for their titles).

    Edges whose ends are unknown are left out.
    """
    known = {item.id for item in items}
    pairs = [(a, b) for a, b in dict.fromkeys(edges) if a in known and b in known]
    return _TwoLevels(items, pairs, inner, outer, dict(box_widths or {}), spacing).result()


@dataclass(frozen=True, slots=True)
class _Inside:
    """One box arranged: members, inner edges, and the position of their origin in the box."""

    members: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    arrangement: Arrangement
    size: tuple[float, float]
    origin: Point

    def places(self) -> dict[str, Point]:
        """Return the members' centres, measured from the box's top left corner."""
        x, y = self.origin
        centres = self.arrangement.centres
        return {m: (x + p, y + q) for m, (p, q) in zip(self.members, centres, strict=True)}


class _TwoLevels:
    """One layout in the making: the inside of the boxes first, then the boxes."""

    def __init__(
        self,
        items: Sequence[Item],
        edges: list[tuple[str, str]],
        inner: Flow,
        outer: Flow,
        box_widths: Mapping[str, float],
        spacing: Spacing,
    ) -> None:
        self.items = {item.id: item for item in items}
        self.edges = edges
        self.inner, self.outer, self.spacing = inner, outer, spacing
        self.box_widths = box_widths
        self.home = {i.id: ("node", i.id) if i.cluster is None else ("box", i.cluster)
                     for i in items}  # fmt: skip
        self.centres: dict[str, Point] = {}
        self.boxes: dict[str, Rect] = {}
        self.bends: dict[tuple[str, str], tuple[Point, ...]] = {}

    def result(self) -> Layout:
        """Arrange, route, and return the finished layout."""
        inside = self._arrange_boxes()
        width, height = self._arrange_outside(inside)
        width, height = self._place_lonely(width, height)
        router = Router(
            {i.id: Placed(*self.centres[i.id], i.width, i.height, i.cluster)
             for i in self.items.values()},
            {name: (r.x, r.y, r.width, r.height) for name, r in self.boxes.items()},
            inner=self.inner, outer=self.outer, aisle=self._row_gap() / 2,
        )  # fmt: skip
        routes = {e: router.route(*e, self.bends.get(e, ())) for e in self.edges}
        width, height = _grown(width, height, routes)
        return Layout(self.centres, self.boxes, routes, width, height, self.inner, self.outer)

    def _row_gap(self) -> float:
        same = self.inner is self.outer
        return self.spacing.inner_sibling if same else self.spacing.inside(self.inner)

    def _lean(self) -> dict[str, int]:
        """-1 for nodes that are fed from outside their box, 1 for those that feed the outside."""
        pull = dict.fromkeys(self.items, 0)
        if self.inner is not self.outer:
            for source, target in self.edges:
                if self.home[source] != self.home[target]:
                    pull[target] -= 1
                    pull[source] += 1
        return {node: (p > 0) - (p < 0) for node, p in pull.items()}

    def _arrange_boxes(self) -> dict[str, _Inside]:
        members: dict[str, list[str]] = {}
        edges: dict[str, list[tuple[str, str]]] = {}
        cluster = {i.id: i.cluster for i in self.items.values()}
        for node, name in cluster.items():
            if name is not None:
                members.setdefault(name, []).append(node)
        for a, b in self.edges:
            if (name := cluster[a]) is not None and name == cluster[b]:
                edges.setdefault(name, []).append((a, b))
        lean = self._lean()
        return {
            name: self._arrange_box(name, nodes, edges.get(name, []), lean)
            for name, nodes in members.items()
        }

    def _arrange_box(
        self, name: str, nodes: list[str], edges: list[tuple[str, str]], lean: Mapping[str, int]
    ) -> _Inside:
        number = {node: n for n, node in enumerate(nodes)}
        arrangement = pack(
            [(self.items[n].width, self.items[n].height) for n in nodes],
            [Join(number[a], number[b]) for a, b in edges],
            flow=self.inner,
            layer_gap=self.spacing.inside(self.inner),
            gap=self.spacing.inner_sibling,
            lean=[lean[n] for n in nodes],
        )
        pad = self.spacing
        natural = arrangement.width + pad.left + pad.right
        width = max(natural, self.box_widths.get(name, 0.0))
        size = (width, arrangement.height + pad.top + pad.bottom)
        origin = (pad.left + (width - natural) / 2, pad.top)
        return _Inside(tuple(nodes), tuple(edges), arrangement, size, origin)

    def _arrange_outside(self, inside: Mapping[str, _Inside]) -> tuple[float, float]:
        joined = {n for a, b in self.edges if a != b for n in (a, b)}
        sizes = {("box", name): box.size for name, box in inside.items()}
        for item in self.items.values():
            if item.cluster is None and item.id in joined:
                sizes["node", item.id] = (item.width, item.height)
        number = {home: n for n, home in enumerate(sizes)}
        ports = self._ports(inside)
        between = [e for e in self.edges if self.home[e[0]] != self.home[e[1]]]
        outside = arrange(
            list(sizes.values()),
            [Join(number[self.home[a]], number[self.home[b]], ports.get(a, 0.0), ports.get(b, 0.0))
             for a, b in between],
            flow=self.outer,
            layer_gap=self.spacing.between(self.outer),
            gap=self.spacing.outer_sibling,
        )  # fmt: skip
        self.bends.update(zip(between, outside.bends, strict=True))
        for (kind, name), centre in zip(sizes, outside.centres, strict=True):
            if kind == "node":
                self.centres[name] = centre
            else:
                self._settle(name, inside[name], centre)
        return outside.width, outside.height

    def _ports(self, inside: Mapping[str, _Inside]) -> dict[str, float]:
        """Where edges touch a member's box, across the outer flow, from the box's centre."""
        axis = 1 if self.outer is Flow.RIGHT else 0
        return {
            node: place[axis] - box.size[axis] / 2
            for box in inside.values()
            for node, place in box.places().items()
        }

    def _settle(self, name: str, box: _Inside, centre: Point) -> None:
        """Put a box at its position, and its nodes and bends with it."""
        x, y = centre[0] - box.size[0] / 2, centre[1] - box.size[1] / 2
        self.boxes[name] = Rect(x, y, *box.size)
        for node, (p, q) in box.places().items():
            self.centres[node] = (x + p, y + q)
        x, y = x + box.origin[0], y + box.origin[1]
        for edge, points in zip(box.edges, box.arrangement.bends, strict=True):
            self.bends[edge] = tuple((x + p, y + q) for p, q in points)

    def _place_lonely(self, width: float, height: float) -> tuple[float, float]:
        """Put loose nodes without edges in rows below the rest."""
        gap, right = self.spacing.outer_sibling, max(width, LONELY_WIDTH)
        x, y, used = 0.0, height + self.spacing.loose if height else 0.0, width
        bottom = height
        for item in self.items.values():
            if item.id in self.centres:
                continue
            if x and x + item.width > right:
                x, y = 0.0, bottom + gap
            self.centres[item.id] = (x + item.width / 2, y + item.height / 2)
            x += item.width + gap
            used, bottom = max(used, x - gap), max(bottom, y + item.height)
        return used, bottom


def _grown(
    width: float, height: float, routes: Mapping[tuple[str, str], tuple[Point, ...]]
) -> tuple[float, float]:
    """Return the size with space for edges that are routed around everything."""
    points = [p for route in routes.values() for p in route]
    return max([width, *(x for x, _ in points)]), max([height, *(y for _, y in points)])
