"""Joins of two streams, and of a stream with a table."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from recorder.case import FIRST, SIDES_FIRST, SIDES_THEN, THEN, Place, at, case
from recorder.shapes import grouped

NEAR = "lk = rk AND rts BETWEEN lts AND lts + interval 10 seconds"
SIDES = {"first": SIDES_FIRST, "then": SIDES_THEN, "mode": "append"}

# The left row `a` finds two more partners, one before and one after the restart.
PARTNERS: Any = {
    "mode": "append",
    "first": {
        "src": SIDES_FIRST["src"],
        "src2": [[*SIDES_FIRST["src2"][0], ("a", 30, "x", at(13))], SIDES_FIRST["src2"][1]],
    },
    "then": {
        "src": SIDES_THEN["src"],
        "src2": [[*SIDES_THEN["src2"][0], ("a", 20, "x", at(14))], SIDES_THEN["src2"][1]],
    },
}


def left(p: Place, delay: str = "10 seconds") -> DataFrame:
    df = p.read().selectExpr("k AS lk", "v AS lv", "d AS ld", "ts AS lts")
    return df.withWatermark("lts", delay)


def right(p: Place, delay: str = "10 seconds") -> DataFrame:
    df = p.read("src2").selectExpr("k AS rk", "v AS rv", "d AS rd", "ts AS rts")
    return df.withWatermark("rts", delay)


def joined(kind: str = "inner", on: str = NEAR, columns: str = "lk lv rk rv") -> Any:
    def build(p: Place) -> DataFrame:
        return left(p).join(right(p), F.expr(on), kind).select(*columns.split())

    return build


def swapped(p: Place) -> DataFrame:
    return right(p).join(left(p), F.expr(NEAR), "inner").select("lk", "lv", "rk", "rv")


case("join_left_to_right", "left -> right", joined("left"), joined("right"), **SIDES)
case("join_left_to_full", "left -> full", joined("left"), joined("full"), **SIDES)
case("join_full_to_left", "full -> left", joined("full"), joined("left"), **SIDES)
case(
    "join_inner_to_semi",
    "inner -> left semi",
    joined("inner", columns="lk lv"),
    joined("leftsemi", columns="lk lv"),
    **PARTNERS,
)
case(
    "join_semi_to_inner",
    "left semi -> inner",
    joined("leftsemi", columns="lk lv"),
    joined("inner", columns="lk lv"),
    **PARTNERS,
)
case("join_sides_exchanged", "L join R -> R join L", joined(), swapped, **SIDES)
case(
    "join_keys_in_upper_case",
    "lk = rk -> upper(lk) = upper(rk)",
    joined(),
    joined(on=NEAR.replace("lk = rk", "upper(lk) = upper(rk)")),
    **SIDES,
)
case(
    "join_range_other_direction",
    "rts in [lts, lts + 10 s] -> lts in [rts, rts + 10 s]",
    joined(),
    joined(on="lk = rk AND lts BETWEEN rts AND rts + interval 10 seconds"),
    **SIDES,
)
case(
    "join_select_fewer",
    "select(lk, lv, rk, rv) -> select(lk, rv)",
    joined(),
    joined(columns="lk rv"),
    **SIDES,
)
case(
    "join_two_keys_exchanged",
    "lk = rk AND ld = rd -> ld = rd AND lk = rk",
    joined(on="lk = rk AND ld = rd AND rts BETWEEN lts AND lts + interval 10 seconds"),
    joined(on="ld = rd AND lk = rk AND rts BETWEEN lts AND lts + interval 10 seconds"),
    **SIDES,
)
case(
    "join_condition_on_values_added",
    "... -> ... AND lv < rv",
    joined(),
    joined(on=NEAR + " AND lv < rv"),
    **SIDES,
)


def filtered(p: Place) -> DataFrame:
    return (
        left(p).where("lv > 1").join(right(p), F.expr(NEAR), "left").select("lk", "lv", "rk", "rv")
    )


case("join_side_filtered", "left side -> where lv > 1", joined("left"), filtered, **SIDES)


def other_delays(p: Place) -> DataFrame:
    pair = left(p, "30 seconds").join(right(p, "1 minute"), F.expr(NEAR), "left")
    return pair.select("lk", "lv", "rk", "rv")


case("join_delays_longer", "10 s, 10 s -> 30 s, 1 minute", joined("left"), other_delays, **SIDES)


def joined_windows(measure: str) -> Any:
    def build(p: Place) -> DataFrame:
        pair = left(p).join(right(p), F.expr(NEAR), "inner")
        return grouped(pair, ["window(lts, '10 seconds') w", "lk"], measure)

    return build


case(
    "join_then_min_to_max",
    "join, then min(rv) -> max(rv) in windows",
    joined_windows("min(rv) s"),
    joined_windows("max(rv) s"),
    **PARTNERS,
)

TOWNS = [("a", 1, "Ulm", at(0)), ("b", 2, "Bonn", at(0)), ("q", 3, "Hof", at(0))]
STATIC = {"first": {**FIRST, "towns": [TOWNS]}, "then": THEN}


def enriched(kind: str, measure: str = "sum(v) s") -> Any:
    def build(p: Place) -> DataFrame:
        towns = p.static().selectExpr("k", "d AS town")
        return grouped(p.read().join(towns, "k", kind), ["k", "town"], measure)

    return build


case(
    "static_join_inner_to_left",
    "inner -> left with a table, before an aggregate",
    enriched("inner"),
    enriched("left"),
    **STATIC,
)
case(
    "static_join_replaced_by_lookup",
    "join with a table -> CASE, before an aggregate",
    enriched("left"),
    lambda p: grouped(
        p.read().selectExpr("*", "CASE k WHEN 'a' THEN 'Ulm' WHEN 'b' THEN 'Bonn' END AS town"),
        ["k", "town"],
        "sum(v) s",
    ),
    files_tell=False,
    **STATIC,
)
