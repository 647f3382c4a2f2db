"""Deduplications, limits and their order."""

from __future__ import annotations

from typing import Any

from recorder.case import THEN, Batches, Place, at, case
from recorder.shapes import grouped


def once(*keys: str, columns: tuple[str, ...] = ("k", "v", "d")) -> Any:
    return lambda p: p.read().select(*columns).dropDuplicates(list(keys))


def once_within(*keys: str) -> Any:
    return lambda p: p.marked().dropDuplicatesWithinWatermark(list(keys)).select("k", "v", "d")


case("dedup_other_column", "dropDuplicates(k) -> (d)", once("k"), once("d"), mode="append")
case(
    "dedup_columns_swapped",
    "dropDuplicates([k, d]) -> ([d, k])",
    once("k", "d"),
    once("d", "k"),
    mode="append",
)
case(
    "dedup_column_removed",
    "dropDuplicates([k, d]) -> ([k])",
    once("k", "d"),
    once("k"),
    mode="append",
)
case(
    "dedup_more_columns_carried",
    "select(k, d).dropDuplicates(k) -> select(k, v, d)...",
    once("k", columns=("k", "d")),
    once("k"),
    mode="append",
)
case(
    "dedup_key_in_upper_case",
    "k -> upper(k) before dropDuplicates(k)",
    once("k"),
    lambda p: p.read().selectExpr("upper(k) k", "v", "d").dropDuplicates(["k"]),
    mode="append",
)
case(
    "dedup_filter_before",
    "where v > 4 before dropDuplicates(k)",
    once("k"),
    lambda p: p.read().where("v > 4").select("k", "v", "d").dropDuplicates(["k"]),
    mode="append",
)
case(
    "dedup_within_other_column",
    "dropDuplicatesWithinWatermark(k) -> (d)",
    once_within("k"),
    once_within("d"),
    mode="append",
)
case(
    "dedup_two_exchanged",
    "dropDuplicates(k) then (d) -> (d) then (k)",
    lambda p: p.read().select("k", "v", "d").dropDuplicates(["k"]).dropDuplicates(["d"]),
    lambda p: p.read().select("k", "v", "d").dropDuplicates(["d"]).dropDuplicates(["k"]),
    mode="append",
)


def deduplicated_windows(key: str, measure: str = "count(*) n") -> Any:
    def build(p: Place) -> Any:
        df = p.marked().dropDuplicates([key, "ts"])
        return grouped(df, ["window(ts, '10 seconds') w", "d"], measure)

    return build


# One row comes again after the restart, and is not late.
AGAIN: Batches = {"src": [[*THEN["src"][0], ("c", 7, "x", at(14))], THEN["src"][1]]}

case(
    "dedup_before_aggregate_other_key",
    "dropDuplicates(k, ts) -> (d, ts), then windows",
    deduplicated_windows("k"),
    deduplicated_windows("d"),
    mode="append",
    then=AGAIN,
)
case(
    "dedup_kept_aggregate_changed",
    "dropDuplicates, then count -> sum(v)",
    deduplicated_windows("k", "min(v) n"),
    deduplicated_windows("k", "max(v) n"),
    mode="append",
)
case(
    "limit_before_dedup",
    "dropDuplicates(k) -> dropDuplicates(k).limit(3)",
    once("k"),
    lambda p: p.read().select("k", "v", "d").dropDuplicates(["k"]).limit(3),
    mode="append",
)
case(
    "limit_filter_added",
    "limit(4) -> where v > 4, limit(4)",
    lambda p: p.read().select("k", "v").limit(4),
    lambda p: p.read().where("v > 4").select("k", "v").limit(4),
    mode="append",
)
