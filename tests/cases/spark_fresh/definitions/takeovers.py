"""What takes a stored value or a key over: conditions, tables, marks of time, texts, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from recorder.case import (
    BOTH_FIRST,
    BOTH_THEN,
    FIRST,
    SIDES_FIRST,
    SIDES_THEN,
    THEN,
    Batches,
    Place,
    at,
    case,
)
from recorder.shapes import by, grouped

from definitions.joins import NEAR, joined
from definitions.measures import key, measure
from definitions.settings import STREAMING, setting
from definitions.sources import NAMED, named

NULLS: Any = {
    "first": {"src": [[*FIRST["src"][0], (None, 5, None, at(5))], FIRST["src"][1]]},
    "then": {"src": [[*THEN["src"][0], (None, 2, "x", at(19)), ("q", 1, None, at(20))]]},
}


# Several measures of one function, told apart by their condition.
def measures(name: str, change: str, old: Sequence[str], new: Sequence[str], **facts: Any) -> None:
    """Several measures change; each gets a name by its place."""
    builds = [by("k", *(f"{m} m{i}" for i, m in enumerate(side))) for side in (old, new)]
    case(name, change, *builds, **facts)


def swapped(name: str, *old: str) -> None:
    """The measures stand in another order."""
    measures(name, " | ".join(old) + ", turned", old, [*old[1:], old[0]])


swapped("agg_count_if_swapped", "count_if(v > 4)", "count_if(d = 'x')")
swapped(
    "agg_filtered_counts_swapped", "count(*) FILTER (WHERE v > 4)", "count(*) FILTER (WHERE v <= 4)"
)
swapped(
    "agg_filtered_sums_swapped",
    "sum(v) FILTER (WHERE d = 'x')",
    "sum(v) FILTER (WHERE d = 'y')",
)
swapped(
    "agg_case_sums_turned",
    "sum(CASE WHEN v > 8 THEN v END)",
    "sum(CASE WHEN v > 3 THEN v END)",
    "sum(CASE WHEN v > 0 THEN v END)",
)
swapped(
    "agg_filtered_lists_swapped",
    "collect_list(v) FILTER (WHERE d = 'x')",
    "collect_list(v) FILTER (WHERE d = 'y')",
)
measures(
    "agg_conditions_moved_up",
    "the first of three counts goes, another one comes last",
    ["count_if(v > 8)", "count_if(v > 3)", "count_if(d = 'x')"],
    ["count_if(v > 3)", "count_if(d = 'x')", "count_if(v > 0)"],
)
measures(
    "agg_conditions_both_wider",
    "both counts get another limit",
    ["count_if(v > 8)", "count_if(v <= 3)"],
    ["count_if(v > 7)", "count_if(v <= 4)"],
)
measures(
    "agg_condition_made_as_the_other",
    "the first count gets the condition that the second has, too",
    ["count_if(v > 8)", "count_if(v > 3)"],
    ["count_if(v > 3)", "count_if(v > 3) + 1"],
)

# A key that comes from a table on disk.
TABLES: Any = {
    "first": {
        **FIRST,
        "towns": [[("a", 1, "Ulm", at(0)), ("b", 2, "Bonn", at(0)), ("s", 3, "Ulm", at(0))]],
        "areas": [[("a", 7, "Süd", at(0)), ("b", 8, "West", at(0)), ("s", 9, "West", at(0))]],
    },
    "then": THEN,
}


def from_table(table: str, column: str = "d", how: str = "inner") -> Any:
    """Group by a column of a table."""

    def build(p: Place) -> DataFrame:
        lookup = p.static(table).selectExpr("k", f"{column} AS label")
        return grouped(p.read().join(lookup, "k", how), "label", "sum(v) s")

    return build


def from_two_tables(first: str, second: str) -> Any:
    """Group by the columns of two tables, in this order."""

    def build(p: Place) -> DataFrame:
        df = p.read()
        for place, table in enumerate((first, second)):
            df = df.join(p.static(table).selectExpr("k", f"d AS label{place}"), "k")
        return grouped(df, ["label0", "label1"], "sum(v) s")

    return build


def from_one_of(kept: str) -> Any:
    """Join both tables, and group by a column of the one."""

    def build(p: Place) -> DataFrame:
        df = p.read()
        for table in ("towns", "areas"):
            df = df.join(p.static(table).selectExpr("k", f"d AS {table}"), "k")
        return grouped(df, kept, "sum(v) s")

    return build


case(
    "static_key_of_other_table",
    "key from towns -> from areas",
    from_table("towns"),
    from_table("areas"),
    **TABLES,
)
case(
    "static_key_of_other_table_left",
    "key from towns -> from areas, left join",
    from_table("towns", "v", "left"),
    from_table("areas", "v", "left"),
    **TABLES,
)
case(
    "static_keys_of_two_tables_swapped",
    "keys from towns and areas -> areas and towns",
    from_two_tables("towns", "areas"),
    from_two_tables("areas", "towns"),
    **TABLES,
)
case(
    "static_key_of_joined_neighbour",
    "both joined: key from towns -> from areas",
    from_one_of("towns"),
    from_one_of("areas"),
    **TABLES,
)
case(
    "static_table_path_only",
    "table joined before the aggregate: towns -> areas, no key from it",
    lambda p: grouped(p.read().join(p.static("towns").selectExpr("k"), "k"), "k", "sum(v) s"),
    lambda p: grouped(p.read().join(p.static("areas").selectExpr("k"), "k"), "k", "sum(v) s"),
    **TABLES,
)

# The watermark before or after what is made of the event time.
LATE: Any = {
    "first": {"src": [*FIRST["src"], [("a", 4, "x", at(40))], [("b", 1, "x", at(41))]]},
    "then": {"src": [[("a", 5, "x", at(2)), ("b", 6, "y", at(42)), ("n", 8, "x", at(75))]]},
}


def marked_first(*keys: str, delay: str = "5 seconds") -> Any:
    """The watermark, then a column made of the event time, then the aggregate."""
    return lambda p: grouped(
        p.read().withWatermark("ts", delay).selectExpr("*", *keys),
        [k.split()[-1] for k in keys],
        "sum(v) s",
    )


def marked_after(*keys: str, delay: str = "5 seconds") -> Any:
    """The same, but the watermark is declared last."""
    return lambda p: grouped(
        p.read().selectExpr("*", *keys).withWatermark("ts", delay),
        [k.split()[-1] for k in keys],
        "sum(v) s",
    )


WINDOW = "window(ts, '10 seconds') w"
case(
    "wm_after_window",
    "watermark, window -> window, watermark",
    marked_first(WINDOW),
    marked_after(WINDOW),
    **LATE,
)
case(
    "wm_after_window_append",
    "watermark, window -> window, watermark, append",
    marked_first(WINDOW),
    marked_after(WINDOW),
    mode="append",
    **LATE,
)
case(
    "wm_after_copied_time",
    "watermark, copy of ts, window over the copy -> copy, watermark, window",
    lambda p: grouped(
        p.read().withWatermark("ts", "5 seconds").selectExpr("*", "ts AS moment"),
        ["window(moment, '10 seconds') w", "k"],
        "sum(v) s",
    ),
    lambda p: grouped(
        p.read().selectExpr("*", "ts AS moment").withWatermark("ts", "5 seconds"),
        ["window(moment, '10 seconds') w", "k"],
        "sum(v) s",
    ),
    **LATE,
)
case(
    "wm_after_copied_time_append",
    "the same in append mode",
    lambda p: grouped(
        p.read().withWatermark("ts", "5 seconds").selectExpr("*", "ts AS moment"),
        ["window(moment, '10 seconds') w", "k"],
        "sum(v) s",
    ),
    lambda p: grouped(
        p.read().selectExpr("*", "ts AS moment").withWatermark("ts", "5 seconds"),
        ["window(moment, '10 seconds') w", "k"],
        "sum(v) s",
    ),
    mode="append",
    **LATE,
)
case(
    "wm_before_window_again",
    "window, watermark -> watermark, window",
    marked_after(WINDOW),
    marked_first(WINDOW),
    **LATE,
)
case(
    "wm_after_window_in_frame",
    "watermark, then the window in groupBy -> column window, watermark on ts",
    lambda p: grouped(p.read().withWatermark("ts", "5 seconds"), [WINDOW, "k"], "sum(v) s"),
    lambda p: grouped(
        p.read().selectExpr("*", WINDOW).withWatermark("ts", "5 seconds"), ["w", "k"], "sum(v) s"
    ),
    **LATE,
)
case(
    "wm_dedup_after_copied_time",
    "dropDuplicates(k, moment): watermark, copy -> copy, watermark",
    lambda p: (
        p.read()
        .withWatermark("ts", "5 seconds")
        .selectExpr("k", "v", "ts AS moment")
        .dropDuplicates(["k", "moment"])
    ),
    lambda p: (
        p.read()
        .selectExpr("k", "v", "ts AS moment", "ts")
        .withWatermark("ts", "5 seconds")
        .select("k", "v", "moment")
        .dropDuplicates(["k", "moment"])
    ),
    mode="append",
    first={"src": [[("a", 3, "x", at(1)), ("b", 2, "x", at(30))], [("b", 1, "x", at(31))]]},
    then={
        "src": [
            [("a", 3, "x", at(1)), ("b", 4, "x", at(32))],
            [("a", 3, "x", at(1)), ("c", 5, "y", at(33))],
        ]
    },
)

# Another function that has stored the same.
measure("agg_flags_to_count_if", "sum(CASE WHEN v > 4 THEN 1 ELSE 0 END)", "count_if(v > 4)")
measure("agg_ones_to_count", "sum(1)", "count(*)")
measure("agg_long_ones_to_count", "sum(1L)", "count(1)")
measure(
    "agg_if_flags_to_filtered_count", "sum(if(d = 'x', 1, 0))", "count(*) FILTER (WHERE d = 'x')"
)
measure("agg_cast_flags_to_count_if", "sum(cast(v > 4 AS int))", "count_if(v > 4)")
measure(
    "agg_flags_or_null_to_count_case",
    "sum(CASE WHEN d = 'x' THEN 1 END)",
    "count(CASE WHEN d = 'x' THEN v END)",
)
measure("agg_known_flags_to_count_column", "sum(if(d IS NOT NULL, 1, 0))", "count(d)", **NULLS)
measure("agg_filtered_ones_to_count_if", "sum(1) FILTER (WHERE v > 4)", "count_if(v > 4)")
measure("agg_flags_to_other_count_if", "sum(CASE WHEN v > 4 THEN 1 ELSE 0 END)", "count_if(v > 2)")
measure("agg_twos_to_count", "sum(2)", "count(*)")
measure("agg_flags_to_count", "sum(CASE WHEN v > 4 THEN 1 ELSE 0 END)", "count(v)")

# Two functions, one text (or number).
key("key_day_as_text", "date_format(ts, 'yyyy-MM-dd')", "cast(to_date(ts) as string)")
key(
    "key_day_from_text_of_time",
    "date_format(ts, 'yyyy-MM-dd')",
    "substring(cast(ts as string), 1, 10)",
)
key("key_left_for_substring", "substring(d, 1, 1)", "left(d, 1)")
key("key_first_part", "split(k, '-')[0]", "substring_index(k, '-', 1)")
key("key_replaced_by_translate", "replace(k, 'a', 'b')", "translate(k, 'a', 'b')")
key("key_replaced_by_pattern", "regexp_replace(k, 'a', 'z')", "replace(k, 'a', 'z')")
key("key_joined_with_separator", "concat(k, '-', d)", "concat_ws('-', k, d)")
key("key_joined_with_separator_back", "concat_ws('-', k, d)", "concat(k, '-', d)")
key("key_if_for_case", "if(v > 4, 'big', 'small')", "CASE WHEN v > 4 THEN 'big' ELSE 'small' END")
key("key_year_of_date_format", "cast(year(ts) as string)", "date_format(ts, 'yyyy')")
key("key_text_of_number", "cast(v as string)", "format_string('%d', v)")
key(
    "key_text_of_unix_time",
    "from_unixtime(unix_timestamp(ts), 'yyyy-MM-dd HH')",
    "date_format(ts, 'yyyy-MM-dd HH')",
)
key("key_trimmed_twice", "trim(d)", "ltrim(rtrim(d))")
key(
    "key_hour_cut",
    "date_format(date_trunc('HOUR', ts), 'yyyy-MM-dd HH')",
    "date_format(ts, 'yyyy-MM-dd HH')",
)
key("key_other_text", "upper(concat(d, 'y'))", "initcap(concat(d, 'y'))")
key("key_reversed", "concat(k, d)", "concat(d, k)")

# A named source comes or goes before an aggregate.
THREE: Batches = {**BOTH_FIRST, "src3": [[("z", 1, "z", at(1)), ("a", 100, "z", at(2))]]}
TWO_AND_THREE: Any = {"first": THREE, "then": BOTH_THEN, "settings": NAMED}
case(
    "evo_named_union_added",
    "a, b -> a, b, c (log v2)",
    named(("src", "a"), ("src2", "b")),
    named(("src", "a"), ("src2", "b"), ("src3", "c")),
    **TWO_AND_THREE,
)
case(
    "evo_named_union_added_first",
    "a -> b, a (log v2)",
    named(("src", "a")),
    named(("src2", "b"), ("src", "a")),
    first=BOTH_FIRST,
    then=BOTH_THEN,
    settings=NAMED,
)
case(
    "evo_named_union_removed",
    "a, b -> a (log v2)",
    named(("src", "a"), ("src2", "b")),
    named(("src", "a")),
    first=BOTH_FIRST,
    then=BOTH_THEN,
    settings=NAMED,
)
case(
    "evo_named_union_first_removed",
    "a, b, c -> b, c (log v2)",
    named(("src", "a"), ("src2", "b"), ("src3", "c")),
    named(("src2", "b"), ("src3", "c")),
    **TWO_AND_THREE,
)

# Texts and numbers that are never null, whatever they are made of.
key("key_known_text_to_column", "concat_ws('-', k, d)", "k")
key("key_known_text_to_other", "concat_ws('-', k, d)", "concat_ws('+', k, d)")
key("key_column_to_known_text", "d", "concat_ws('-', d)")
key("key_known_format_to_known_text", "format_string('%s', d)", "concat_ws('', d)")
key("key_known_hash_to_other", "xxhash64(k)", "xxhash64(d)")
key("key_known_hash_to_column", "hash(k)", "v")
key("key_known_case_to_upper", "CASE WHEN v > 4 THEN 'x' ELSE 'y' END", "upper(d)")
key("key_known_typeof_to_column", "typeof(v)", "d")
key("key_filled_to_known_text", "coalesce(d, '')", "concat_ws('', d)", **NULLS)

# Settings that make a column nullable, or not.
ANSI = "spark.sql.ansi.enabled"
SIZED = by("size(split(d, ',')) g", "sum(v) s")
setting("conf_ansi_on_size_key", ANSI, "false", "true", SIZED)
setting("conf_ansi_off_size_key", ANSI, "true", "false", SIZED)
setting(
    "conf_size_of_null_key",
    "spark.sql.legacy.sizeOfNull",
    "true",
    "false",
    SIZED,
    also={ANSI: "false"},
)
setting("conf_size_of_null_key_in_ansi", "spark.sql.legacy.sizeOfNull", "true", "false", SIZED)
setting(
    "conf_ansi_off_element_key",
    ANSI,
    "true",
    "false",
    by("array('p', 'q')[length(k) - 1] g", "sum(v) s"),
)
setting(
    "conf_ansi_off_cast_key",
    ANSI,
    "true",
    "false",
    by("cast(coalesce(d, '1') || '1' = 'x1' AS int) g", "sum(v) s"),
)
setting(
    "conf_ansi_off_text_to_number_key",
    ANSI,
    "true",
    "false",
    by("cast(concat_ws('', 'v', length(k)) = 'v1' AS string) g", "sum(v) s"),
)
setting(
    "conf_ansi_off_number_key",
    ANSI,
    "true",
    "false",
    by("cast(concat_ws('', '1') AS int) g", "sum(v) s"),
)
setting(
    "conf_ansi_on_number_key",
    ANSI,
    "false",
    "true",
    by("cast(concat_ws('', '1') AS int) g", "sum(v) s"),
)
setting("conf_ansi_on_key_of_column", ANSI, "false", "true", by("k", "sum(v) s"))

# Neither the schema check nor the check of the rows' format.
UNCHECKED = {
    STREAMING + "stateStore.stateSchemaCheck": "false",
    STREAMING + "stateStore.formatValidation.enabled": "false",
}
case(
    "conf_unchecked_measure_added",
    "sum -> sum, count; both checks off",
    by("k", "sum(v) s"),
    by("k", "sum(v) s", "count(*) n"),
    new_settings=UNCHECKED,
)
case(
    "conf_unchecked_measure_removed",
    "count, sum -> sum; both checks off",
    by("k", "count(*) n", "sum(v) s"),
    by("k", "sum(v) s"),
    new_settings=UNCHECKED,
)
case(
    "conf_unchecked_key_added",
    "k -> k, d; both checks off",
    by("k", "sum(v) s"),
    by(["k", "d"], "sum(v) s"),
    new_settings=UNCHECKED,
)
case(
    "conf_unchecked_key_removed",
    "k, d -> k; both checks off",
    by(["k", "d"], "sum(v) s"),
    by("k", "sum(v) s"),
    new_settings=UNCHECKED,
)
case(
    "conf_unchecked_dedup_column_added",
    "dropDuplicates(k) -> (k, d); both checks off",
    lambda p: p.read().dropDuplicates(["k"]),
    lambda p: p.read().dropDuplicates(["k", "d"]),
    mode="append",
    new_settings=UNCHECKED,
)
case(
    "conf_unformatted_measure_added",
    "sum -> sum, count; only the format check off",
    by("k", "sum(v) s"),
    by("k", "sum(v) s", "count(*) n"),
    new_settings={STREAMING + "stateStore.formatValidation.enabled": "false"},
)

# Decimals that become wider.
measure("agg_small_decimal_wider", "sum(cast(v as decimal(10,2)))", "sum(cast(v as decimal(12,2)))")
measure(
    "agg_small_decimal_wider_within_long",
    "sum(cast(v as decimal(4,2)))",
    "sum(cast(v as decimal(6,2)))",
)
measure(
    "agg_decimal_rounded",
    "sum(cast(v as decimal(10,2)))",
    "sum(round(cast(v as decimal(10,2)), 1))",
)
measure(
    "agg_decimal_filled",
    "sum(cast(v as decimal(10,2)))",
    "sum(coalesce(cast(v as decimal(10,2)), 0))",
)
measure("agg_decimal_halved", "sum(cast(v as decimal(10,2)))", "sum(cast(v as decimal(10,2)) * 2)")
measure(
    "agg_decimal_average_wider", "avg(cast(v as decimal(10,2)))", "avg(cast(v as decimal(14,2)))"
)
measure("agg_decimal_negated", "sum(cast(v as decimal(10,2)))", "sum(-cast(v as decimal(10,2)))")

# Fields are cut from what Spark prints.
CUT: Any = {"settings": {"spark.sql.debug.maxToStringFields": "3"}}
WIDE = ["sum(v) a", "count(*) b", "max(v) c", "min(v) e", "max(d) f"]
case(
    "cut_filter_added",
    "five measures, filter added; fields cut from plans",
    by("k", *WIDE),
    lambda p: grouped(p.read().where("v > 2"), "k", *WIDE),
    **CUT,
)
case(
    "cut_measures_swapped",
    "max and min swapped; fields cut from plans",
    by("k", *WIDE),
    by("k", "sum(v) a", "count(*) b", "min(v) c", "max(v) e", "max(d) f"),
    then={"src": [[("a", 3, "x", at(16)), ("s", 5, "q", at(17))]]},
    **CUT,
)
case(
    "cut_measure_added",
    "a sixth measure; fields cut from plans",
    by("k", *WIDE),
    by("k", *WIDE, "max(ts) g"),
    **CUT,
)
case(
    "cut_key_changed",
    "key k -> d; fields cut from plans",
    by(["k", "length(d) l", "v % 2 o", "v % 3 p"], *WIDE),
    by(["d", "length(d) l", "v % 2 o", "v % 3 p"], *WIDE),
    **CUT,
)

# What surprised.
case(
    "null_filter_leaves_key_nullable",
    "coalesce(k, '') -> k where k is not null",
    by("coalesce(k, '') g", "sum(v) s"),
    lambda p: grouped(p.read().where("k IS NOT NULL"), "k AS g", "sum(v) s"),
)
case(
    "join_null_safe",
    "lk = rk -> lk <=> rk",
    joined("left"),
    joined("left", on=NEAR.replace("lk = rk", "lk <=> rk")),
    first=SIDES_FIRST,
    then=SIDES_THEN,
    mode="append",
)
case(
    "join_null_safe_back",
    "lk <=> rk -> lk = rk",
    joined("left", on=NEAR.replace("lk = rk", "lk <=> rk")),
    joined("left"),
    first=SIDES_FIRST,
    then=SIDES_THEN,
    mode="append",
)
case(
    "null_fill_by_dictionary",
    "na.fill('none', subset) -> na.fill({'d': 'none'}, subset k)",
    lambda p: grouped(p.read().na.fill("none", subset=["k"]), ["k", "d"], "sum(v) s"),
    lambda p: grouped(p.read().na.fill({"d": "none"}, subset=["k"]), ["k", "d"], "sum(v) s"),
    **NULLS,
)
case(
    "null_fill_added",
    "no fill -> na.fill({'d': 'none'})",
    by(["k", "d"], "sum(v) s"),
    lambda p: grouped(p.read().na.fill({"d": "none"}), ["k", "d"], "sum(v) s"),
    **NULLS,
)


# Limits.
def limited(rows: int) -> Any:
    """The first rows."""
    return lambda p: p.read().select("k", "v").limit(rows)


case("limit_larger", "limit(4) -> limit(9)", limited(4), limited(9), mode="append")
case("limit_smaller", "limit(9) -> limit(4)", limited(9), limited(4), mode="append")
case("limit_larger_not_reached", "limit(9) -> limit(12)", limited(9), limited(12), mode="append")
case(
    "limit_larger_before_aggregate",
    "limit(4) -> limit(10), before an aggregate in complete mode",
    lambda p: grouped(p.read().limit(4), "k", "sum(v) s"),
    lambda p: grouped(p.read().limit(10), "k", "sum(v) s"),
    mode="complete",
)
case(
    "limit_after_aggregate_larger",
    "limit(2) -> limit(4) after an aggregate, complete mode",
    lambda p: grouped(p.read(), "k", "sum(v) s").orderBy("k").limit(2),
    lambda p: grouped(p.read(), "k", "sum(v) s").orderBy("k").limit(4),
    mode="complete",
)
