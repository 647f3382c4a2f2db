"""Joins, chains of stateful operators, and unions, in further variations."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from recorder.case import BOTH_FIRST, BOTH_THEN, FIRST, THEN, Place, case
from recorder.shapes import by, grouped

from definitions.joins import NEAR, PARTNERS, SIDES, STATIC, joined, left, right
from definitions.windows import TEN


def on(name: str, change: str, old: str, new: str, kind: str = "inner", **facts: Any) -> None:
    """The condition changes."""
    facts = {**PARTNERS, **facts}
    case(name, change, joined(kind, old), joined(kind, new), **facts)


RANGE = "rts BETWEEN lts AND lts + interval 10 seconds"
on("join_key_removed", "lk = rk, ld = rd -> lk = rk", f"lk = rk AND ld = rd AND {RANGE}", NEAR)
on("join_key_null_safe", "lk = rk -> lk <=> rk", NEAR, f"lk <=> rk AND {RANGE}")
on("join_left_condition_on_left", "left: ... -> ... AND lv > 1", NEAR, f"{NEAR} AND lv > 1", "left")
on(
    "join_range_in_other_unit",
    "10 seconds -> 10000 milliseconds",
    NEAR,
    "lk = rk AND rts BETWEEN lts AND lts + interval 10000 milliseconds",
    "left",
)
on(
    "join_range_strict",
    "BETWEEN -> > and <",
    NEAR,
    "lk = rk AND rts > lts AND rts < lts + interval 10 seconds",
    "left",
)
on(
    "join_range_shifted",
    "[lts, lts + 10 s] -> [lts - 5 s, lts + 10 s]",
    NEAR,
    "lk = rk AND rts BETWEEN lts - interval 5 seconds AND lts + interval 10 seconds",
    "left",
)
on(
    "join_condition_turned",
    "lk = rk -> rk = lk",
    NEAR,
    "rk = lk AND lts <= rts AND lts + interval 10 seconds >= rts",
)
on(
    "join_second_key_of_values",
    "lk = rk, ld = rd -> lk = rk, lv = rv",
    f"lk = rk AND ld = rd AND {RANGE}",
    f"lk = rk AND lv = rv AND {RANGE}",
)
case(
    "join_left_to_anti",
    "left -> left anti",
    joined("left", columns="lk lv"),
    joined("leftanti", columns="lk lv"),
    **SIDES,
)
case("join_full_to_inner", "full -> inner", joined("full"), joined("inner"), **SIDES)
case("join_right_to_full", "right -> full", joined("right"), joined("full"), **SIDES)


def turned(p: Place) -> DataFrame:
    return right(p).join(left(p), F.expr(NEAR), "right").select("lk", "lv", "rk", "rv")


case(
    "join_left_to_right_turned", "L left join R -> R right join L", joined("left"), turned, **SIDES
)


def filled(p: Place) -> DataFrame:
    one = left(p).withColumn("lk", F.expr("coalesce(lk, '-')"))
    return one.join(right(p), F.expr(NEAR)).select("lk", "lv", "rk", "rv")


case("join_key_filled", "lk -> coalesce(lk, '-') before the join", joined(), filled, **SIDES)


def value_filled(p: Place) -> DataFrame:
    one = left(p).withColumn("lv", F.expr("coalesce(lv, 0)"))
    return one.join(right(p), F.expr(NEAR)).select("lk", "lv", "rk", "rv")


case("join_value_filled", "lv -> coalesce(lv, 0) before the join", joined(), value_filled, **SIDES)
case(
    "join_value_filled_no_more",
    "coalesce(lv, 0) -> lv before the join",
    value_filled,
    joined(),
    **SIDES,
)


def of_windows(size: str) -> Any:
    def build(p: Place) -> DataFrame:
        one = left(p).withColumn("lw", F.window("lts", size))
        two = right(p).withColumn("rw", F.window("rts", size))
        return one.join(two, F.expr("lk = rk AND lw = rw")).select("lk", "lv", "rk", "rv")

    return build


case(
    "join_of_windows_size",
    "windows of 10 s -> of 20 s are equal",
    of_windows("10 seconds"),
    of_windows("20 seconds"),
    **PARTNERS,
)
case(
    "join_range_to_windows", "a range -> equal windows", joined(), of_windows("10 seconds"), **SIDES
)


def with_itself(first: str, second: str) -> Any:
    """Join a stream with itself, each side with a filter."""

    def build(p: Place) -> DataFrame:
        names = "k AS {0}k", "v AS {0}v", "ts AS {0}ts"
        sides = [
            p.read()
            .where(rows)
            .selectExpr(*(n.format(s) for n in names))
            .withWatermark(f"{s}ts", "10 seconds")
            for rows, s in ((first, "l"), (second, "r"))
        ]
        near = "lk = rk AND rts BETWEEN lts AND lts + interval 10 seconds"
        return sides[0].join(sides[1], F.expr(near)).select("lk", "lv", "rv")

    return build


case(
    "join_self_filters_exchanged",
    "v > 3 with v <= 3 -> v <= 3 with v > 3",
    with_itself("v > 3", "v <= 3"),
    with_itself("v <= 3", "v > 3"),
    mode="append",
)


def chain(first: Any, second: Any) -> Any:
    def build(p: Place) -> DataFrame:
        third = (
            p.read("src3")
            .selectExpr("k AS tk", "v AS tv", "d AS td", "ts AS tts")
            .withWatermark("tts", "10 seconds")
        )
        sides = {"r": right(p), "t": third}
        out = left(p)
        for s in (first, second):
            near = f"lk = {s}k AND {s}ts BETWEEN lts AND lts + interval 10 seconds"
            out = out.join(sides[s], F.expr(near))
        return out.select("lk", "lv", "rv", "tv")

    return build


case(
    "join_three_reordered",
    "(L join R) join T -> (L join T) join R",
    chain("r", "t"),
    chain("t", "r"),
    mode="append",
    first={**SIDES["first"], "src3": [[("a", 7, "x", "2026-01-01T00:00:13Z")]]},
    then={**SIDES["then"], "src3": [[("c", 8, "x", "2026-01-01T00:00:17Z")]]},
)
case(
    "mode_join_append_to_update",
    "append -> update, inner join",
    joined(),
    joined(),
    **{**SIDES, "new_mode": "update"},
)
case(
    "mode_left_join_append_to_update",
    "append -> update, left join",
    joined("left"),
    joined("left"),
    **{**SIDES, "new_mode": "update"},
)


def join_then_once(key: str) -> Any:
    def build(p: Place) -> DataFrame:
        pair = left(p).join(right(p), F.expr(NEAR)).select("lk", "ld", "rd", "lts")
        return pair.dropDuplicates([key, "lts"])

    return build


case(
    "chain_join_then_dedup_column",
    "join, dropDuplicates(ld, lts) -> (rd, lts)",
    join_then_once("ld"),
    join_then_once("rd"),
    **PARTNERS,
)


def once_then_join(*keys: str) -> Any:
    def build(p: Place) -> DataFrame:
        one = left(p)
        one = one.dropDuplicates([*keys]) if keys else one
        return one.join(right(p), F.expr(NEAR)).select("lk", "lv", "rk", "rv")

    return build


case(
    "chain_dedup_before_join_removed",
    "dropDuplicates(lk, lts), join -> join",
    once_then_join("lk", "lts"),
    once_then_join(),
    **PARTNERS,
)
case(
    "chain_dedup_before_join_column",
    "dropDuplicates(lk, lts) -> (ld, lts), join",
    once_then_join("lk", "lts"),
    once_then_join("ld", "lts"),
    **PARTNERS,
)


def aggregates_joined(one: str, two: str, size: str = "10 seconds") -> Any:
    """Join the windows of two streams."""

    def build(p: Place) -> DataFrame:
        window = f"window(ts, '{size}') w"
        first = grouped(p.marked(), [window, "k"], f"{one} AS s")
        second = grouped(p.marked("src2"), [window, "k"], f"{two} AS t")
        return first.join(second, ["w", "k"]).select("w.start", "k", "s", "t")

    return build


BOTH: Any = {"first": BOTH_FIRST, "then": BOTH_THEN, "mode": "append"}
case(
    "chain_joined_windows_measure",
    "windows joined: min, sum -> max, sum",
    aggregates_joined("min(v)", "sum(v)"),
    aggregates_joined("max(v)", "sum(v)"),
    **BOTH,
)
case(
    "chain_joined_windows_turned",
    "windows joined: sum, max -> max, sum",
    aggregates_joined("min(v)", "max(v)"),
    aggregates_joined("max(v)", "min(v)"),
    **BOTH,
)
case(
    "chain_joined_windows_size",
    "windows joined: 10 s -> 20 s",
    aggregates_joined("min(v)", "max(v)"),
    aggregates_joined("min(v)", "max(v)", "20 seconds"),
    **BOTH,
)


def union_of_aggregates(*folders: str) -> Any:
    def build(p: Place) -> DataFrame:
        one, *rest = [
            grouped(p.marked(name), [TEN, "k"], "sum(v) s", f"'{name}' AS o") for name in folders
        ]
        for other in rest:
            one = one.union(other)
        return one

    return build


case(
    "chain_union_of_windows_swapped",
    "windows of src union windows of src2 -> turned",
    union_of_aggregates("src", "src2"),
    union_of_aggregates("src2", "src"),
    **BOTH,
)
case(
    "chain_union_of_windows_one_removed",
    "windows of src union of src2 -> of src",
    union_of_aggregates("src", "src2"),
    union_of_aggregates("src"),
    **BOTH,
)

THREE: Any = {
    "first": {**BOTH_FIRST, "src3": [[("z", 1, "z", "2026-01-01T00:00:01Z")]]},
    "then": BOTH_THEN,
}


def nested(p: Place) -> DataFrame:
    return grouped(p.read().union(p.read("src2").union(p.read("src3"))), "k", "sum(v) s")


def flat(p: Place) -> DataFrame:
    return grouped(p.read().union(p.read("src2")).union(p.read("src3")), "k", "sum(v) s")


case("union_nested_otherwise", "(a + b) + c -> a + (b + c)", flat, nested, **THREE)
case(
    "union_nested_and_turned",
    "(a + b) + c -> c + (a + b)",
    flat,
    lambda p: grouped(p.read("src3").union(p.read().union(p.read("src2"))), "k", "sum(v) s"),
    **THREE,
)
case(
    "union_columns_turned",
    "src union src2 -> src2 with k and d exchanged",
    lambda p: grouped(p.read().union(p.read("src2")), "k", "sum(v) s"),
    lambda p: grouped(
        p.read().union(p.read("src2").selectExpr("d", "v", "k", "ts")), "k", "sum(v) s"
    ),
    first=BOTH_FIRST,
    then=BOTH_THEN,
)


def enriched(kind: str, column: str = "d", hint: str = "") -> Any:
    def build(p: Place) -> DataFrame:
        towns = p.static().selectExpr("k", f"{column} AS town")
        towns = towns.hint(hint) if hint else towns
        return grouped(p.read().join(towns, "k", kind), ["k", "town"], "sum(v) s")

    return build


case(
    "static_join_hint",
    "join with a table -> broadcast hint",
    enriched("left"),
    enriched("left", hint="broadcast"),
    **STATIC,
)
case(
    "static_join_other_column",
    "key: the table's d -> its v as text",
    enriched("left"),
    enriched("left", "cast(v as string)"),
    **STATIC,
)


def known(kind: str) -> Any:
    return lambda p: grouped(p.read().join(p.static().select("k"), "k", kind), "k", "sum(v) s")


case(
    "static_join_semi_to_anti",
    "left semi -> left anti with a table, then sum",
    known("leftsemi"),
    known("leftanti"),
    **STATIC,
)
case(
    "static_join_to_right_side",
    "stream left join table -> table right join stream",
    enriched("left"),
    lambda p: grouped(
        p.static().selectExpr("k", "d AS town").join(p.read(), "k", "right"),
        ["k", "town"],
        "sum(v) s",
    ),
    **STATIC,
)
case(
    "static_join_full_refused",
    "left -> full with a table",
    enriched("left"),
    enriched("full"),
    **STATIC,
)
case(
    "sl_to_stream_join",
    "stateless -> joined with another stream",
    lambda p: left(p).select("lk", "lv"),
    joined(columns="lk lv"),
    **SIDES,
)
case(
    "sl_to_dedup",
    "stateless -> dropDuplicates(k)",
    lambda p: p.read().select("k", "v"),
    lambda p: p.read().select("k", "v").dropDuplicates(["k"]),
    mode="append",
    first=FIRST,
    then=THEN,
)
case(
    "sl_to_limit",
    "stateless -> limit 4",
    lambda p: p.read().select("k", "v"),
    lambda p: p.read().select("k", "v").limit(4),
    mode="append",
)
case(
    "sl_filter_and_column",
    "select(k, v) -> where v > 2, select(k, v * 2)",
    lambda p: p.read().select("k", "v"),
    lambda p: p.read().where("v > 2").selectExpr("k", "v * 2 AS v"),
    mode="append",
)
case(
    "chain_aggregate_then_dedup",
    "aggregate -> dropDuplicates, then aggregate",
    by("k", "sum(v) s"),
    lambda p: grouped(p.read().dropDuplicates(["k", "v"]), "k", "sum(v) s"),
)
