"""Which node, stateful operator and source of one version is which in the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest

from headgate.compat.report import Where
from headgate.model.topology import Node, Topology
from headgate.model.version import OperatorKind, Source, StatefulOperator, Version

_SIMILAR = 0.6


@dataclass(frozen=True, slots=True)
class OperatorPair:
    """Two stateful operators that the engine takes for one, because their ids are equal."""

    before: StatefulOperator | None
    after: StatefulOperator | None

    @property
    def where(self) -> Where:
        """The nodes of both."""
        return Where(
            self.before.node if self.before else None, self.after.node if self.after else None
        )

    @property
    def kind(self) -> OperatorKind | None:
        """The kind of both, None where they are of different kinds or one is missing."""
        if self.before is None or self.after is None or self.before.kind is not self.after.kind:
            return None
        return self.before.kind


@dataclass(frozen=True, slots=True)
class SourcePair:
    """Two sources that the engine takes for one: by name, or by position in the offset log."""

    before: Source | None
    after: Source | None

    @property
    def where(self) -> Where:
        """The nodes of both."""
        return Where(
            self.before.node if self.before else None, self.after.node if self.after else None
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """Nodes of the graph: pairs by id, and what has no counterpart."""

    pairs: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def match_operators(before: Version, after: Version) -> tuple[OperatorPair, ...]:
    """Pair stateful operators by id; where no id is known the place in the list is the id."""
    old = {i if o.operator_id is None else o.operator_id: o for i, o in _listed(before)}
    new = {i if o.operator_id is None else o.operator_id: o for i, o in _listed(after)}
    return tuple(OperatorPair(old.get(i), new.get(i)) for i in sorted(old.keys() | new.keys()))


def _listed(version: Version) -> list[tuple[int, StatefulOperator]]:
    return list(enumerate(version.stateful or ()))


def match_sources(
    before: Version, after: Version, *, by_name: bool, renames: Mapping[str, str] | None = None
) -> tuple[SourcePair, ...]:
    """Pair sources as the offset log does: by name in order of `after`, or by position."""
    old, new = _ordered(before), _ordered(after)
    if not by_name:
        return tuple(SourcePair(b, a) for b, a in zip_longest(old, new))
    named = {(renames or {}).get(s.name or "", s.name): s for s in old}
    pairs = [SourcePair(named.pop(s.name, None), s) for s in new]
    return (*pairs, *(SourcePair(s, None) for s in named.values()))


def _ordered(version: Version) -> list[Source]:
    return sorted(version.sources or (), key=lambda s: s.position)


def match_nodes(
    before: Topology, after: Topology, anchors: Iterable[tuple[str | None, str | None]] = ()
) -> Matches:
    """Pair nodes: what the engine pairs (`anchors`), then equal ids, then the most similar.

    Only nodes of one kind and one operator word are paired.
    """
    old = {n.id: n for n in before.nodes}
    new = {n.id: n for n in after.nodes}
    pairs: dict[str, str] = {}
    for b, a in (*anchors, *((i, i) for i in old if i in new)):
        if _pairable(old.get(b or ""), new.get(a or ""), pairs):
            pairs[str(b)] = str(a)
    _pair_similar(old, new, pairs)
    taken = set(pairs.values())
    return Matches(
        pairs,
        tuple(i for i in new if i not in taken),
        tuple(i for i in old if i not in pairs),
    )


def _pairable(old: Node | None, new: Node | None, pairs: Mapping[str, str]) -> bool:
    if old is None or new is None or old.id in pairs or new.id in pairs.values():
        return False
    return old.kind is new.kind


def _pair_similar(old: Mapping[str, Node], new: Mapping[str, Node], pairs: dict[str, str]) -> None:
    """Add what is left, best likeness first; ties are broken by id, so that it is repeatable."""
    taken = set(pairs.values())
    left = [n for i, n in old.items() if i not in pairs]
    right = [n for i, n in new.items() if i not in taken]
    scored = sorted(
        ((_likeness(b, a), b.id, a.id) for b in left for a in right if b.operator == a.operator),
        key=lambda s: (-s[0], s[1], s[2]),
    )
    for score, b, a in scored:
        if score >= _SIMILAR and b not in pairs and a not in taken:
            pairs[b] = a
            taken.add(a)


def _likeness(before: Node, after: Node) -> float:
    if before.label == after.label:
        return 1.0
    return SequenceMatcher(None, before.label, after.label, autojunk=False).ratio()
