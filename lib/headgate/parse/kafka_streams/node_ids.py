"""Ids of a topology's nodes: of the operator and its path to the sinks, never of numbers or names.

A node's id is a digest of its word and of the ids that it feeds, so that renaming a processor or
shifting its counter leaves it as it is. Nodes that are equal in that are distinguished by what
feeds them, and those that still are equal by the order of their counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Part:
    """What a node is for its id: `word`, and `target` for what is outside (a sink's topic).

    `order` breaks ties: the counter and the name, so that no order of reading shows.
    """

    word: str
    target: str = ""
    order: tuple[int, str] = (0, "")


def node_ids(parts: Mapping[Key, Part], edges: Iterable[tuple[Key, Key]]) -> dict[Key, str]:
    """Return an id for each node; linear but for sorting, cycles allowed."""
    after: dict[Key, list[Key]] = {k: [] for k in parts}
    before: dict[Key, list[Key]] = {k: [] for k in parts}
    for source, target in edges:
        after[source].append(target)
        before[target].append(source)
    down = _digests(parts, after, before)
    up = _digests(parts, before, after)
    groups: dict[str, list[Key]] = {}
    for key in parts:
        groups.setdefault(down[key], []).append(key)
    return {
        key: _named(parts[key].word, digest, index)
        for digest, keys in groups.items()
        for index, key in enumerate(sorted(keys, key=lambda k: (up[k], parts[k].order)))
    }


def _named(word: str, digest: str, index: int) -> str:
    return f"{word}-{digest[:10]}" + (f"-{index + 1}" if index else "")


def _digests(
    parts: Mapping[Key, Part], ahead: Mapping[Key, Sequence[Key]], back: Mapping[Key, Sequence[Key]]
) -> dict[Key, str]:
    """Return a digest of each node and everything ahead of it, innermost first."""
    waiting = {k: len(ahead[k]) for k in parts}
    ready = [k for k, n in waiting.items() if n == 0]
    out: dict[Key, str] = {}
    while ready or len(out) < len(parts):
        if not ready:
            # A cycle: begin at the node whose word and order come first.
            left = (k for k in parts if k not in out)
            ready.append(min(left, key=lambda k: (parts[k].word, parts[k].order)))
        key = ready.pop()
        if key in out:
            continue
        out[key] = _digest(parts[key], sorted(out.get(k, "") for k in ahead[key]))
        for other in back[key]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    return out


def _digest(part: Part, ahead: Sequence[str]) -> str:
    text = "|".join((part.word, part.target, *ahead))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def store_id(users: Sequence[str], position: str) -> str:
    """Return the id of a store: of the nodes that use it, and its position among their stores."""
    text = "|".join(("store", position, *sorted(users)))
    return f"store-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
