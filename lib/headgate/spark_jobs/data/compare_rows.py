"""Compare the rows of two DataFrames by key, in one full outer join where keys are unique.

A join alone is right as long as no key that both sides have stands in several rows of one. Whether
that holds is read off the join's own counts; if not, rows are compared as a multiset: equal rows
cancel each other out first, and what is left of a key is paired in the order of its values. How
many rows the join would give is estimated before it, so that a key with very many rows on both
sides can't make it endless. Only counts and a few samples come to the driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, NullType

from headgate.spark_jobs.data.row_equality import can_be_key, canonical, is_floating, key_form, same

_DIFFERENT, _MISSING, _EXTRA = 1, 2, 3
_KINDS = {_DIFFERENT: "different", _MISSING: "missing", _EXTRA: "extra"}
_BUCKETS = 1 << 16
# The join may give as many rows as both sides have, and some: what the estimate is wrong by.
_MOST_TIMES, _MOST_MORE = 2, 1_000_000


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that is no key; a type is NullType where that output lacks the column."""

    name: str
    kind_a: DataType
    kind_b: DataType


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key column and its type in each output."""

    name: str
    kind_a: DataType
    kind_b: DataType


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with what: the key, the other columns, the tolerance, how many samples."""

    keys: Sequence[KeyColumn]
    columns: Sequence[ComparedColumn]
    tolerance: float = 0.0
    samples: int = 20


def unusable_keys(keys: Sequence[KeyColumn]) -> list[str]:
    """Return the key columns that rows can't be joined by."""
    return [k.name for k in keys if not (can_be_key(k.kind_a) and can_be_key(k.kind_b))]


def compare_rows(a: DataFrame, b: DataFrame, what: Comparison) -> dict[str, Any]:
    """Return `{"rows", "missing", "extra", "different", "columns", "samples", "has_duplicates"}`.

    `missing` are rows of A without one of B, `extra` the other way round, `different` pairs of one
    key. A sample has `kind`, `key`, `columns` (those that differ) and the values in `a` and `b`.
    """
    left, right = _side(a, what, "a"), _side(b, what, "b")
    rows_a, rows_b, estimate = _sizes(left, right, what)
    if estimate <= _MOST_TIMES * max(rows_a, rows_b) + _MOST_MORE:
        found = _counted(_joined(left, right, what), what)
        if found["in_a"] == rows_a and found["in_b"] == rows_b:
            return _result(found, what, rows_a, rows_b, has_duplicates=False)
    found = _counted(_paired(left, right, what), what)
    return _result(found, what, rows_a, rows_b, has_duplicates=True)


def _side(rows: DataFrame, what: Comparison, side: str) -> DataFrame:
    """Return the keys as k0, k1..., the other columns as a0... or b0..., and `is_<side>`."""
    columns: list[Column] = []
    for i, key in enumerate(what.keys):
        kind, other = (key.kind_a, key.kind_b) if side == "a" else (key.kind_b, key.kind_a)
        columns.append(key_form(_column(rows, key.name), kind, other).alias(f"k{i}"))
    for i, column in enumerate(what.columns):
        kind = column.kind_a if side == "a" else column.kind_b
        lacks = isinstance(kind, NullType)
        found = F.lit(None) if lacks else _column(rows, column.name)
        columns.append(found.alias(f"{side}{i}"))
    return rows.select(*columns, F.lit(True).alias(f"is_{side}"))


def _column(rows: DataFrame, name: str) -> Column:
    """Return a column by its exact name, which may hold dots."""
    return rows["`" + name.replace("`", "``") + "`"]


def _keys(what: Comparison) -> list[str]:
    return [f"k{i}" for i in range(len(what.keys))]


