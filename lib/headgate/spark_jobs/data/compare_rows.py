"""Compare the rows of two DataFrames by key, in one full outer join if keys are unique.

A join suffices as long as no key that both sides have is in several rows of one. Whether
that holds is read off the join's own counts; if not, rows are compared as a multiset: equal rows
cancel each other out first, and what is left of a key is paired in the order of its values. How
many rows the join would give is estimated before it, so that a key with very many rows on both
sides can't make it endless. Only counts and a few samples come to the driver.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, NullType

from headgate.spark_jobs.data.row_equality import (
    can_be_key,
    canonical,
    is_floating,
    key_form,
    same,
)
from headgate.spark_jobs.spark_reflection import elements, kind_of

_DIFFERENT, _MISSING, _EXTRA = 1, 2, 3
_KINDS = {_DIFFERENT: "different", _MISSING: "missing", _EXTRA: "extra"}
# Few enough that each task counts them in its processor's cache: 65,536 took twice as long. The
# estimate is wrong by some 2 % of the rows, the square root of two over the buckets.
_BUCKETS = 1 << 12
_ALL_FIELDS = {"ignoreNullFields": "false"}
# The join may give as many rows as both sides have, and some: what the estimate is wrong by.
_MOST_TIMES, _MOST_MORE = 2, 1_000_000


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column outside the key; a type is NullType if that output lacks the column."""

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
    sizes = _sizes(left, right, what)
    rows_a, rows_b = sizes.rows_a, sizes.rows_b
    found = None
    if sizes.pairs <= _MOST_TIMES * max(rows_a, rows_b) + _MOST_MORE:
        found = _differences(_joined(left, right, what, sizes.null_keys), what)
        pairs = found.joined
        # True as long as no key that both sides have stands in several rows of one, and no lost
        # executor let Spark count rows twice.
        if rows_a and rows_b and (pairs - found.extra, pairs - found.missing) != (rows_a, rows_b):
            found = None
    has_duplicates = found is None
    if found is None:
        found = _differences(_paired(left, right, what), what)
    return {
        "rows": {"a": rows_a, "b": rows_b},
        "missing": found.missing,
        "extra": found.extra,
        "different": found.different,
        "columns": [
            {"name": c.name, "different": found.columns[i]} for i, c in enumerate(what.columns)
        ],
        "samples": [_sample(_KINDS[kind], row, what) for kind, row in found.samples],
        "has_duplicates": has_duplicates,
    }


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


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The rows of both sides, about how many rows of a join both would be in, and key columns.

    `null_keys` are those that are null in some row of each side: only they need a comparison in
    which nulls are equal, for which Spark sorts by two columns.
    """

    rows_a: int
    rows_b: int
    pairs: float
    null_keys: frozenset[str]


def _sizes(left: DataFrame, right: DataFrame, what: Comparison) -> _Sizes:
    """Count rows by the hash of their key.

    The products of the counts, less what different keys of one hash add to them by chance, are the
    pairs of equal keys.
    """
    keys = _keys(what)
    bucket = F.pmod(F.xxhash64(*keys), F.lit(_BUCKETS)).alias("bucket")
    in_a, in_b = (
        rows.groupBy(bucket).agg(
            F.count(F.lit(1)).alias(side),
            *(F.count_if(F.col(key).isNull()).alias(f"{side}_{key}") for key in keys),
        )
        for rows, side in ((left, "a"), (right, "b"))
    )
    counts = in_a.join(in_b, "bucket", "full_outer")
    product = F.col("a").cast("double") * F.col("b").cast("double")
    nulls = [f"{side}_{key}" for key in keys for side in "ab"]
    row = counts.agg(
        F.sum("a").alias("a"),
        F.sum("b").alias("b"),
        F.sum(product).alias("pairs"),
        *(F.sum(name).alias(name) for name in nulls),
    ).first()
    assert row is not None
    rows_a, rows_b = int(row["a"] or 0), int(row["b"] or 0)
    return _Sizes(
        rows_a,
        rows_b,
        float(row["pairs"] or 0) - rows_a * rows_b / _BUCKETS,
        frozenset(key for key in keys if row[f"a_{key}"] and row[f"b_{key}"]),
    )


def _joined(
    left: DataFrame, right: DataFrame, what: Comparison, null_keys: frozenset[str]
) -> DataFrame:
    keys = [F.col(k).alias(f"o{k}") for k in _keys(what)]
    right = right.select(*keys, *right.columns[len(keys) :])
    on = [
        left[k].eqNullSafe(right[f"o{k}"]) if k in null_keys else left[k] == right[f"o{k}"]
        for k in _keys(what)
    ]
    joined = left.join(right, reduce(Column.__and__, on), "full_outer")
    is_extra = F.col("is_a").isNull()
    keys = [F.when(is_extra, F.col(f"o{k}")).otherwise(F.col(k)).alias(k) for k in _keys(what)]
    flags = (c for c in joined.columns if c[0] in "abi")
    return joined.select(*keys, *flags, F.lit(1).alias("pair"))


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
    return pairs.select(*keys, "a.*", "b.*", "pair")


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


@dataclass(frozen=True, slots=True)
class _Differences:
    """Counts of the rows that differ, and some of them as `(kind, row)`.

    `joined` are the rows that the join gave; 0 if Spark did without one, as one side is empty.
    """

    missing: int
    extra: int
    different: int
    columns: Sequence[int]
    samples: Sequence[tuple[int, Any]]
    joined: int


def _differences(pairs: DataFrame, what: Comparison) -> _Differences:
    """Count the pairs that differ, and take some of each kind, in one pass.

    Only rows that differ reach the aggregation: one that holds rows is slow, and equal rows are
    many. Samples have the lowest hashes of their keys, and one row of each key comes before others.
    """
    flags = [f"d{i}" for i in range(len(what.columns))]
    values = [_struct("k", len(what.keys)), *(_struct(s, len(what.columns)) for s in "ab")]
    order = F.struct("pair", F.xxhash64(*_keys(what)))
    rows = _judged(pairs, what).where("kind IS NOT NULL")
    found = rows.groupBy("kind").agg(
        F.count(F.lit(1)).alias("n"),
        *(F.count_if(F.col(n)).alias(n) for n in flags),
        F.min_by(F.struct(*values, *flags), order, max(what.samples, 1)).alias("taken"),
    )
    texts = F.transform(
        "taken",
        lambda row: F.struct(
            *(F.to_json(row[side], _ALL_FIELDS).alias(side) for side in "kab"),
            *(row[n].alias(n) for n in flags),
        ),
    )
    told = found.withColumn("taken", texts)
    by_kind = {row["kind"]: row for row in told.collect()}
    counts = {kind: by_kind[kind]["n"] if kind in by_kind else 0 for kind in _KINDS}
    pairs_of_both = by_kind.get(_DIFFERENT)
    return _Differences(
        missing=counts[_MISSING],
        extra=counts[_EXTRA],
        different=counts[_DIFFERENT],
        columns=[pairs_of_both[n] if pairs_of_both else 0 for n in flags],
        samples=_chosen({k: row["taken"] for k, row in by_kind.items()}, what.samples),
        joined=_rows_of_join(told._jdf.queryExecution().executedPlan()),
    )


def _rows_of_join(plan: Any) -> int:
    """Return how many rows the uppermost join gave: Spark counts them anyway, `observe` does again.

    A stage, and the plan that adaptive execution changes, don't have what they run as children.
    """
    kind = kind_of(plan)
    if kind.endswith("JoinExec"):
        return int(plan.metrics().apply("numOutputRows").value())
    if kind == "AdaptiveSparkPlanExec":
        return _rows_of_join(plan.executedPlan())
    below = [plan.plan()] if kind.endswith("QueryStageExec") else elements(plan.children())
    return max(map(_rows_of_join, below), default=0)


def _judged(pairs: DataFrame, what: Comparison) -> DataFrame:
    """Add `kind`, null for equal rows, and whether each column differs."""
    flags = [
        (~same(F.col(f"a{i}"), F.col(f"b{i}"), c.kind_a, c.kind_b, what.tolerance)).alias(f"d{i}")
        for i, c in enumerate(what.columns)
    ]
    rows = pairs.select("*", *flags)
    differs = reduce(Column.__or__, (F.col(f"d{i}") for i in range(len(flags))), F.lit(False))
    kind = (
        F.when(F.col("is_b").isNull(), _MISSING)
        .when(F.col("is_a").isNull(), _EXTRA)
        .when(differs, _DIFFERENT)
    )
    return rows.withColumn("kind", kind)


def _struct(side: str, count: int) -> Column:
    """Return the columns of a side in one; Spark makes no JSON of a struct without fields."""
    fields = [F.col(f"{side}{i}").alias(f"{i}") for i in range(count)]
    return F.struct(*fields, F.lit(0).alias("end")).alias(side)


def _chosen(taken: dict[int, list[Any]], most: int) -> list[tuple[int, Any]]:
    """Return rows of each kind in turn, as many as wanted, grouped by kind."""
    share = dict.fromkeys(sorted(taken), 0)
    for _ in range(most):
        open_ones = [kind for kind in share if share[kind] < len(taken[kind])]
        if not open_ones:
            break
        share[min(open_ones, key=lambda kind: share[kind])] += 1
    return [(kind, row) for kind in share for row in taken[kind][: share[kind]]]


def _sample(word: str, row: Any, what: Comparison) -> dict[str, Any]:
    names = [c.name for c in what.columns]
    shown = [i for i in range(len(names)) if word != _KINDS[_DIFFERENT] or row[f"d{i}"]]
    key = json.loads(row["k"])
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
