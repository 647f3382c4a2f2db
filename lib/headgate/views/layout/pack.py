"""Arrange a graph of many unjoined parts: each by itself, then in rows below each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headgate.views.layout.arrange import Arrangement, Flow, arrange
from headgate.views.layout.graph import Join, Point

SEVERAL = 6
"""Maximum number of parts in one row. More parts are put in several rows."""
ASPECT = 1.8
"""Approximate ratio of width to height of all rows."""


def pack(
    sizes: Sequence[tuple[float, float]],
    joins: Sequence[Join],
    *,
    flow: Flow,
    layer_gap: float,
    gap: float,
    lean: Sequence[int] = (),
) -> Arrangement:
    """Return where nodes go, as `arrange` does; deterministic."""
    parts = _parts(len(sizes), joins)
    if len(parts) <= SEVERAL:
        return arrange(sizes, joins, flow=flow, layer_gap=layer_gap, gap=gap, lean=lean)
    part_of = {node: number for number, part in enumerate(parts) for node in part}
    own: list[list[int]] = [[] for _ in parts]
    for number, join in enumerate(joins):
        own[part_of[join.source]].append(number)
    made = [
        arrange(
            [sizes[n] for n in part],
            [_renumbered(joins[j], part) for j in own[number]],
            flow=flow, layer_gap=layer_gap, gap=gap, lean=[lean[n] for n in part] if lean else (),
        )
        for number, part in enumerate(parts)
    ]  # fmt: skip
    corners, width, height = _rows(made, gap)
    centres: list[Point] = [(0.0, 0.0)] * len(sizes)
    bends: list[tuple[Point, ...]] = [()] * len(joins)
    for part, edges, (x, y), one in zip(parts, own, corners, made, strict=True):
        for node, (p, q) in zip(part, one.centres, strict=True):
            centres[node] = (x + p, y + q)
        for edge, points in zip(edges, one.bends, strict=True):
            bends[edge] = tuple((x + p, y + q) for p, q in points)
    return Arrangement(tuple(centres), tuple(bends), width, height)


def _parts(nodes: int, joins: Sequence[Join]) -> list[list[int]]:
    """Return the numbers of the nodes of each part, the largest parts first."""
    part = list(range(nodes))
    for join in joins:
        one, other = _first(part, join.source), _first(part, join.target)
        part[max(one, other)] = min(one, other)
    found: dict[int, list[int]] = {}
    for node in range(nodes):
        found.setdefault(_first(part, node), []).append(node)
    return sorted(found.values(), key=lambda nodes: (-len(nodes), nodes[0]))


def _first(part: list[int], node: int) -> int:
    """Return the first node of a node's part; shortens the path to it in `part`."""
    while part[node] != node:
        part[node] = part[part[node]]
        node = part[node]
    return node


def _renumbered(join: Join, part: Sequence[int]) -> Join:
    number = {node: n for n, node in enumerate(part)}
    return Join(number[join.source], number[join.target], join.leaves, join.arrives)


def _rows(made: Sequence[Arrangement], gap: float) -> tuple[list[Point], float, float]:
    """Return the top left corner of each part, and the size of all."""
    area = sum((m.width + gap) * (m.height + gap) for m in made)
    most = max(math.sqrt(area * ASPECT), *(m.width for m in made))
    corners: list[Point] = []
    x = y = width = bottom = 0.0
    for one in made:
        if x and x + one.width > most:
            x, y = 0.0, bottom + gap
        corners.append((x, y))
        x += one.width + gap
        width, bottom = max(width, x - gap), max(bottom, y + one.height)
    return corners, width, bottom
