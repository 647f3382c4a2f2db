"""What the optimiser, nullability and the layout of buffers make of innocent changes."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from recorder.case import BOTH_FIRST, BOTH_THEN, FIRST, Batches, Place, at, case
from recorder.shapes import by, grouped, sql, windowed

from definitions.aggregates import NULLS
from definitions.joins import NEAR, PARTNERS, SIDES, joined, left, right
from definitions.windows import TEN

SUM = by("k", "sum(v) s")
# More values of `d` than of `v`.
MANY: Batches = {"src": [[("a", 3, d, at(1)) for d in "pqrst"], FIRST["src"][1]]}
# A key that must not be null, and one that may.
SURE, MAYBE = "coalesce(k, '-') k", "k"


def pre(*columns: str, keys: Any = "k", measures: tuple[str, ...] = ("sum(v) s",)) -> Any:
    return lambda p: grouped(p.read().selectExpr(*columns), keys, *measures)


def frame(change: Any, keys: Any = "k", measure: str = "sum(v) s") -> Any:
    return lambda p: grouped(change(p.read()), keys, measure)


case(
    "edge_literal_key_added",
    "groupBy(k) -> groupBy(k, 'all')",
    SUM,
    by(["k", "'all' g"], "sum(v) s"),
)
case(
    "edge_literal_key_from_global",
    "agg() -> groupBy('all')",
    lambda p: p.read().groupBy().agg(F.expr("sum(v) s")),
    by("'all' g", "sum(v) s"),
)
case("edge_key_repeated", "groupBy(k) -> groupBy(k, k AS kk)", SUM, by(["k", "k kk"], "sum(v) s"))
case(
    "edge_same_measure_twice",
    "sum(v) -> sum(v), sum(v) + 1",
    SUM,
    by("k", "sum(v) s", "sum(v) + 1 t"),
)
case(
    "edge_average_of_same_sum",
    "sum(v), count(v) -> sum(v), count(v), sum(v) / count(v)",
    by("k", "sum(v) s", "count(v) n"),
    by("k", "sum(v) s", "count(v) n", "sum(v) / count(v) a"),
)
case(
    "edge_count_of_sure_column",
    "count(*) -> count(coalesce(v, 0))",
    by("k", "count(*) n"),
    by("k", "count(coalesce(v, 0)) n"),
    **NULLS,
)
case(
    "edge_key_filled_then_not",
    "fillna(k) -> as it is",
    frame(lambda df: df.fillna("-", ["k"])),
    SUM,
)
case(
    "edge_key_of_case_sure",
    "CASE ... ELSE 'other' -> no ELSE",
    by("CASE k WHEN 'a' THEN 'A' ELSE 'other' END g", "sum(v) s"),
    by("CASE k WHEN 'a' THEN 'A' WHEN 'b' THEN 'B' END g", "sum(v) s"),
)
case(
    "edge_key_not_null_filter",
    "where k IS NOT NULL added",
    SUM,
    frame(lambda df: df.where("k IS NOT NULL")),
)
case(
    "edge_key_not_null_filter_removed",
    "where k IS NOT NULL removed",
    frame(lambda df: df.where("k IS NOT NULL")),
    SUM,
)
case("edge_key_filter_equal", "where k = 'a' removed", frame(lambda df: df.where("k = 'a'")), SUM)
case(
    "edge_key_cast_to_integer",
    "groupBy(v) -> groupBy(cast(cast(v as string) as int))",
    by("v", "count(*) n"),
    by("cast(cast(v as string) as int) v", "count(*) n"),
)
case(
    "edge_ansi_changes_nullability",
    "ANSI on -> off, a key that is cast",
    by("cast(length(coalesce(d, '')) as string) g", "sum(v) s"),
    by("cast(length(coalesce(d, '')) as string) g", "sum(v) s"),
    settings={"spark.sql.ansi.enabled": "true"},
    new_settings={"spark.sql.ansi.enabled": "false"},
)
case(
    "edge_list_of_wider_elements",
    "collect_list(v) -> collect_list(cast(v as bigint))",
    by("k", "collect_list(v) s"),
    by("k", "collect_list(cast(v as bigint)) s"),
)
case(
    "edge_list_of_other_column",
    "collect_list(k of d) -> collect_list(v)",
    by("k", "collect_list(d) s"),
    by("k", "collect_list(v) s"),
)
case(
    "edge_first_ignores_nulls",
    "first(v) -> first(v, true)",
    by("k", "first(v) s"),
    by("k", "first(v, true) s"),
    **NULLS,
)
case(
    "edge_average_wider",
    "avg(v) -> avg(cast(v as bigint))",
    by("k", "avg(v) s"),
    by("k", "avg(cast(v as bigint)) s"),
)
case(
    "edge_average_of_decimal",
    "avg(v) -> avg(cast(v as decimal(10,2)))",
    by("k", "avg(v) s"),
    by("k", "avg(cast(v as decimal(10,2))) s"),
)
case(
    "edge_covariance_population",
    "covar_samp -> covar_pop",
    by("k", "covar_samp(v, v * v) s"),
    by("k", "covar_pop(v, v * v) s"),
)
case(
    "edge_covariance_arguments_swapped",
    "covar_samp(v, w) -> covar_samp(w, v)",
    by("k", "covar_samp(v, v * v) s"),
    by("k", "covar_samp(v * v, v) s"),
)
case(
    "edge_factor_out_of_sum",
    "sum(v * 2) -> 2 * sum(v)",
    by("k", "sum(v * 2) s"),
    by("k", "2 * sum(v) s"),
)
case("edge_result_arithmetic", "sum(v) -> sum(v) * 100", SUM, by("k", "sum(v) * 100 s"))
case(
    "edge_percentile_accuracy",
    "percentile_approx accuracy 10000 -> 100",
    by("k", "percentile_approx(v, 0.5, 10000) s"),
    by("k", "percentile_approx(v, 0.5, 100) s"),
)
case(
    "edge_distinct_estimate_other_column",
    "approx_count_distinct(d) -> (v)",
    by("k", "approx_count_distinct(d) n"),
    by("k", "approx_count_distinct(v) n"),
    first=MANY,
)
case(
    "edge_max_of_struct_with_name",
    "max(struct(ts, v)) -> the same, fields renamed",
    by("k", "max(named_struct('t', ts, 'v', v)).v s"),
    by("k", "max(named_struct('at', ts, 'value', v)).value s"),
)
case(
    "edge_max_timestamp_to_ntz",
    "max(ts) -> max(ts as timestamp_ntz)",
    by("k", "max(ts) s"),
    by("k", "max(cast(ts as timestamp_ntz)) s"),
)
case(
    "edge_repartition_before",
    "repartition(5, d) before the aggregate",
    SUM,
    frame(lambda df: df.repartition(5, "d")),
)
case(
    "edge_sample_before",
    "sample before the aggregate",
    SUM,
    frame(lambda df: df.where("v % 2 = 0")),
)
case(
    "edge_observe_added",
    "observe() before the aggregate",
    SUM,
    frame(lambda df: df.observe("seen", F.count(F.lit(1)).alias("n"))),
)
case(
    "edge_explode_to_posexplode",
    "explode(split) -> posexplode, before the aggregate",
    pre("v", "explode(split(concat(k, ',', d), ',')) k"),
    lambda p: grouped(
        p.read().selectExpr("v", "posexplode(split(concat(k, ',', d), ',')) AS (i, k)"),
        "k",
        "sum(v) s",
    ),
)
case(
    "edge_in_static_subquery",
    "WHERE k IN (SELECT of a table) added",
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k"),
    lambda p: (
        p.static().createOrReplaceTempView("towns"),
        sql("SELECT k, sum(v) AS s FROM events WHERE k IN (SELECT k FROM towns) GROUP BY k")(p),
    )[1],
    first={**FIRST, "towns": [[("a", 1, "Ulm", at(0)), ("b", 2, "Bonn", at(0))]]},
)
case(
    "edge_map_value_key",
    "groupBy(k) -> groupBy(map(k, d)[k])",
    by("k", "sum(v) s"),
    by("map('x', k)['x'] k", "sum(v) s"),
)
case(
    "edge_nested_field_key",
    "groupBy(k) -> groupBy(s.k) of a struct",
    by("k", "sum(v) s"),
    pre("named_struct('k', k, 'd', d) t", "v", keys="t.k"),
)
case(
    "edge_json_field_key",
    "groupBy(k) -> groupBy(get_json_object(...))",
    SUM,
    by("get_json_object(concat('{\"k\":\"', k, '\"}'), '$.k') k", "sum(v) s"),
)


def left_not_null(p: Place) -> DataFrame:
    return joined("left")(p).where("rk IS NOT NULL")


case(
    "edge_outer_join_made_inner",
    "left join -> where rk IS NOT NULL behind it",
    joined("left"),
    left_not_null,
    **SIDES,
)
case(
    "edge_filter_after_inner_join",
    "inner join -> where lv > 1 behind it",
    joined(),
    lambda p: joined()(p).where("lv > 1"),
    **PARTNERS,
)
case(
    "edge_filter_after_left_join",
    "left join -> where lv > 1 behind it",
    joined("left"),
    lambda p: joined("left")(p).where("lv > 1"),
    **PARTNERS,
)
case(
    "edge_right_filter_after_join",
    "inner join -> where rv < 50 behind it",
    joined(),
    lambda p: joined()(p).where("rv < 50"),
    **PARTNERS,
)
case(
    "edge_join_computed_after",
    "inner join -> lv + rv behind it",
    joined(),
    lambda p: joined()(p).selectExpr("lk", "lv", "rk", "rv", "lv + rv AS t"),
    **SIDES,
)
case(
    "edge_join_computed_replaces",
    "inner join -> lv + rv alone behind it",
    joined(),
    lambda p: joined()(p).selectExpr("lk", "lv + rv AS t"),
    **SIDES,
)


def three_way(measure: str) -> Any:
    def build(p: Place) -> DataFrame:
        third = (
            p.read("src3")
            .selectExpr("k AS tk", "v AS tv", "ts AS tts")
            .withWatermark("tts", "10 seconds")
        )
        first = left(p).join(right(p), F.expr(NEAR)).select("lk", "lv", "lts", "rv")
        near = F.expr("lk = tk AND tts BETWEEN lts AND lts + interval 20 seconds")
        return first.join(third, near).selectExpr("lk", measure)

    return build


case(
    "edge_three_way_join_result",
    "three streams joined: lv + tv -> lv - tv",
    three_way("lv + tv AS t"),
    three_way("lv - tv AS t"),
    mode="append",
    first={**SIDES["first"], "src3": [[("a", 7, "x", at(13)), ("e", 5, "x", at(15))]]},
    then={**SIDES["then"], "src3": [[("c", 8, "x", at(17)), ("u", 6, "x", at(18))]]},
)
case(
    "edge_window_start_as_key",
    "groupBy(window, k) -> groupBy(window.start, k)",
    windowed(TEN, "k", "sum(v) s"),
    lambda p: grouped(
        p.marked().withColumn("w", F.window("ts", "10 seconds")), ["w.start b", "k"], "sum(v) s"
    ),
)
case(
    "edge_window_of_column",
    "groupBy(window(...)) -> withColumn(window), groupBy",
    windowed(TEN, "k", "sum(v) s"),
    lambda p: grouped(
        p.marked().withColumn("w", F.window("ts", "10 seconds")), ["w", "k"], "sum(v) s"
    ),
    mode="append",
)
case(
    "edge_watermark_on_renamed",
    "withWatermark(ts) -> the same under another name",
    windowed(TEN, "k", "sum(v) s"),
    lambda p: grouped(
        p.read().withColumnRenamed("ts", "t").withWatermark("t", "10 seconds"),
        ["window(t, '10 seconds') w", "k"],
        "sum(v) s",
    ),
    mode="append",
)
case(
    "edge_time_shifted_before_watermark",
    "ts -> ts + 5 seconds",
    windowed(TEN, "k", "sum(v) s"),
    lambda p: grouped(
        p.read()
        .withColumn("ts", F.expr("ts + interval 5 seconds"))
        .withWatermark("ts", "10 seconds"),
        [TEN, "k"],
        "sum(v) s",
    ),
    mode="append",
)
case(
    "edge_dedup_with_watermark_to_without",
    "dropDuplicates(k, ts) with a watermark -> (k)",
    lambda p: p.marked().dropDuplicates(["k", "ts"]).select("k", "v"),
    lambda p: p.marked().dropDuplicates(["k"]).select("k", "v"),
    mode="append",
)
case(
    "edge_dedup_all_columns_added",
    "select(k, d).dropDuplicates() -> select(k, d, v)...",
    lambda p: p.read().select("k", "d").dropDuplicates(),
    lambda p: p.read().select("k", "d", "v").dropDuplicates(),
    mode="append",
)
case(
    "edge_dedup_then_filter",
    "dropDuplicates(k) -> where v > 4 behind it",
    lambda p: p.read().dropDuplicates(["k"]).select("k", "v"),
    lambda p: p.read().dropDuplicates(["k"]).where("v > 4").select("k", "v"),
    mode="append",
)
case(
    "edge_dedup_then_filter_on_key",
    "dropDuplicates(k) -> where k <> 'a' behind it",
    lambda p: p.read().dropDuplicates(["k"]).select("k", "v"),
    lambda p: p.read().dropDuplicates(["k"]).where("k <> 'a'").select("k", "v"),
    mode="append",
)
case(
    "edge_union_distinct_sources_to_same",
    "src union src2 -> src2 union src2",
    lambda p: grouped(p.read().union(p.read("src2")), "k", "sum(v) s"),
    lambda p: grouped(p.read("src2").union(p.read("src2")), "k", "sum(v) s"),
    first=BOTH_FIRST,
    then=BOTH_THEN,
)
