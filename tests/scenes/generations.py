"""Read what stand-ins wrote down: a generation is the life of one process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path


@dataclass(slots=True)
class Generation:
    """One process: where it found itself, what it read in order, what it committed last."""

    pid: int
    query: str | None
    at: dict[str, int | None]
    read: dict[str, list[int]] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)

    def position(self, part: str) -> int | None:
        """Return where a successor goes on: what was committed last, else where it began."""
        return self.committed.get(part, self.at.get(part))

    def reached(self, part: str) -> int | None:
        """Return the offset after the last record that it read."""
        return self.read[part][-1] + 1 if self.read.get(part) else self.at.get(part)


def generations(out: Path) -> list[Generation]:
    """Return the processes in the order of their starts; a stopping one and the next never mix."""
    found: list[Generation] = []
    for text in out.read_text().splitlines() if out.exists() else ():
        line = json.loads(text)
        if "starts" in line:
            found.append(Generation(line["starts"], line["query"], line["at"]))
        elif "part" in line:
            found[-1].read.setdefault(line["part"], []).append(line["offset"])
        elif "commits" in line:
            found[-1].committed.update(line["commits"])
    return found


def wrong_reading(lives: list[Generation], ends: dict[str, int], begins: dict[str, int]) -> str:
    """Return what is wrong with what these lives read, each going on where the last one was.

    Empty where nothing is: every record of each partition up to `ends` was read in order, and
    again only what a killed life had read and not committed. A life without a committed position
    begins at `begins`, as `auto.offset.reset=earliest` says.
    """
    for number, (before, life) in enumerate(pairwise(lives), start=1):
        for part in ends:
            low, high = before.position(part), before.reached(part)
            begun = life.at.get(part)
            if begun != low and not (low or 0) <= (begun or 0) <= (high or 0):
                return f"life {number} goes on at {part}:{begun}, the last one was at {low}"
    for number, life in enumerate(lives):
        for part in ends:
            start = life.at.get(part)
            expected = begins[part] if start is None else start
            read = life.read.get(part, [])
            if read and read != list(range(expected, expected + len(read))):
                return f"life {number} of {part} read {read[:5]}... from {expected} on"
    late = {p: (lives[-1].reached(p), end) for p, end in ends.items() if _behind(lives, p, end)}
    return f"not read yet: {late}" if late else ""


def _behind(lives: list[Generation], part: str, end: int) -> bool:
    return (lives[-1].reached(part) or 0) < end
