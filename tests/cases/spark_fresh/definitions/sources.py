"""File sources, unions and named sources."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from recorder.case import BOTH_FIRST, BOTH_THEN, SCHEMA, Batches, Place, case
from recorder.shapes import by, grouped, sql

BOTH = {"first": BOTH_FIRST, "then": BOTH_THEN}
# The second source had nothing new in the last batch.
UNEVEN: Batches = {"src": BOTH_FIRST["src"], "src2": BOTH_FIRST["src2"][:1]}
NAMED = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    "spark.sql.streaming.offsetLog.formatVersion": "2",
}


def sums(df: DataFrame) -> DataFrame:
    return grouped(df, "k", "sum(v) s", "count(*) n")


def union(*names: str) -> Any:
    def build(p: Place) -> DataFrame:
        first, *rest = [p.read(name) for name in names]
        for other in rest:
            first = first.union(other)
        return sums(first)

    return build


def named(*names: tuple[str, str]) -> Any:
    def build(p: Place) -> DataFrame:
        first, *rest = [p.read(folder, named=name) for folder, name in names]
        for other in rest:
            first = first.union(other)
        return sums(first)

    return build


case(
    "file_union_swapped_uneven",
    "src, src2 -> src2, src",
    union("src", "src2"),
    union("src2", "src"),
    first=UNEVEN,
    then=BOTH_THEN,
)
case(
    "file_union_second_replaced",
    "src, src2 -> src, src3",
    union("src", "src2"),
    union("src", "src3"),
    first={**BOTH_FIRST, "src3": BOTH_FIRST["src2"]},
    then=BOTH_THEN,
)
case(
    "file_union_to_folders_above",
    "src union src2 -> one reader of src*",
    union("src", "src2"),
    union("src*"),
    **BOTH,
)
case("file_folder_to_files_in_it", "src -> src/*.json", union("src"), union("src/*.json"))
case("file_folder_to_star_above", "src -> s*c", union("src"), union("s*c"))
case(
    "file_rate_options",
    "one file a batch -> latestFirst, 1000 files",
    by("k", "sum(v) s"),
    lambda p: grouped(p.read(latestFirst="true", maxFilesPerTrigger=1000), "k", "sum(v) s"),
)
case(
    "file_schema_in_other_order",
    "k, v, d, ts -> ts, d, v, k",
    by("k", "sum(v) s"),
    lambda p: grouped(p.read(schema="ts timestamp, d string, v int, k string"), "k", "sum(v) s"),
)
case(
    "file_value_type_wider",
    "v int -> v bigint",
    by("k", "sum(v) s"),
    lambda p: grouped(p.read(schema=SCHEMA.replace("v int", "v bigint")), "k", "sum(v) s"),
)
case(
    "file_value_type_in_extreme",
    "v int -> v bigint under max",
    by("k", "max(v) s"),
    lambda p: grouped(p.read(schema=SCHEMA.replace("v int", "v bigint")), "k", "max(v) s"),
)
case(
    "file_to_rate",
    "files -> rate source, stateless",
    lambda p: p.read().select("k"),
    lambda p: (
        p.spark.readStream.format("rate")
        .option("rowsPerSecond", 1)
        .load()
        .selectExpr("cast(value as string) k")
    ),
    mode="append",
)
case(
    "file_same_twice_swapped",
    "src where v > 4 union src -> src union src where v > 4",
    lambda p: sums(p.read().where("v > 4").union(p.read())),
    lambda p: sums(p.read().union(p.read().where("v > 4"))),
)
case(
    "file_branch_filter_moved",
    "(src where d = 'x') union src2 -> src union (src2 where d = 'x')",
    lambda p: sums(p.read().where("d = 'x'").union(p.read("src2"))),
    lambda p: sums(p.read().union(p.read("src2").where("d = 'x'"))),
    **BOTH,
)


def sql_union(first: str, second: str) -> Any:
    def build(p: Place) -> DataFrame:
        p.view("src", "one")
        p.view("src2", "two")
        both = f"SELECT * FROM {first} UNION ALL SELECT * FROM {second}"
        return p.spark.sql(f"SELECT k, sum(v) AS s FROM ({both}) GROUP BY k")

    return build


case(
    "file_sql_union_swapped",
    "SQL: one UNION ALL two -> two UNION ALL one",
    sql_union("one", "two"),
    sql_union("two", "one"),
    **BOTH,
)
case(
    "file_sql_to_union_by_name",
    "SQL UNION ALL -> unionByName",
    sql_union("one", "two"),
    lambda p: grouped(
        p.read().unionByName(p.read("src2").select("ts", "d", "v", "k")), "k", "sum(v) s"
    ),
    **BOTH,
)
case(
    "evo_named_renamed",
    "a -> b (log v2), the same folder",
    named(("src", "a")),
    named(("src", "b")),
    settings=NAMED,
)
case(
    "evo_named_three_reordered",
    "a, b, c -> c, a, b (log v2)",
    named(("src", "a"), ("src2", "b"), ("src3", "c")),
    named(("src3", "c"), ("src", "a"), ("src2", "b")),
    first={**BOTH_FIRST, "src3": [[("z", 1, "z", "2026-01-01T00:00:01Z")]]},
    then=BOTH_THEN,
    settings=NAMED,
)
case(
    "evo_named_swap_and_function",
    "a, b -> b, a, and sum -> max (log v2)",
    named(("src", "a"), ("src2", "b")),
    lambda p: grouped(
        p.read("src2", named="b").union(p.read(named="a")),
        "k",
        "cast(max(v) as bigint) s",
        "count(*) n",
    ),
    **BOTH,
    settings=NAMED,
)
case(
    "evo_named_one_replaced",
    "a, b -> a, c of another folder (log v2)",
    named(("src", "a"), ("src2", "b")),
    named(("src", "a"), ("src3", "c")),
    first={**BOTH_FIRST, "src3": BOTH_FIRST["src2"]},
    then=BOTH_THEN,
    settings=NAMED,
)
case(
    "evo_named_to_unnamed",
    "named a -> unnamed, evolution off (log v2)",
    named(("src", "a")),
    union("src"),
    settings=NAMED,
    new_settings={},
)
case(
    "sql_view_filter_added",
    "SQL over a view -> with WHERE v > 2",
    sql("SELECT k, sum(v) AS s FROM events GROUP BY k"),
    sql("SELECT k, sum(v) AS s FROM events WHERE v > 2 GROUP BY k"),
)
