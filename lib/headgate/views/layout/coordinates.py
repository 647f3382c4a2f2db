"""Give every node its coordinate across the flow: near its neighbours, never overlapping."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from headgate.views.layout.graph import Rows
from headgate.views.layout.order import middle

SWEEPS = 8
BOTH_SIDES_FROM = 6
"""First sweep that uses both neighbouring rows. Earlier sweeps use only one row."""
BEND_WEIGHT = 4.0


def place_across(rows: Rows, extent: Sequence[float], gap: float) -> list[float]:
    """Return each node's centre across the flow; neighbours in a row keep `gap` between them."""
    across = _packed(rows, extent, gap)
    count = len(rows.rows)
    for sweep in range(SWEEPS):
        both = sweep >= BOTH_SIDES_FROM
        levels = range(count) if both or sweep % 2 == 0 else range(count - 1, -1, -1)
        for level in levels:
            row = rows.rows[level]
            wanted = [_wanted(rows, node, across, sweep, both) for node in row]
            for node, value in zip(row, _separated(rows, row, wanted, extent, gap), strict=True):
                across[node] = value
    return across


def _packed(rows: Rows, extent: Sequence[float], gap: float) -> list[float]:
    across = [0.0] * len(rows.up)
    for row in rows.rows:
        edge = 0.0
        for node in row:
            across[node] = edge + extent[node] / 2
            edge += extent[node] + gap
    return across


def _wanted(rows: Rows, node: int, across: list[float], sweep: int, both: bool) -> float:
    """Where a node's links would be straight: the median over its neighbours."""
    up, down = rows.up[node], rows.down[node]
    links = [*up, *down] if both else (up if sweep % 2 == 0 else down)
    if not links:
        return across[node]
    return middle(sorted(across[k.node] + k.there - k.here for k in links))


def _separated(
    rows: Rows, row: list[int], wanted: list[float], extent: Sequence[float], gap: float
) -> list[float]:
    """Return the positions nearest to the wanted ones that keep order and gap.

    Weighted least squares under a minimum distance: pool-adjacent-violators after the fixed
    distances have been taken off.
    """
    offsets = [0.0]
    for one, next_ in pairwise(row):
        offsets.append(offsets[-1] + (extent[one] + extent[next_]) / 2 + gap)
    pools: list[tuple[float, float, int]] = []
    for index, node in enumerate(row):
        weight = BEND_WEIGHT if rows.is_bend(node) else 1.0 + len(rows.up[node] + rows.down[node])
        total, size = (wanted[index] - offsets[index]) * weight, 1
        while pools and pools[-1][0] / pools[-1][1] > total / weight:
            before = pools.pop()
            total, weight, size = total + before[0], weight + before[1], size + before[2]
        pools.append((total, weight, size))
    values = [total / weight for total, weight, size in pools for _ in range(size)]
    return [value + offset for value, offset in zip(values, offsets, strict=True)]
