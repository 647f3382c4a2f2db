"""Where records go: what each destination takes, and the names of the files in a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headgate.parse.spark.watch.mark import PART


@dataclass(slots=True)
class WatchedRun:
    """One run, for its destination; each part and each hour begins with the lines of `head`."""

    query: str
    run: str
    begun: str
    head: list[bytes] = field(default_factory=list)

    def part(self, number: int) -> str:
        """Return the name of a part's file."""
        stamp = re.sub(r"[-:.]", "", self.begun)
        return f"{self.query}_{stamp}_{self.run[:8]}_{number:06d}.jsonl"


class Destination(Protocol):
    """Somewhere to write to; calls come from one thread."""

    def write(self, watched: WatchedRun, lines: Sequence[bytes]) -> None:
        """Keep all of the lines or raise OSError; then the same lines are sent once more."""

    def end(self, watched: WatchedRun) -> None:
        """Let go of what a run that has ended held."""

    def lost(self) -> dict[str, int]:
        """Return by run how many lines were taken and got lost, since it was last asked."""

    def close(self, seconds: float) -> None:
        """Hand over what is still here, within that time."""


def surplus(sizes: Iterable[tuple[str, float, int]], most: int, kept: frozenset[str]) -> list[str]:
    """Return the names to delete, oldest first, so that `most` bytes stay.

    `sizes` are (name, time of last change, bytes) of any files; only watch files are deleted,
    and none of those in `kept`.
    """
    ours = sorted((at, name, size) for name, at, size in sizes if PART.fullmatch(name))
    over = sum(size for _, _, size in ours) - most
    out = []
    for _, name, size in ours:
        if over <= 0:
            break
        if name not in kept:
            out.append(name)
            over -= size
    return out
