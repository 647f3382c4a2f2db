"""Which stateful operator and which source of one version the engine takes for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from headgate.model.version import OperatorKind, Source, StatefulOperator, Version
from headgate.rules.core.match_graphs import Matches, Pair, match_nodes
from headgate.rules.core.report import Location

__all__ = [
    "Matches",
    "OperatorPair",
    "SourcePair",
    "engine_pairs",
    "match_nodes",
    "match_operators",
    "match_sources",
]


@dataclass(frozen=True, slots=True)
class OperatorPair:
    """Two stateful operators that the engine takes for one, because their ids are equal."""

    before: StatefulOperator | None
    after: StatefulOperator | None

    @property
    def location(self) -> Location:
        """The nodes of both."""
        return Location.between(self.before, self.after)

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
    def location(self) -> Location:
        """The nodes of both."""
        return Location.between(self.before, self.after)


def match_operators(before: Version, after: Version) -> tuple[OperatorPair, ...]:
    """Pair stateful operators by id; if no id is known the index in the list is the id."""
    old = {i if o.operator_id is None else o.operator_id: o for i, o in _listed(before)}
    new = {i if o.operator_id is None else o.operator_id: o for i, o in _listed(after)}
    return tuple(OperatorPair(old.get(i), new.get(i)) for i in sorted(old.keys() | new.keys()))


def _listed(version: Version) -> list[tuple[int, StatefulOperator]]:
    return list(enumerate(version.stateful or ()))


def match_sources(
    before: Version, after: Version, *, by_name: bool, renames: Mapping[str, str] | None = None
) -> tuple[SourcePair, ...]:
    """Pair sources as the offset log does: by name in order of `after`, or by position."""
    if not by_name:
        entries = zip_longest(logged_sources(before), logged_sources(after))
        once = {(id(b), id(a)): SourcePair(b, a) for b, a in entries}
        return tuple(once.values())
    old, new = _ordered(before), _ordered(after)
    named = {(renames or {}).get(s.name or "", s.name): s for s in old}
    pairs = [SourcePair(named.pop(s.name, None), s) for s in new]
    return (*pairs, *(SourcePair(s, None) for s in named.values()))


def logged_sources(version: Version) -> list[Source]:
    """Return the source behind each entry of the offset log: one that is read twice has two."""
    logged = [(at, s) for s in _ordered(version) for at in s.log_places or (s.position,)]
    return [s for _, s in sorted(logged, key=lambda p: p[0])]


def _ordered(version: Version) -> list[Source]:
    return sorted(version.sources or (), key=lambda s: s.position)


def engine_pairs(operators: Sequence[OperatorPair], sources: Sequence[SourcePair]) -> list[Pair]:
    """Return the nodes that the engine takes for one, where it takes all of them so.

    Where it finds one more or less, or another kind, it refuses, and has no answer for the rest.
    """
    found: list[Pair] = []
    if all(p.kind is not None for p in operators):
        found += [(p.location.before, p.location.after) for p in operators]
    if all(p.before is not None and p.after is not None for p in sources):
        found += [(p.location.before, p.location.after) for p in sources]
    return found
