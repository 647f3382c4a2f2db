"""Aggregates whose buffers are opaque, shared, or of other types; keys that are computed."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from recorder.case import Place, Version, case
from recorder.shapes import by, grouped, sql


def measure(name: str, old: str, new: str, keys: Any = "k", **facts: Any) -> None:
    """One measure changes."""
    case(name, f"{old} -> {new}", by(keys, f"{old} s"), by(keys, f"{new} s"), **facts)


def key(name: str, old: str, new: str, **facts: Any) -> None:
    """One key changes."""
    case(
        name,
        f"groupBy({old}) -> groupBy({new})",
        by(f"{old} g", "sum(v) s"),
        by(f"{new} g", "sum(v) s"),
        **facts,
    )


def statement(name: str, change: str, old: str, new: str, **facts: Any) -> None:
    """A statement over the view `events` changes."""
    case(name, change, sql(old), sql(new), **facts)


measure("agg_percentile_to_median", "percentile(v, 0.5)", "median(v)")
measure("agg_median_to_estimate", "median(v)", "cast(percentile_approx(v, 0.5) as double)")
measure("agg_mode_to_percentile", "cast(mode(v) as double)", "percentile(v, 0.5)")
measure("agg_text_list_to_list", "listagg(d, ',')", "array_join(collect_list(d), ',')")
measure("agg_histogram_bins", "histogram_numeric(v, 5)", "histogram_numeric(v, 2)")
measure(
    "agg_list_of_pairs_turned", "collect_list(struct(ts, v)).v", "collect_list(struct(v, ts)).v"
)
measure(
    "agg_sketch_precision",
    "hll_sketch_estimate(hll_sketch_agg(d, 12))",
    "hll_sketch_estimate(hll_sketch_agg(d, 10))",
)
measure(
    "agg_sketch_to_estimate", "hll_sketch_estimate(hll_sketch_agg(d))", "approx_count_distinct(d)"
)
measure("agg_count_if_to_sum", "count_if(v > 4)", "sum(CASE WHEN v > 4 THEN 1 ELSE 0 END)")
measure("agg_count_if_other_limit", "count_if(v > 4)", "count_if(v > 2)")
measure("agg_any_value_to_first", "any_value(v)", "first(v)", mode="complete")
measure("agg_any_value_to_max", "any_value(v)", "max(v)")
measure("agg_slope_to_intercept", "regr_slope(v, v * v)", "regr_intercept(v, v * v)")
measure("agg_correlation_turned", "corr(v, length(d) + v * v)", "corr(length(d) + v * v, v)")
measure("agg_average_to_try", "avg(v)", "try_avg(v)")
measure("agg_extreme_to_any", "max(v > 4)", "bool_or(v > 4)")
measure("agg_max_by_to_max_struct", "max_by(v, ts)", "max(struct(ts, v)).v")
measure("agg_max_by_other_order", "max_by(v, d)", "max_by(v, k || d)", keys="length(k) g")
measure(
    "agg_sum_of_wider_decimal", "sum(cast(v as decimal(10,2)))", "sum(cast(v as decimal(20,2)))"
)
measure(
    "agg_decimal_sum_to_average", "sum(cast(v as decimal(10,2)))", "avg(cast(v as decimal(10,2)))"
)
measure("agg_filter_to_case", "sum(v) FILTER (WHERE d = 'x')", "sum(CASE WHEN d = 'x' THEN v END)")
measure("agg_collated_extreme", "max(d)", "max(d COLLATE UTF8_LCASE)")
measure("agg_float_to_double", "sum(cast(v as float))", "sum(cast(v as double))")
measure("agg_variance_to_square_root", "var_pop(v)", "sqrt(var_pop(v))")
measure("agg_first_to_any_ignoring", "first(v, true)", "any_value(v, false)", mode="complete")
case(
    "agg_product_to_sum",
    "product(v) -> sum(cast(v as double))",
    lambda p: p.read().groupBy("k").agg(F.product("v").alias("s")),
    by("k", "sum(cast(v as double)) s"),
)
key("agg_key_collated", "k", "k COLLATE UTF8_LCASE")
key("agg_key_decimal_wider", "cast(v as decimal(10,2))", "cast(v as decimal(12,2))")
key("agg_key_date_to_last_day", "to_date(ts)", "last_day(to_date(ts))")
key("agg_key_date_to_text", "to_date(ts)", "date_format(ts, 'yyyy-MM-dd')")
key("agg_key_negated", "v > 4", "v <= 4")
key("agg_key_buckets", "pmod(hash(k), 10)", "pmod(hash(k), 7)")
key("agg_key_field_renamed", "named_struct('a', k, 'b', d)", "named_struct('x', k, 'y', d)")
key("agg_key_double_to_float", "cast(v as double)", "cast(v as float)")
key("agg_key_substring", "concat(d, k)", "substring(concat(d, k), 1, 1)")
key("agg_key_trimmed", "concat(k, '')", "k")
case(
    "agg_keys_into_struct",
    "groupBy(k, d) -> groupBy(struct(k, d))",
    by(["k", "d"], "sum(v) s"),
    by("struct(k, d) g", "sum(v) s"),
)


def grouping(kind: str) -> Any:
    return f"SELECT k, d, sum(v) AS s FROM events GROUP BY {kind}"


statement(
    "agg_cube_to_rollup",
    "CUBE (k, d) -> ROLLUP (k, d)",
    grouping("CUBE (k, d)"),
    grouping("ROLLUP (k, d)"),
)
statement(
    "agg_grouping_sets_reordered",
    "SETS ((k), (d)) -> ((d), (k))",
    grouping("GROUPING SETS ((k), (d))"),
    grouping("GROUPING SETS ((d), (k))"),
)
statement(
    "agg_sql_ordinals_swapped",
    "SELECT k, d ... GROUP BY 1, 2 -> SELECT d, k ...",
    grouping("1, 2"),
    "SELECT d, k, sum(v) AS s FROM events GROUP BY 1, 2",
)
statement(
    "agg_sql_group_by_all", "GROUP BY k, d -> GROUP BY ALL", grouping("k, d"), grouping("ALL")
)
statement(
    "agg_sql_pivot_reordered",
    "PIVOT ... IN ('x', 'y') -> IN ('y', 'x')",
    "SELECT * FROM (SELECT k, d, v FROM events) PIVOT (count(v) FOR d IN ('x', 'y'))",
    "SELECT * FROM (SELECT k, d, v FROM events) PIVOT (count(v) FOR d IN ('y', 'x'))",
)
statement(
    "agg_sql_lateral_alias",
    "sum(v), sum(v) + 1 -> sum(v) AS s, s + 1",
    "SELECT k, sum(v) AS s, sum(v) + 1 AS t FROM events GROUP BY k",
    "SELECT k, sum(v) AS s, s + 1 AS t FROM events GROUP BY k",
)


def function(body: str) -> Any:
    """Group by a SQL function of the session, which the plan has inlined."""

    def build(p: Place) -> DataFrame:
        p.view()
        p.spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION bucket(x INT) RETURNS INT RETURN " + body)
        return p.spark.sql("SELECT bucket(v) AS b, count(*) AS n FROM events GROUP BY bucket(v)")

    return build


case("udf_sql_body_of_key", "RETURN x % 3 -> x % 5", function("x % 3"), function("x % 5"))
case("udf_sql_body_same", "RETURN x % 3 -> mod(x, 3)", function("x % 3"), function("mod(x, 3)"))


def given(value: int) -> Any:
    """Filter by a parameter of a statement."""

    def build(p: Place) -> DataFrame:
        p.view()
        text = "SELECT k, sum(v) AS s FROM events WHERE v > :least GROUP BY k"
        return p.spark.sql(text, args={"least": value})

    return build


case(
    "sql_parameter_for_literal",
    "WHERE v > 2 -> WHERE v > :least",
    sql("SELECT k, sum(v) AS s FROM events WHERE v > 2 GROUP BY k"),
    given(2),
)


def upper_udf(p: Place) -> DataFrame:
    upper = F.udf(lambda k: None if k is None else k.upper(), "string")
    return grouped(p.read().withColumn("k", upper("k")), "k", "sum(v) s")


case(
    "udf_to_builtin_key",
    "groupBy(udf upper(k)) -> groupBy(upper(k))",
    upper_udf,
    by("upper(k) k", "sum(v) s"),
    files_tell=False,
)


def exploded(kind: str) -> Any:
    text = f"{kind}(split(concat(k, ',', coalesce(d, '-')), ',')) AS g"
    return lambda p: grouped(p.read().selectExpr("v", text), "g", "sum(v) s")


case(
    "agg_explode_outer",
    "explode -> explode_outer, its elements the key",
    exploded("explode"),
    exploded("explode_outer"),
)
case(
    "agg_cached_table_joined_after",
    "aggregate -> joined with a table behind it",
    by("k", "sum(v) s"),
    lambda p: (
        by("k", "sum(v) s")(p)
        .join(
            p.spark.createDataFrame([("a", "A"), ("c", "C")], "k string, name string").cache(),
            "k",
            "left",
        )
        .select("k", "s")
    ),
)
case(
    "agg_to_stateless",
    "groupBy(k).sum -> select(k, v)",
    by("k", "sum(v) s"),
    Version(lambda p: p.read().select("k", "v"), "append"),
)
