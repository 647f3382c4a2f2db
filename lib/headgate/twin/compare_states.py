"""Two states after the same rows: which keys and which columns differ, and in which way."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.model.twin import ColumnMatch
from headgate.twin.experiment import Frozen, Store, texts, words

# Thresholds, measured on recorded changes of three sets.
_SWAPPED, _TELLING, _WIDEST = 0.98, 5, 12
_DIFFERS = 0.05
_KEY_ORDER, _KEY_SAME, _WIDEST_KEY = 0.7, 0.5, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreComparison:
    """Counts of keys, `different` keys of both, and columns that have changed places.

    `single` are common keys that got one row of A. `key_order` says where the new version has each
    of the old one's key columns.
    """

    only_before: tuple[Frozen, ...]
    only_after: tuple[Frozen, ...]
    common: int
    different: tuple[Frozen, ...]
    single: int
    single_different: int
    swapped: tuple[ColumnMatch, ...] = ()
    key_order: tuple[int, ...] | None = None

    @property
    def before(self) -> int:
        """How many keys the old version left."""
        return self.common + len(self.only_before)

    @property
    def after(self) -> int:
        """How many keys the new one would have."""
        return self.common + len(self.only_after)


def compare_stores(before: Store, after: Store, counts: Mapping[str, int]) -> StoreComparison:
    """Compare what the old version left with what the new one would have; `counts` are words."""
    old, new = before.rows, after.rows
    common = old.keys() & new.keys()
    different = tuple(sorted((k for k in common if old[k] != new[k]), key=repr))
    single = {k for k in common if _is_single(k, counts)}
    return StoreComparison(
        only_before=tuple(sorted(old.keys() - new.keys(), key=repr)),
        only_after=tuple(sorted(new.keys() - old.keys(), key=repr)),
        common=len(common),
        different=different,
        single=len(single),
        single_different=len(single & set(different)),
        swapped=_swapped(old, new, common) if different else (),
        key_order=_key_order(old, new, len(common), len(different)),
    )


def _is_single(key: Frozen, counts: Mapping[str, int]) -> bool:
    found = {word for text in texts(key) for word in words(text)}
    return any(counts.get(word) == 1 for word in found)


def _width(rows: Mapping[Frozen, Frozen]) -> int | None:
    """Return the number of columns that all rows have, None if they differ or are no structs."""
    widths = {
        len(v) if isinstance(v, tuple) and not (v and v[0] == "several") else 0
        for v in rows.values()
    }
    return widths.pop() if len(widths) == 1 else None


def _swapped(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: set[Frozen]
) -> tuple[ColumnMatch, ...]:
    """Return the columns whose values the new version has in another column."""
    width = _width(old)
    if width is None or width != _width(new) or not 2 <= width <= _WIDEST:
        return ()
    found = []
    for i in range(width):
        told_apart = sum(old[k][i] != new[k][i] for k in common)
        if told_apart < max(_TELLING, _DIFFERS * len(common)):
            continue
        for j in range(width):
            same = sum(old[k][i] == new[k][j] for k in common)
            if i != j and same >= _SWAPPED * len(common):
                found.append(
                    ColumnMatch(before_column=i, after_column=j, keys=same, of=len(common))
                )
    return tuple(found)


def _key_order(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: int, different: int
) -> tuple[int, ...] | None:
    widths = {len(k) if isinstance(k, tuple) else 0 for k in (*old, *new)}
    whole = len(old.keys() | new.keys())
    looks_alike = common >= 0.9 * whole and different <= _DIFFERS * max(common, 1)
    if looks_alike or len(widths) != 1 or not 2 <= max(widths) <= _WIDEST_KEY:
        return None
    identity = tuple(range(max(widths)))
    hits = {
        order: sum(new.get(tuple(k[i] for i in order)) == v for k, v in old.items())
        for order in itertools.permutations(identity)
    }
    same = hits.pop(identity)
    best = max(hits, key=lambda order: hits[order])
    enough = hits[best] >= _KEY_ORDER * max(min(len(old), len(new)), 1)
    return best if enough and same < _KEY_SAME * hits[best] else None
