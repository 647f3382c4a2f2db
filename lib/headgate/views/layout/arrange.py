"""Arrange one directed graph in layers (Sugiyama's method), left to right or top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headgate.views.layout.coordinates import place_across
from headgate.views.layout.graph import Join, Point, Rows
from headgate.views.layout.order import order_rows
from headgate.views.layout.ranks import rank, split_into_rows, without_cycles

BEND_EXTENT = 4.0


class Flow(StrEnum):
    """The direction that data flows in the picture."""

    RIGHT = "LR"
    DOWN = "TB"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Centres of the nodes, bend points of the edges (both by number) and the size of it all."""

    centres: tuple[Point, ...]
    bends: tuple[tuple[Point, ...], ...]
    width: float
    height: float

    def swapped(self) -> Arrangement:
        """Return the same with x and y exchanged."""
        return Arrangement(
            tuple((y, x) for x, y in self.centres),
            tuple(tuple((y, x) for x, y in points) for points in self.bends),
            self.height,
            self.width,
        )


def arrange(
    sizes: Sequence[tuple[float, float]],
    joins: Sequence[Join],
    *,
    flow: Flow,
    layer_gap: float,
    gap: float,
    lean: Sequence[int] = (),
) -> Arrangement:
    """Return where nodes of these `sizes` (width, height) go; the same input, the same answer.

    `lean` is -1 or 1 for a node that belongs to the near or far side of its row. Edges from a
    node to itself are ignored and have no bends.
    """
    if flow is Flow.DOWN:
        turned = [(h, w) for w, h in sizes]
        return _rightwards(turned, joins, layer_gap, gap, lean).swapped()
    return _rightwards(sizes, joins, layer_gap, gap, lean)


def _rightwards(
    sizes: Sequence[tuple[float, float]],
    joins: Sequence[Join],
    layer_gap: float,
    gap: float,
    lean: Sequence[int],
) -> Arrangement:
    if not sizes:
        return Arrangement((), tuple(() for _ in joins), 0.0, 0.0)
    proper = [number for number, j in enumerate(joins) if j.source != j.target]
    forward, turned = without_cycles(len(sizes), [joins[n] for n in proper])
    rows = split_into_rows(len(sizes), forward, rank(len(sizes), forward))
    extent = [h for _, h in sizes] + [BEND_EXTENT] * (len(rows.up) - len(sizes))
    order_rows(rows, lean or [0] * len(sizes), extent)
    across = place_across(rows, extent, gap)
    along, length = _place_along(rows, sizes, layer_gap)
    top = min(across[n] - extent[n] / 2 for row in rows.rows for n in row)
    points = [(along[n], across[n] - top) for n in range(len(rows.up))]
    height = max(points[n][1] + extent[n] / 2 for row in rows.rows for n in row)
    bends: list[tuple[Point, ...]] = [()] * len(joins)
    for place, (number, chain) in enumerate(zip(proper, rows.chains, strict=True)):
        path = tuple(points[n] for n in chain)
        bends[number] = path[::-1] if place in turned else path
    return Arrangement(tuple(points[: len(sizes)]), tuple(bends), length, height)


def _place_along(
    rows: Rows, sizes: Sequence[tuple[float, float]], layer_gap: float
) -> tuple[list[float], float]:
    along = [0.0] * len(rows.up)
    edge = 0.0
    for row in rows.rows:
        width = max((sizes[n][0] for n in row if not rows.is_bend(n)), default=0.0)
        for node in row:
            along[node] = edge + width / 2
        edge += width + layer_gap
    return along, edge - layer_gap
