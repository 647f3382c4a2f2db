"""Route edges from border to border, around siblings that are in the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from headgate.views.layout.arrange import Flow
from headgate.views.layout.graph import Point

ARROW = 1.0
"""Gap between an edge and its target, so that the arrowhead doesn't cover the target."""
STEP_OUT = 16.0
INSET = 6.0
LOOP = 14.0
"""Distance between an edge that runs backward and boxes or other such edges."""


class Placed(NamedTuple):
    """A node with its position; `x` and `y` are its centre."""

    x: float
    y: float
    width: float
    height: float
    cluster: str | None


class Router:
    """Finds the points of edges; `aisle` is half the space between the rows of a box."""

    def __init__(
        self,
        nodes: Mapping[str, Placed],
        boxes: Mapping[str, tuple[float, float, float, float]],
        *,
        inner: Flow,
        outer: Flow,
        aisle: float,
    ) -> None:
        self.nodes, self.boxes = nodes, boxes
        self.inner, self.outer, self.aisle = inner, outer, aisle
        self.loops = 0
        self.members: dict[str, list[str]] = {}
        for node, placed in nodes.items():
            if placed.cluster is not None:
                self.members.setdefault(placed.cluster, []).append(node)

    def route(self, source: str, target: str, bends: tuple[Point, ...]) -> tuple[Point, ...]:
        """Return the points of an edge, both ends included."""
        one, other = self.nodes[source], self.nodes[target]
        inside = one.cluster is not None and one.cluster == other.cluster
        flow = self.inner if inside else self.outer
        turned = flow is Flow.DOWN
        start, end = _along(one, turned), _along(other, turned)
        if not inside and end.x - end.width / 2 < start.x + start.width / 2:
            points = self._around(source, target, turned)
            return tuple((y, x) for x, y in points) if turned else tuple(points)
        middle = [(y, x) for x, y in bends] if turned else list(bends)
        points = [(start.x + start.width / 2, start.y)]
        if not inside:
            points += self._step_out(source, end.y - start.y, turned)
        points += middle
        if not inside:
            points += self._step_in(target, start.y - end.y, turned)
        points.append((end.x - end.width / 2 - ARROW, end.y))
        return tuple((y, x) for x, y in points) if turned else tuple(points)

    def _around(self, source: str, target: str, turned: bool) -> list[Point]:
        """Lead an edge against the flow below everything between its ends, at right angles."""
        start, end = (_along(self.nodes[n], turned) for n in (source, target))
        out = [(start.x + start.width / 2, start.y), *self._step_out(source, 1, turned)]
        way_in = [*self._step_in(target, 1, turned), (end.x - end.width / 2 - ARROW, end.y)]
        far = max(out[-1][0], self._border(start, turned, 1)) + LOOP
        near = min(way_in[0][0], self._border(end, turned, 0)) - LOOP
        side = self._below(near, far, turned) + LOOP * (1 + self.loops % 8)
        self.loops += 1
        corners = [(far, out[-1][1]), (far, side), (near, side), (near, way_in[0][1])]
        return [*out, *corners, *way_in]

    def _border(self, placed: Placed, turned: bool, end: int) -> float:
        """Return where the node, or the box around it, begins (0) or ends (1) along the flow."""
        if placed.cluster is None:
            return placed.x + (end - 0.5) * placed.width
        x, y, width, height = self.boxes[placed.cluster]
        return (y if turned else x) + end * (height if turned else width)

    def _below(self, near: float, far: float, turned: bool) -> float:
        """Return the lowest border, across the flow, of what is between two positions."""
        found = [
            (y, y + height, x + width) if turned else (x, x + width, y + height)
            for x, y, width, height in self.boxes.values()
        ]
        for placed in (_along(n, turned) for n in self.nodes.values() if n.cluster is None):
            half = placed.width / 2
            found.append((placed.x - half, placed.x + half, placed.y + placed.height / 2))
        return max((low for begin, end, low in found if begin < far and end > near), default=0.0)

    def _step_out(self, node: str, towards: float, turned: bool) -> list[Point]:
        """Leave the box at the node's own height, or between the rows if a sibling is in front."""
        here = _along(self.nodes[node], turned)
        if here.cluster is None:
            return []
        if not self._blocked(node, turned, 1):
            x, y, width, height = self.boxes[here.cluster]
            border = y + height if turned else x + width
            return [(border, here.y)] if border - here.x - here.width / 2 > STEP_OUT else []
        side = here.y + (1 if towards >= 0 else -1) * (here.height / 2 + self.aisle)
        x, y, width, height = self.boxes[here.cluster]
        far = (y + height if turned else x + width) - INSET
        return [(here.x + here.width / 2 + STEP_OUT, side), (far, side)]

    def _step_in(self, node: str, towards: float, turned: bool) -> list[Point]:
        """Enter the box at the node's own height, or between the rows if a sibling is before it."""
        here = _along(self.nodes[node], turned)
        if here.cluster is None:
            return []
        if not self._blocked(node, turned, -1):
            border = self.boxes[here.cluster][1 if turned else 0]
            return [(border, here.y)] if here.x - here.width / 2 - border > STEP_OUT else []
        side = here.y + (1 if towards > 0 else -1) * (here.height / 2 + self.aisle)
        x, y, _, _ = self.boxes[here.cluster]
        near = (y if turned else x) + INSET
        return [(near, side), (here.x - here.width / 2 - STEP_OUT, side)]

    def _blocked(self, node: str, turned: bool, direction: int) -> bool:
        here = _along(self.nodes[node], turned)
        siblings = (self.nodes[m] for m in self.members[here.cluster or ""] if m != node)
        return any(
            abs(s.y - here.y) < (s.height + here.height) / 2 and (s.x - here.x) * direction > 0
            for s in (_along(sibling, turned) for sibling in siblings)
        )


def _along(placed: Placed, turned: bool) -> Placed:
    """Return a node in coordinates where data flows to the right."""
    if not turned:
        return placed
    return Placed(placed.y, placed.x, placed.height, placed.width, placed.cluster)
