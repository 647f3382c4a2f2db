"""Two states after the same rows: which keys and which columns differ, and in which way."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.model.twin import ColumnMatch
from headgate.twin.experiment import Frozen, Store, texts, words

# Thresholds, measured on recorded changes of three sets.
_SWAPPED, _TELLING, _WIDEST = 0.98, 5, 12
_DIFFERS = 0.05
_FEW = 8
_KEY_ORDER, _KEY_SAME, _WIDEST_KEY = 0.7, 0.5, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreComparison:
    """Counts of keys, `different` keys of both, and columns that were swapped.

    `single` are common keys that got one row of A. `key_order` says where the new version has each
    of the old one's key columns. `factor`: all different values are that many times the old ones.
    `is_placeholder`: what differs was one text, or null, in all keys of one version.
    """

    only_before: tuple[Frozen, ...]
    only_after: tuple[Frozen, ...]
    common: int
    different: tuple[Frozen, ...]
    single: int
    single_different: int
    swapped: tuple[ColumnMatch, ...] = ()
    factor: float | None = None
    is_placeholder: bool = False
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
        factor=_factor(old, new, common) if different else None,
        is_placeholder=_is_placeholder(old, new, common) if different else False,
        key_order=_key_order(old, new, len(common), len(different)),
    )


def _is_single(key: Frozen, counts: Mapping[str, int]) -> bool:
    found = {word for text in texts(key) for word in words(text)}
    return any(counts.get(word) == 1 for word in found)


def _width(rows: Mapping[Frozen, Frozen]) -> int | None:
    """Return the number of columns that all rows have, None if they differ or are no structs."""
    widths = {
        len(row) if isinstance(row, tuple) else 0
        for value in rows.values()
        for row in _rows_of(value)
    }
    return widths.pop() if len(widths) == 1 else None


def _rows_of(value: Frozen) -> tuple[Frozen, ...]:
    """Return the rows of a key: one, or the several of a side of a join."""
    several = isinstance(value, tuple) and value and value[0] == "several"
    return value[1:] if several else (value,)


def _column(value: Frozen, column: int) -> Frozen:
    """Return a column's value, or its sorted values if the key has several rows."""
    rows = _rows_of(value)
    if len(rows) == 1:
        return rows[0][column]
    return tuple(sorted((row[column] for row in rows), key=repr))


def _swapped(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: set[Frozen]
) -> tuple[ColumnMatch, ...]:
    """Return the columns whose values the new version has in another column."""
    width = _width(old)
    if width is None or width != _width(new) or not 2 <= width <= _WIDEST:
        return ()
    found = []
    for i in range(width):
        told_apart = sum(_column(old[k], i) != _column(new[k], i) for k in common)
        if told_apart < max(_TELLING, _DIFFERS * len(common)):
            continue
        for j in range(width):
            if i == j:
                continue
            same = sum(_column(old[k], i) == _column(new[k], j) for k in common)
            if same >= _SWAPPED * len(common):
                found.append(
                    ColumnMatch(before_column=i, after_column=j, keys=same, of=len(common))
                )
    return tuple(found)


def _differing(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: set[Frozen]
) -> list[list[tuple[Any, Any]]]:
    """Return for each column that differs the values of all common keys; none for joins."""
    width = _width(old)
    one_row = all(len(_rows_of(v)) == 1 for rows in (old, new) for v in rows.values())
    if not width or width != _width(new) or not one_row or len(common) < _FEW:
        return []
    columns = ([(old[k][i], new[k][i]) for k in common] for i in range(width))
    return [pairs for pairs in columns if any(a != b for a, b in pairs)]


def _factor(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: set[Frozen]
) -> float | None:
    """Return what every differing number was multiplied by: a change of unit."""
    found: set[float] = set()
    for pairs in _differing(old, new, common):
        numbers = [(_number(a), _number(b)) for a, b in pairs if (a, b) != (None, None)]
        if any(a is None or b is None or bool(a) != bool(b) for a, b in numbers):
            return None
        factors = {float(f"{b / a:.6g}") for a, b in numbers if a and b is not None}
        if sum(bool(a) for a, _ in numbers) < _FEW:
            return None
        found |= factors
    return found.pop() if len(found) == 1 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _is_placeholder(
    old: Mapping[Frozen, Frozen], new: Mapping[Frozen, Frozen], common: set[Frozen]
) -> bool:
    """Whether each column that differs held nothing: one text, or null, in all keys."""
    columns = _differing(old, new, common)
    sides = [[{repr(pair[side]) for pair in pairs} for side in (0, 1)] for pairs in columns]
    texts_only = all(
        value is None or isinstance(value, str) for pairs in columns for p in pairs for value in p
    )
    return bool(columns) and texts_only and all(min(len(s) for s in both) == 1 for both in sides)


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


def grids(rows: Mapping[Frozen, Frozen]) -> dict[int, set[tuple[float, float]]]:
    """Return length and phase, in seconds, of the windows in each key column that holds windows.

    Columns whose windows have many lengths (sessions) and stores of few keys are left out.
    """
    keys = [k for k in rows if isinstance(k, tuple)]
    found = {}
    for column in range(min(map(len, keys), default=0)):
        windows = [_window(key[column]) for key in keys]
        lengths = {w[0] for w in windows if w}
        if len(windows) >= _FEW and None not in windows and len(lengths) == 1:
            found[column] = {w for w in windows if w}
    return found


def _window(value: Frozen) -> tuple[float, float] | None:
    """Return length and phase of a pair of times, None for any other value."""
    if not isinstance(value, tuple) or len(value) != 2:
        return None
    try:
        start, end = (datetime.fromisoformat(v).replace(tzinfo=UTC).timestamp() for v in value)
    except (TypeError, ValueError):
        return None
    return (end - start, start % (end - start)) if end > start else None
