"""Aggregations without windows."""

from __future__ import annotations

from recorder.case import FIRST, THEN, Batches, at, case
from recorder.shapes import by, grouped, sql

NULLS_FIRST: Batches = {"src": [[*FIRST["src"][0], ("a", None, "x", at(5))], FIRST["src"][1]]}
NULLS_THEN: Batches = {"src": [[*THEN["src"][0], ("c", None, "x", at(19))], THEN["src"][1]]}
TWICE: Batches = {"src": [[*FIRST["src"][0], ("a", 3, "y", at(5))], FIRST["src"][1]]}
NULLS = {"first": NULLS_FIRST, "then": NULLS_THEN}

case(
    "agg_stddev_to_variance",
    "stddev(v) -> var_samp(v)",
    by("k", "stddev(v) s"),
    by("k", "var_samp(v) s"),
)
case(
    "agg_first_to_last",
    "first(v) -> last(v), complete mode",
    by("k", "first(v) s"),
    by("k", "last(v) s"),
    mode="complete",
)
case(
    "agg_drop_one_of_three",
    "count, sum, max -> count, max",
    by("k", "count(*) n", "sum(v) s", "max(v) m"),
    by("k", "count(*) n", "max(v) m"),
)
case(
    "agg_max_by_to_min_by",
    "max_by(v, ts) -> min_by(v, ts)",
    by("k", "max_by(v, ts) s"),
    by("k", "min_by(v, ts) s"),
)
case(
    "agg_set_to_list",
    "collect_set(v) -> collect_list(v)",
    by("k", "sort_array(collect_set(v)) s"),
    by("k", "sort_array(collect_list(v)) s"),
    first=TWICE,
)
case(
    "agg_distinct_count_precision",
    "approx_count_distinct(d, 0.05) -> (d, 0.1)",
    by("k", "approx_count_distinct(d, 0.05) s"),
    by("k", "approx_count_distinct(d, 0.1) s"),
)
case(
    "agg_swap_two_sums",
    "sum(v), sum(length(d)) -> sum(length(d)), sum(v)",
    by("k", "sum(v) s", "sum(length(d)) l"),
    by("k", "sum(length(d)) l", "sum(v) s"),
)
case(
    "agg_decimal_scale",
    "sum(decimal(10,2)) -> sum(decimal(10,4))",
    by("k", "sum(cast(v as decimal(10,2))) s"),
    by("k", "sum(cast(v as decimal(10,4))) s"),
)
case(
    "agg_struct_key_fields_swapped",
    "groupBy(struct(k, d)) -> groupBy(struct(d, k))",
    by("named_struct('a', k, 'b', d) g", "sum(v) s"),
    by("named_struct('a', d, 'b', k) g", "sum(v) s"),
)
case(
    "agg_struct_key_field_added",
    "groupBy(struct(k)) -> groupBy(struct(k, d))",
    by("named_struct('a', k) g", "sum(v) s"),
    by("named_struct('a', k, 'b', d) g", "sum(v) s"),
)
case(
    "agg_array_key_to_string",
    "groupBy(array(k, d)) -> groupBy(concat(k, d))",
    by("array(k, d) g", "sum(v) s"),
    by("concat(k, d) g", "sum(v) s"),
)
case(
    "agg_percentile_other_rank",
    "percentile_approx(v, 0.5) -> percentile_approx(v, 0.9)",
    by("k", "percentile_approx(v, 0.5) s"),
    by("k", "percentile_approx(v, 0.9) s"),
)
case(
    "agg_sum_of_wider_integer",
    "sum(v) -> sum(cast(v as bigint))",
    by("k", "sum(v) s"),
    by("k", "sum(cast(v as bigint)) s"),
)
case(
    "agg_count_column_to_rows",
    "count(v) -> count(*), v may be null",
    by("k", "count(v) n"),
    by("k", "count(*) n"),
    **NULLS,
)
case(
    "agg_filter_clause_added",
    "sum(v) -> sum(v) FILTER (WHERE v > 2)",
    by("k", "sum(v) s"),
    by("k", "sum(v) FILTER (WHERE v > 2) s"),
)
case(
    "agg_having_on_new_measure",
    "GROUP BY k -> ... HAVING count(*) > 1",
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k"),
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k HAVING count(*) > 1"),
)
case(
    "agg_having_on_old_measure",
    "GROUP BY k -> ... HAVING sum(v) > 2",
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k"),
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k HAVING sum(v) > 2"),
)
case(
    "agg_all_to_any",
    "bool_and(v > 4) -> bool_or(v > 4)",
    by("k", "bool_and(v > 4) s"),
    by("k", "bool_or(v > 4) s"),
    mode="complete",
)
case(
    "agg_max_struct_fields_swapped",
    "max(struct(ts, v)) -> max(struct(v, ts))",
    by("k", "max(struct(ts, v)).v s"),
    by("k", "max(struct(v, ts)).v s"),
)
case(
    "agg_group_to_rollup",
    "groupBy(k, d) -> rollup(k, d)",
    by(["k", "d"], "sum(v) s"),
    lambda p: p.read().rollup("k", "d").agg({"v": "sum"}),
)
case(
    "agg_distinct_to_sql",
    "distinct() -> SELECT DISTINCT",
    lambda p: p.read().select("k", "d").distinct(),
    sql("SELECT DISTINCT k, d FROM events"),
)
case(
    "agg_sql_distinct_columns_swapped",
    "SELECT DISTINCT k, d -> SELECT DISTINCT d, k",
    sql("SELECT DISTINCT k, d FROM events"),
    sql("SELECT DISTINCT d, k FROM events"),
)
case(
    "agg_result_pruned_away",
    "select(k, n, s) -> select(k, n) after the aggregate",
    lambda p: grouped(p.read(), "k", "count(*) n", "sum(v) s").select("k", "n", "s"),
    lambda p: grouped(p.read(), "k", "count(*) n", "sum(v) s").select("k", "n"),
)
case(
    "agg_key_in_upper_case",
    "groupBy(k) -> groupBy(upper(k))",
    by("k", "sum(v) s"),
    by("upper(k) k", "sum(v) s"),
)
case(
    "agg_global_min_to_max",
    "min(v) -> max(v), no keys",
    lambda p: p.read().selectExpr("v").groupBy().agg({"v": "min"}).selectExpr("`min(v)` m"),
    lambda p: p.read().selectExpr("v").groupBy().agg({"v": "max"}).selectExpr("`max(v)` m"),
)
case(
    "agg_sum_to_try_sum",
    "sum(v) -> try_sum(v)",
    by("k", "sum(v) s"),
    by("k", "try_sum(v) s"),
)
case(
    "agg_skewness_to_kurtosis",
    "skewness(v) -> kurtosis(v)",
    by("k", "skewness(v) s"),
    by("k", "kurtosis(v) s"),
)
case(
    "agg_bits_and_to_or",
    "bit_and(v) -> bit_or(v)",
    by("k", "bit_and(v) s"),
    by("k", "bit_or(v) s"),
)
case(
    "agg_measure_renamed_in_cte",
    "GROUP BY -> the same in a CTE, renamed",
    sql("SELECT k, sum(v) AS s, count(*) AS n FROM events GROUP BY k"),
    sql(
        "WITH t AS (SELECT k AS kk, sum(v) AS total, count(1) AS n FROM events GROUP BY k)"
        " SELECT kk, total, n FROM t WHERE total IS NOT NULL"
    ),
)
