"""Rows of two outputs from a seed, and what Python says of their difference."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

SCHEMA = (
    "id int, city string, n bigint, amount double, price decimal(10,2), at timestamp, day date, "
    "ok boolean, raw binary, place struct<x:double,name:string>, tags array<string>, "
    "counts map<string,int>"
)
NAMES = [part.strip().split(" ")[0] for part in SCHEMA.replace("decimal(10,2)", "decimal")
         .replace("struct<x:double,name:string>", "struct").replace("map<string,int>", "map")
         .split(",")]  # fmt: skip
_START = datetime(2026, 11, 1, tzinfo=UTC)
Row = tuple[Any, ...]


def row(source: random.Random, id: int | None, city: str | None) -> Row:
    """Return a row of that key; every other column is null now and then."""
    values: Row = (
        source.randrange(5),
        source.choice([0.0, -0.0, math.nan, math.inf, 1.5, source.random()]),
        Decimal(source.randrange(500)) / 100,
        _START + timedelta(seconds=source.randrange(100)),
        date(2026, 11, 1 + source.randrange(20)),
        source.random() < 0.5,
        source.choice([b"", b"\x00\xff", b"abc"]),
        (source.choice([1.0, math.nan, None]), source.choice(["a", None])),
        [source.choice(["x", "y", None]) for _ in range(source.randrange(3))],
        {source.choice("abc"): source.choice([1, 2, None]) for _ in range(source.randrange(3))},
    )
    return (id, city, *(None if source.random() < 0.1 else v for v in values))


def two_outputs(seed: int, *, keys: int, most: int) -> tuple[list[Row], list[Row]]:
    """Return rows of A and B; a key has up to `most` rows in each, null keys among them."""
    source = random.Random(seed)
    a, b = [], []
    for number in range(keys):
        id = None if number % 17 == 0 else number // 2
        key = (id, None if number % 11 == 0 else f"c{number}")
        rows = [row(source, *key) for _ in range(source.randint(1, most))]
        fate = source.random()
        if fate < 0.9:
            a += rows
        if fate < 0.1 or fate > 0.2:
            b += [_changed(source, r) if source.random() < 0.2 else r for r in rows]
        if most > 1 and source.random() < 0.2:
            b.append(row(source, *key))
    source.shuffle(a)
    source.shuffle(b)
    return a, b


def _changed(source: random.Random, old: Row) -> Row:
    other = row(source, *old[:2])
    return tuple(n if source.random() < 0.3 else o for o, n in zip(old, other, strict=True))


def plain(value: Any) -> Any:
    """Return a value that is equal in Python where the two are the same in a comparison."""
    if isinstance(value, float):
        return ("nan",) if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return ("map", frozenset((k, plain(v)) for k, v in value.items()))
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value


def by_key(rows: Sequence[Row], width: int = 2) -> dict[Any, list[tuple[Any, ...]]]:
    """Return the other columns of the rows of each key."""
    found = defaultdict(list)
    for one in rows:
        found[tuple(map(plain, one[:width]))].append(tuple(map(plain, one[width:])))
    return found


def expected(a: Sequence[Row], b: Sequence[Row]) -> dict[str, int]:
    """Return the counts: equal rows of a key cancel out, what is left is paired or alone."""
    left, right = by_key(a), by_key(b)
    counts = Counter(missing=0, extra=0, different=0)
    for key in {*left, *right}:
        one, other = Counter(left.get(key, ())), Counter(right.get(key, ()))
        rest_a, rest_b = (one - other).total(), (other - one).total()
        pairs = min(rest_a, rest_b)
        counts += Counter(missing=rest_a - pairs, extra=rest_b - pairs, different=pairs)
    return {word: counts[word] for word in ("missing", "extra", "different")}


def expected_columns(a: Sequence[Row], b: Sequence[Row]) -> dict[str, int]:
    """Return in how many pairs each column differs; each key must have one row a side."""
    left, right = by_key(a), by_key(b)
    found = dict.fromkeys(NAMES[2:], 0)
    for key in {*left} & {*right}:
        for name, x, y in zip(NAMES[2:], left[key][0], right[key][0], strict=True):
            found[name] += x != y
    return found