def _sizes(left: DataFrame, right: DataFrame, what: Comparison) -> tuple[int, int, float]:
    """Return the rows of both sides, and about how many rows of a join both sides would be in.

    Rows are counted by the hash of their key: the products of the counts, less what different keys
    of one hash add to them by chance, are the pairs of equal keys.
    """
    bucket = F.pmod(F.xxhash64(*_keys(what)), F.lit(_BUCKETS)).alias("bucket")
    one, none = F.lit(1), F.lit(0)
    both = left.select(bucket, one.alias("a"), none.alias("b")).unionAll(
        right.select(bucket, none.alias("a"), one.alias("b"))
    )
    counts = both.groupBy("bucket").agg(F.sum("a").alias("a"), F.sum("b").alias("b"))
    product = F.col("a").cast("double") * F.col("b").cast("double")
    row = counts.agg(F.sum("a"), F.sum("b"), F.sum(product)).first()
    assert row is not None
    rows_a, rows_b, pairs = int(row[0] or 0), int(row[1] or 0), float(row[2] or 0)
    return rows_a, rows_b, pairs - rows_a * rows_b / _BUCKETS


def _joined(left: DataFrame, right: DataFrame, what: Comparison) -> DataFrame:
    keys = [F.col(k).alias(f"o{k}") for k in _keys(what)]
    right = right.select(*keys, *right.columns[len(keys) :])
    on = [left[k].eqNullSafe(right[f"o{k}"]) for k in _keys(what)]
    joined = left.join(right, reduce(Column.__and__, on), "full_outer")
    is_extra = F.col("is_a").isNull()
    keys = [F.when(is_extra, F.col(f"o{k}")).otherwise(F.col(k)).alias(k) for k in _keys(what)]
    return joined.select(*keys, *(c for c in joined.columns if c[0] in "abi"))


def _paired(left: DataFrame, right: DataFrame, what: Comparison) -> DataFrame:
    """Return the rows that don't cancel each other out, in pairs of one key."""
    forms = [f"c{i}" for i in range(len(what.columns))]
    keys = _keys(what)
    one, other = (_numbered(_with_forms(s, what, n), [*keys, *forms]) for s, n in
                  ((left, "a"), (right, "b")))  # fmt: skip
    shared = [*keys, *forms, "nth"]
    other = other.select(*(F.col(c).alias(f"o{c}") for c in shared),
                         *(c for c in other.columns if c not in shared))  # fmt: skip
    on = [one[c].eqNullSafe(other[f"o{c}"]) for c in shared]
    rest = one.join(other, reduce(Column.__and__, on), "full_outer")
    rest = rest.where(F.col("is_a").isNull() | F.col("is_b").isNull())
    is_extra = F.col("is_a").isNull()
    picked = [F.when(is_extra, F.col(f"o{c}")).otherwise(F.col(c)).alias(c) for c in shared]
    rest = rest.select(*picked, *(c for c in rest.columns if c[0] in "abi"))
    # Numbers that are only nearly equal come last: they must not part rows that belong together.
    order = sorted(range(len(forms)), key=lambda i: _is_near(what.columns[i]))
    window = Window.partitionBy(*keys, "is_a").orderBy(*(f"c{i}" for i in order), "nth")
    rest = rest.withColumn("pair", F.row_number().over(window))
    sides = []
    for side in "ab":
        fields = F.struct(*(F.col(f"{side}{i}") for i in range(len(forms))), F.col(f"is_{side}"))
        value = F.when(F.col(f"is_{side}").isNotNull(), fields)
        sides.append(F.first(value, ignorenulls=True).alias(side))
    pairs = rest.groupBy(*keys, "pair").agg(*sides)
    return pairs.select(*keys, "a.*", "b.*")


def _is_near(column: ComparedColumn) -> bool:
    return is_floating(column.kind_a) or is_floating(column.kind_b)


def _with_forms(side: DataFrame, what: Comparison, name: str) -> DataFrame:
    forms = {}
    for i, column in enumerate(what.columns):
        kinds = (column.kind_a, column.kind_b)
        kind, other = kinds if name == "a" else kinds[::-1]
        forms[f"c{i}"] = canonical(F.col(f"{name}{i}"), kind, other)
    return side.withColumns(forms) if forms else side


def _numbered(rows: DataFrame, by: list[str]) -> DataFrame:
    window = Window.partitionBy(*by).orderBy(F.lit(0))
    return rows.withColumn("nth", F.row_number().over(window))


