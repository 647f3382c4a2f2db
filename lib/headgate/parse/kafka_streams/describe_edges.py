"""Join described nodes by the arrows between them; each edge is said at both of its ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.parse.kafka_streams.description import DescribedNode, Key
from headgate.text.numbers import plural

_NOTHING = ("", "none")
_LOOSE = re.compile(r"\s*,\s*")
_LONGEST = 8


@dataclass(slots=True)
class Arrow:
    """`names` as the text has them; `tail` are the lines below, where a name may continue."""

    node: Key
    arrow: str
    names: str
    line: int
    tail: list[str] = field(default_factory=list)


def linked(
    nodes: Sequence[DescribedNode], arrows: Sequence[Arrow]
) -> tuple[tuple[tuple[Key, Key], ...], list[str]]:
    """Return the edges in the order of the text, and what contradicts itself."""
    known = {n.key: n for n in nodes}
    by_topology: dict[str | None, set[str]] = {}
    for topology, name in known:
        by_topology.setdefault(topology, set()).add(name)
    said: dict[tuple[Key, Key], set[str]] = {}
    problems: list[str] = []
    for arrow in arrows:
        names = by_topology.get(arrow.node[0], set())
        for name in _resolved(arrow, names):
            problem = _edge(arrow, name, known, said)
            if problem:
                problems.append(problem)
    return tuple(said), [*dict.fromkeys(problems), *_one_sided(said, arrows)]


def _edge(
    arrow: Arrow,
    name: str,
    known: Mapping[Key, DescribedNode],
    said: dict[tuple[Key, Key], set[str]],
) -> str | None:
    """Add one edge; return why not."""
    other = (arrow.node[0], name)
    here = arrow.node[1]
    if other not in known:
        return (
            f"line {arrow.line}: {_short(here)} is connected to {_short(name)}, but the "
            "description has no such node"
        )
    edge = (arrow.node, other) if arrow.arrow == "-->" else (other, arrow.node)
    if why := _impossible(known[edge[0]], known[edge[1]]):
        return (
            f"line {arrow.line}: {_short(edge[0][1])} can't be upstream of {_short(edge[1][1])}: "
            f"{why}"
        )
    said.setdefault(edge, set()).add(arrow.arrow)
    return None


def _impossible(source: DescribedNode, target: DescribedNode) -> str | None:
    """Return why no description has an edge between these nodes."""
    if source is target:
        return "a node can't be connected to itself"
    if source.kind == "sink":
        return "a sink has no successor"
    return "a source has no predecessor" if target.kind == "source" else None


def _one_sided(said: Mapping[tuple[Key, Key], set[str]], arrows: Sequence[Arrow]) -> Iterator[str]:
    """Name edges that one end says and the other, which lists its neighbours, does not."""
    listing = {(a.node, a.arrow) for a in arrows}
    lonely = [
        edge
        for edge, ways in said.items()
        if len(ways) == 1 and ((edge[0], "-->") if "<--" in ways else (edge[1], "<--")) in listing
    ]
    for source, target in lonely[:3]:
        yield (
            f"the edge between {_short(source[1])} and {_short(target[1])} is listed at only one "
            "of its two nodes"
        )
    if len(lonely) > 3:
        yield f"and {plural(len(lonely) - 3, 'more edge')} listed at only one of the two nodes"


def _resolved(arrow: Arrow, known: set[str]) -> tuple[str, ...]:
    """Return the names; with lines of the tail where only so they are all known."""
    first = _names(arrow.names, known)
    if all(n in known for n in first):
        return first
    text = arrow.names
    for line in arrow.tail:
        text = f"{text}\n{line}"
        names = _names(text, known)
        if all(n in known for n in names):
            return names
    return first


def _names(text: str, known: set[str]) -> tuple[str, ...]:
    """Split at commas, unless the comma belongs to a known name."""
    if text.strip() in _NOTHING:
        return ()
    parts = text.split(", ")
    out: list[str] = []
    at = 0
    while at < len(parts):
        size = next(
            (n for n in range(min(_LONGEST, len(parts) - at), 0, -1)
             if ", ".join(parts[at : at + n]) in known),
            0,
        )  # fmt: skip
        if size:
            out.append(", ".join(parts[at : at + size]))
        else:
            out.extend(n for n in _LOOSE.split(parts[at].strip()) if n)
        at += size or 1
    return tuple(dict.fromkeys(out))


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
