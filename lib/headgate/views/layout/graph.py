"""The graph that the phases of the layered layout hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

Point = tuple[float, float]


class Link(NamedTuple):
    """One end of a link between neighbouring rows.

    `here` and `there` are where it touches, as an offset from the node's centre across the
    flow; zero unless the node is a box whose inner nodes have positions of their own.
    """

    node: int
    here: float = 0.0
    there: float = 0.0


@dataclass(frozen=True, slots=True)
class Join:
    """A directed edge between node numbers, with the offsets where it leaves and arrives."""

    source: int
    target: int
    leaves: float = 0.0
    arrives: float = 0.0

    def turned(self) -> Join:
        """Return the edge in the other direction."""
        return Join(self.target, self.source, self.arrives, self.leaves)


@dataclass(slots=True)
class Rows:
    """Nodes by rank; numbers from `real` on are bend points of edges that span several ranks.

    `up` and `down` hold each node's links to the rank before and after its own; `chains` the
    bend points of each edge, by the edge's number.
    """

    real: int
    rows: list[list[int]]
    up: list[list[Link]]
    down: list[list[Link]]
    chains: list[list[int]] = field(default_factory=list)

    def is_bend(self, node: int) -> bool:
        """True for a bend point, False for a node of the caller."""
        return node >= self.real
