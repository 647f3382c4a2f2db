"""Operators without state: steps over rows, joins with tables, Python functions, partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F
from query import Place, query

NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}


@query(codegen=True)
def static_join_broadcast(p: Place) -> Any:
    return p.events().join(p.static(), "k").select("k", "v", "town")


@query()
def static_join_left(p: Place) -> Any:
    return p.events().join(F.broadcast(p.static()), "k", "left").select("k", "town")


@query()
def static_join_on_the_left(p: Place) -> Any:
    return p.static().join(p.events(), "k", "right").select("k", "v", "town")


@query(settings=NO_BROADCAST)
def static_join_sort_merge(p: Place) -> Any:
    return p.events().join(p.static(), "k").select("k", "v", "town")


@query(settings=NO_BROADCAST)
def static_join_shuffled_hash(p: Place) -> Any:
    return p.events().join(p.static().hint("shuffle_hash"), "k").select("k", "v", "town")


@query()
def static_join_semi(p: Place) -> Any:
    return p.events().join(p.static(), "k", "left_semi").select("k", "v")


@query()
def static_join_anti(p: Place) -> Any:
    return p.events().join(p.static(), "k", "left_anti").select("k", "v")


@query()
def static_join_condition(p: Place) -> Any:
    events, towns = p.events(), p.static()
    return events.join(towns, F.length("town") > events.v).select("town", "v")


@query()
def static_join_cross(p: Place) -> Any:
    return p.events().crossJoin(p.static().select("town")).select("k", "town")


@query()
def static_join_local_rows(p: Place) -> Any:
    names = p.spark.createDataFrame([("a", 1), ("b", 2)], "k string, n int")
    return p.events().join(names, "k").select("k", "n")


@query()
def static_join_range(p: Place) -> Any:
    return p.events().join(p.spark.range(10), F.expr("v = id")).select("k", "id")


@query()
def static_side_window(p: Place) -> Any:
    ranked = p.static().selectExpr(
        "k", "town", "row_number() OVER (PARTITION BY k ORDER BY town) r"
    )
    return p.events().join(ranked, "k").select("k", "r")


@query()
def static_side_aggregate(p: Place) -> Any:
    return p.events().join(p.static().groupBy("k").count(), "k").select("k", "count")


@query()
def static_side_cached(p: Place) -> Any:
    return p.events().join(p.static().cache(), "k").select("k", "town")


@query()
def subquery_in(p: Place) -> Any:
    p.static().createOrReplaceTempView("towns")
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT k, v FROM events WHERE k IN (SELECT k FROM towns WHERE town > 'C')")


@query()
def subquery_scalar(p: Place) -> Any:
    p.static().createOrReplaceTempView("towns")
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT k, v FROM events WHERE v < (SELECT count(*) FROM towns)")


@query()
def subquery_cte(p: Place) -> Any:
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("WITH big AS (SELECT k, v FROM events WHERE v > 1) SELECT k FROM big")


@query()
def union_two(p: Place) -> Any:
    return p.events("left").select("k", "v").union(p.events("right").select("k", "v"))


@query()
def union_by_name(p: Place) -> Any:
    left = p.events("left").select("k", "v")
    return left.unionByName(p.events("right").select("d", "k"), allowMissingColumns=True)


@query()
def union_same_source(p: Place) -> Any:
    events = p.events()
    return events.where("v = 1").select("k").union(events.where("v = 2").select("k"))


@query()
def generate_explode(p: Place) -> Any:
    return p.events().select("k", F.explode(F.split("d", ",")).alias("word"))


@query()
def generate_posexplode_outer(p: Place) -> Any:
    return p.events().select("k", F.posexplode_outer(F.split("d", ",")).alias("at", "word"))


@query()
def generate_stack(p: Place) -> Any:
    return p.events().selectExpr("k", "stack(2, 'v', v, 'twice', v * 2) AS (name, value)")


@query()
def unpivot(p: Place) -> Any:
    twice = p.events().selectExpr("k", "v", "v * 2 AS w")
    return twice.unpivot("k", ["v", "w"], "name", "value")


@query()
def observe_metrics(p: Place) -> Any:
    return p.events().observe("seen", F.count(F.lit(1)).alias("rows")).select("k")


@query()
def repartition_by_number(p: Place) -> Any:
    return p.events().repartition(3).select("k")


@query()
def repartition_by_key(p: Place) -> Any:
    return p.events().repartition(3, "k").select("k")


@query()
def repartition_by_range(p: Place) -> Any:
    return p.events().repartitionByRange(3, "v").select("k", "v")


@query()
def repartition_rebalance(p: Place) -> Any:
    return p.events().hint("rebalance", "k").select("k")


@query()
def coalesce_one(p: Place) -> Any:
    return p.events().coalesce(1).select("k")


def twice(value: int) -> int:
    return value * 2


def pickled_twice(value: int) -> int:
    return value * 2


def halved(values: pd.Series) -> pd.Series:
    return values // 2


class Words:
    """Splits a text."""

    def eval(self, text: str) -> Iterator[Any]:
        """Yield each word and its length."""
        for word in text.split(","):
            yield word, len(word)


@query()
def python_udf(p: Place) -> Any:
    return p.events().select("k", F.udf(twice, "int")("v").alias("w"))


@query()
def python_udf_pickled(p: Place) -> Any:
    return (
        p.events()
        .select("k", F.udf(pickled_twice, "int", useArrow=False)("v").alias("w"))
        .where("w > 2")
    )


@query()
def pandas_udf(p: Place) -> Any:
    return p.events().select("k", F.pandas_udf(halved, "int")("v").alias("w"))


@query()
def python_udtf(p: Place) -> Any:
    p.spark.udtf.register("words", F.udtf(Words, returnType="word string, size int"))
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT k, word, size FROM events, LATERAL words(d)")


def doubled(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        yield frame.assign(v=frame.v * 2)[["k", "v"]]


def as_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.select(["k", "v"])


@query()
def map_in_pandas(p: Place) -> Any:
    return p.events().select("k", "v").mapInPandas(doubled, "k string, v int")


@query()
def map_in_arrow(p: Place) -> Any:
    return p.events().select("k", "v").mapInArrow(as_arrow, "k string, v int")


def first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.head(1)


@query()
def apply_in_pandas(p: Place) -> Any:
    return p.events().select("k", "v").groupBy("k").applyInPandas(first_rows, "k string, v int")


@query()
def apply_in_arrow(p: Place) -> Any:
    grouped = p.events().select("k", "v").groupBy("k")
    return grouped.applyInArrow(lambda table: table, "k string, v int")


@query()
def typed_steps(p: Place) -> Any:
    return p.typed("typedSteps", p.events())


@query()
def rdd_script(p: Place) -> Any:
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT TRANSFORM(k, v) USING 'cat' AS (k STRING, v INT) FROM events")