def _counted(pairs: DataFrame, what: Comparison) -> dict[str, Any]:
    """Return the counts and the samples of pairs, in one pass over them."""
    is_pair = F.col("is_a").isNotNull() & F.col("is_b").isNotNull()
    flags = [
        (~same(F.col(f"a{i}"), F.col(f"b{i}"), c.kind_a, c.kind_b, what.tolerance)).alias(f"d{i}")
        for i, c in enumerate(what.columns)
    ]
    names = [f"d{i}" for i in range(len(flags))]
    rows = pairs.select("*", *flags)
    differs = reduce(Column.__or__, (F.col(n) for n in names), F.lit(False))
    kind = (
        F.when(F.col("is_b").isNull(), _MISSING)
        .when(F.col("is_a").isNull(), _EXTRA)
        .when(differs, _DIFFERENT)
    )
    rows = rows.withColumn("kind", kind)
    counts = [F.count("is_a").alias("in_a"), F.count("is_b").alias("in_b")]
    counts += [F.count_if(F.col("kind") == k).alias(word) for k, word in _KINDS.items()]
    counts += [F.count_if(is_pair & F.col(n)).alias(n) for n in names]
    samples = [_samples(k, what).alias(f"{word}_samples") for k, word in _KINDS.items()]
    row = rows.agg(*counts, *samples).first()
    assert row is not None
    return dict(row.asDict())


def _samples(kind: int, what: Comparison) -> Column:
    """Return the samples of a kind: the same ones in every run, as their keys' hashes say."""
    is_kind = F.col("kind") == kind
    keys = F.struct(*(F.col(f"k{i}").alias(f"{i}") for i in range(len(what.keys))))
    options = {"ignoreNullFields": "false"}
    parts = [F.to_json(keys, options).alias("key")]
    for side in "ab":
        values = [F.col(f"{side}{i}").alias(f"{i}") for i in range(len(what.columns))]
        parts.append(F.to_json(F.struct(*values), options).alias(side) if values
                     else F.lit("{}").alias(side))  # fmt: skip
    flags = [F.col(f"d{i}") for i in range(len(what.columns))]
    parts.append((F.array(*flags) if flags else F.array().cast("array<boolean>")).alias("flags"))
    order = F.when(is_kind, F.xxhash64(*_keys(what)))
    return F.max_by(F.when(is_kind, F.struct(*parts)), order, what.samples)


def _result(
    found: dict[str, Any], what: Comparison, rows_a: int, rows_b: int, *, has_duplicates: bool
) -> dict[str, Any]:
    return {
        "rows": {"a": rows_a, "b": rows_b},
        **{word: int(found[word]) for word in ("missing", "extra", "different")},
        "columns": [
            {"name": c.name, "different": int(found[f"d{i}"])} for i, c in enumerate(what.columns)
        ],
        "samples": list(_chosen(found, what)),
        "has_duplicates": has_duplicates,
    }


def _chosen(found: dict[str, Any], what: Comparison) -> Iterator[dict[str, Any]]:
    """Yield samples of each kind in turn, as many as wanted, grouped by kind."""
    groups = {word: list(found[f"{word}_samples"] or ()) for word in _KINDS.values()}
    share = dict.fromkeys(groups, 0)
    for _ in range(what.samples):
        open_ones = [w for w in groups if share[w] < len(groups[w])]
        if not open_ones:
            break
        share[min(open_ones, key=lambda w: share[w])] += 1
    for word, rows in groups.items():
        for row in rows[: share[word]]:
            yield _sample(word, row, what)


def _sample(word: str, row: Any, what: Comparison) -> dict[str, Any]:
    names = [c.name for c in what.columns]
    flags = row["flags"] if word == _KINDS[_DIFFERENT] else [True] * len(names)
    shown = [i for i, flag in enumerate(flags) if flag]
    key = json.loads(row["key"])
    sides = {}
    for side, absent in (("a", _KINDS[_EXTRA]), ("b", _KINDS[_MISSING])):
        values = json.loads(row[side])
        sides[side] = None if word == absent else {names[i]: values[f"{i}"] for i in shown}
    return {
        "kind": word,
        "key": {k.name: key[f"{i}"] for i, k in enumerate(what.keys)},
        "columns": [names[i] for i in shown] if word == _KINDS[_DIFFERENT] else [],
        **sides,
    }
