"""Order the nodes within each rank so that few edges cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence

from headgate.views.layout.graph import Link, Rows

SWEEPS = 12
TRANSPOSE_ROUNDS = 4
LARGE = 1500
"""Maximum number of nodes and bends for all sweeps. Larger graphs get fewer sweeps."""
LARGE_SWEEPS = 6
OUT_OF_LEAN = 2
"""Cost of two nodes in the wrong order, as a number of crossings."""


def order_rows(rows: Rows, lean: Sequence[int], extent: Sequence[float]) -> None:
    """Reorder `rows.rows` in place: median sweeps and neighbour swaps, the best round wins.

    `lean` is -1, 0 or 1 for nodes that belong to the near side, anywhere or the far side (bend
    points have none); `extent` is each node's size across the flow.
    """
    search = _Search(rows, lean, extent)
    best, fewest = [list(r) for r in rows.rows], search.cost()
    is_large = len(rows.up) > LARGE
    for sweep in range(LARGE_SWEEPS if is_large else SWEEPS):
        if not fewest:
            break
        search.sweep(downwards=sweep % 2 == 0, median=sweep % 4 < 2)
        if not is_large:
            search.transpose()
        cost = search.cost()
        if cost < fewest:
            best, fewest = [list(r) for r in rows.rows], cost
    rows.rows[:] = best


class _Search:
    """The state of one search: the position of every node in its row now."""

    def __init__(self, rows: Rows, lean: Sequence[int], extent: Sequence[float]) -> None:
        self.rows = rows
        self.lean = [*lean, *([0] * (len(rows.up) - len(lean)))]
        self.extent = extent
        if any(lean):
            for row in rows.rows:
                row.sort(key=self.lean.__getitem__)
        self.place = [0] * len(rows.up)
        for row in rows.rows:
            self._number(row)

    def _number(self, row: list[int]) -> None:
        for index, node in enumerate(row):
            self.place[node] = index

    def _touch(self, link: Link) -> float:
        """Where a link touches its far end, in positions; within ±0.45 of the node's own."""
        return self.place[link.node] + 0.9 * link.there / max(self.extent[link.node], 1.0)

    def sweep(self, *, downwards: bool, median: bool) -> None:
        """Sort every row by its neighbours in the row before it (or after it)."""
        rows, count = self.rows, len(self.rows.rows)
        links = rows.up if downwards else rows.down
        for level in range(1, count) if downwards else range(count - 2, -1, -1):
            row = rows.rows[level]
            row.sort(key=self._key(links, median))
            self._number(row)

    def _key(self, links: list[list[Link]], median: bool) -> Callable[[int], float]:
        def key(node: int) -> float:
            touches = sorted(self._touch(link) for link in links[node])
            if not touches:
                return self.place[node]
            return middle(touches) if median else sum(touches) / len(touches)

        return key

    def transpose(self) -> None:
        """Swap neighbours in a row as long as that removes crossings."""
        for row in self.rows.rows:
            for _ in range(TRANSPOSE_ROUNDS):
                if not self._transpose_once(row):
                    break

    def _transpose_once(self, row: list[int]) -> bool:
        improved = False
        for index in range(len(row) - 1):
            left, right = row[index], row[index + 1]
            if self._gain(left, right) > 0:
                row[index], row[index + 1] = right, left
                self.place[right], self.place[left] = index, index + 1
                improved = True
        return improved

    def _gain(self, left: int, right: int) -> int:
        """Crossings that a swap of two neighbours removes (negative: adds)."""
        gain = self._out_of_lean(left, right) - self._out_of_lean(right, left)
        for links in (self.rows.up, self.rows.down):
            if links[left] and links[right]:
                ours = sorted(self._touch(link) for link in links[left])
                theirs = sorted(self._touch(link) for link in links[right])
                gain += _crossings(ours, theirs) - _crossings(theirs, ours)
        return gain

    def _out_of_lean(self, left: int, right: int) -> int:
        return OUT_OF_LEAN if self.lean[left] > self.lean[right] else 0

    def cost(self) -> int:
        """Crossings between all rows, and what nodes on the wrong side cost."""
        total = sum(self._crossings_above(row) for row in self.rows.rows[1:])
        if any(self.lean):
            total += sum(
                self._out_of_lean(left, right)
                for row in self.rows.rows
                for index, left in enumerate(row)
                for right in row[index + 1 :]
            )
        return total

    def _crossings_above(self, row: list[int]) -> int:
        ends = sorted(
            (self._touch(link), place + 0.9 * link.here / max(self.extent[node], 1.0))
            for place, node in enumerate(row)
            for link in self.rows.up[node]
        )
        total = 0
        seen: list[float] = []
        for _, end in ends:
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
        return total


def _crossings(left: list[float], right: list[float]) -> int:
    """Pairs of links that cross if `left`'s node is before `right`'s; both sorted."""
    total = index = 0
    for touch in right:
        while index < len(left) and left[index] <= touch:
            index += 1
        total += len(left) - index
    return total


def middle(values: list[float]) -> float:
    """Return the median of sorted values, the mean of the two in the middle for an even count."""
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2
