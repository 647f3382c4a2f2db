"""Operators that keep state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from query import ROCKSDB, Place, query


def marked(p: Place, name: str = "events", delay: str = "10 seconds") -> DataFrame:
    return p.events(name).withWatermark("ts", delay)


@query(mode="complete")
def aggregate_global(p: Place) -> Any:
    return p.events().agg(F.count(F.lit(1)).alias("n"), F.sum("v").alias("total"))


@query(mode="update", codegen=True)
def aggregate_by_key(p: Place) -> Any:
    return p.events().groupBy("k").agg(F.count(F.lit(1)).alias("n"), F.avg("v").alias("mean"))


@query(mode="update")
def aggregate_sort_based(p: Place) -> Any:
    return p.events().groupBy("k").agg(F.max("d").alias("last"), F.min("d").alias("first"))


@query(mode="update")
def aggregate_object_hash(p: Place) -> Any:
    return p.events().groupBy("k").agg(F.collect_set("v").alias("all"))


@query(mode="update")
def aggregate_filter_clause(p: Place) -> Any:
    made = F.expr("count(*) FILTER (WHERE v > 1)").alias("big")
    return p.events().groupBy("k").agg(made, F.approx_count_distinct("d").alias("kinds"))


@query(mode="update")
def aggregate_having(p: Place) -> Any:
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT k, sum(v) AS total FROM events GROUP BY k HAVING sum(v) > 2")


@query(mode="complete")
def aggregate_sorted(p: Place) -> Any:
    return p.events().groupBy("k").count().orderBy(F.desc("count"))


@query(mode="complete")
def aggregate_top_two(p: Place) -> Any:
    return p.events().groupBy("k").count().orderBy(F.desc("count")).limit(2)


@query(mode="update")
def aggregate_rollup(p: Place) -> Any:
    return p.events().rollup("k", "d").agg(F.sum("v").alias("total"))


@query(mode="update")
def aggregate_cube(p: Place) -> Any:
    return p.events().cube("k", "d").count()


@query(mode="update")
def aggregate_grouping_sets(p: Place) -> Any:
    p.events().createOrReplaceTempView("events")
    return p.spark.sql("SELECT k, d, sum(v) AS s FROM events GROUP BY GROUPING SETS ((k), (d), ())")


@query(mode="update")
def aggregate_distinct_rows(p: Place) -> Any:
    return p.events().select("k", "d").distinct()


@query(mode="update")
def aggregate_reduce_groups(p: Place) -> Any:
    return p.typed("reduceGroups", p.events())


@query()
def window_tumbling(p: Place) -> Any:
    return marked(p).groupBy(F.window("ts", "1 minute"), "k").count()


@query(mode="update")
def window_sliding(p: Place) -> Any:
    times = F.window("ts", "1 minute", "30 seconds", "5 seconds")
    return marked(p).groupBy(times).agg(F.sum("v").alias("total"))


@query()
def window_of_windows(p: Place) -> Any:
    small = marked(p).groupBy(F.window("ts", "1 minute"), "k").agg(F.count("*").alias("n"))
    large = small.groupBy(F.window(F.window_time("window"), "5 minutes")).agg(F.sum("n").alias("n"))
    return large.select("window.end", "n")


@query()
def window_session(p: Place) -> Any:
    return marked(p).groupBy(F.session_window("ts", "30 seconds"), "k").count()


@query()
def window_session_dynamic(p: Place) -> Any:
    gap = F.expr("CASE WHEN v > 1 THEN '10 seconds' ELSE '20 seconds' END")
    return marked(p).groupBy(F.session_window("ts", gap), "k").agg(F.sum("v").alias("total"))


@query(settings={"spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition": "true"})
def window_session_merging(p: Place) -> Any:
    return marked(p).groupBy(F.session_window("ts", "30 seconds"), "k").count()


@query()
def deduplicate_keys(p: Place) -> Any:
    return p.events().dropDuplicates(["k", "d"]).select("k", "d")


@query()
def deduplicate_with_watermark(p: Place) -> Any:
    return marked(p).dropDuplicates(["k", "ts"]).select("k", "ts")


@query()
def deduplicate_within_watermark(p: Place) -> Any:
    return marked(p).dropDuplicatesWithinWatermark(["k"]).select("k", "v")


@query()
def limit_five(p: Place) -> Any:
    return p.events().select("k").limit(5)


def sides(p: Place) -> tuple[DataFrame, DataFrame]:
    left = marked(p, "left").selectExpr("k AS lk", "v AS lv", "ts AS lts")
    right = marked(p, "right", "20 seconds").selectExpr("k AS rk", "v AS rv", "ts AS rts")
    return left, right


NEAR = "lk = rk AND rts BETWEEN lts AND lts + INTERVAL 1 MINUTE"


def joined(p: Place, kind: str) -> DataFrame:
    left, right = sides(p)
    return left.join(right, F.expr(NEAR), kind)


@query(codegen=True)
def stream_join_inner(p: Place) -> Any:
    return joined(p, "inner")


@query()
def stream_join_left(p: Place) -> Any:
    return joined(p, "left_outer")


@query()
def stream_join_right(p: Place) -> Any:
    return joined(p, "right_outer")


@query()
def stream_join_full(p: Place) -> Any:
    return joined(p, "full_outer")


@query()
def stream_join_semi(p: Place) -> Any:
    return joined(p, "left_semi")


@query()
def stream_join_no_watermark(p: Place) -> Any:
    left = p.events("left").selectExpr("k", "v")
    return left.join(p.events("right").selectExpr("k", "d"), "k")


@query(settings={"spark.sql.streaming.join.stateFormatVersion": "3", **ROCKSDB})
def stream_join_state_format_3(p: Place) -> Any:
    return joined(p, "inner")


@query()
def chain_join_aggregate(p: Place) -> Any:
    both = joined(p, "inner")
    return both.groupBy(F.window("lts", "1 minute"), "lk").agg(F.sum("rv").alias("total"))


@query()
def chain_deduplicate_aggregate(p: Place) -> Any:
    return marked(p).dropDuplicates(["k", "ts"]).groupBy(F.window("ts", "1 minute")).count()


@query()
def chain_static_join_aggregate(p: Place) -> Any:
    events = marked(p).join(p.static(), "k").where("town <> 'Bonn'")
    return events.groupBy(F.window("ts", "1 minute"), "town").count()


@query()
def chain_union_aggregate(p: Place) -> Any:
    both = marked(p, "left").union(marked(p, "right", "5 seconds"))
    return both.groupBy(F.window("ts", "1 minute"), "k").count()


def counted(key: Any, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    n = (state.get[0] if state.exists else 0) + sum(map(len, frames))
    state.update((n,))
    yield pd.DataFrame({"k": [key[0]], "n": [n]})


@query(mode="update")
def apply_in_pandas_with_state(p: Place) -> Any:
    grouped = p.events().groupBy("k")
    times = GroupStateTimeout.ProcessingTimeTimeout
    return grouped.applyInPandasWithState(counted, "k string, n long", "n long", "update", times)


@query()
def apply_in_pandas_with_state_event_time(p: Place) -> Any:
    grouped = marked(p).groupBy("k", "d")
    times = GroupStateTimeout.EventTimeTimeout
    return grouped.applyInPandasWithState(counted, "k string, n long", "n long", "append", times)


@query(codegen=True)
def flat_map_groups_with_state(p: Place) -> Any:
    return p.typed("flatMapGroupsWithState", p.events())


@query(mode="update")
def map_groups_with_state(p: Place) -> Any:
    return p.typed("mapGroupsWithState", p.events())


@query(mode="update", settings=ROCKSDB)
def transform_with_state_typed(p: Place) -> Any:
    return p.typed("transformWithState", p.events())


class Variables(StatefulProcessor):
    """Has a variable of each type; the value expires, the map does not."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the variables."""
        self.total = handle.getValueState("total", "n long", ttlDurationMs=3_600_000)
        self.seen = handle.getListState("seen", "v int")
        self.times = handle.getMapState("times", "v int", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:
        """Count the rows of a key."""
        n = self.total.get()[0] if self.total.exists() else 0
        for frame in rows:
            n += len(frame) if isinstance(frame, pd.DataFrame) else 1
        self.seen.appendValue((1,))
        self.times.updateValue((1,), (n,))
        self.total.update((n,))
        yield pd.DataFrame({"k": [key[0]], "n": [n]})


class RowVariables(Variables):
    """The same over rows."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:
        """Count the rows of a key."""
        n = sum(1 for _ in rows)
        self.total.update((n,))
        yield Row(k=key[0], n=n)


class Alarm(StatefulProcessor):
    """Rings a minute after a row's time."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare one variable."""
        self.handle = handle
        self.last = handle.getValueState("last", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:
        """Set the alarm."""
        for _ in rows:
            self.last.update((1,))
        self.handle.registerTimer(timers.getCurrentWatermarkInMs() + 60_000)
        yield Row(k=key[0], ts=None)

    def handleExpiredTimer(self, key: Any, timers: Any, expired: Any) -> Iterator[Any]:
        """Say that it rang."""
        yield Row(k=key[0], ts=None)


@query(mode="update", settings=ROCKSDB)
def transform_with_state_pandas(p: Place) -> Any:
    return (
        p.events()
        .groupBy("k")
        .transformWithStateInPandas(Variables(), "k string, n long", "Update", "ProcessingTime")
    )


@query(mode="update", settings=ROCKSDB)
def transform_with_state_rows(p: Place) -> Any:
    return (
        p.events()
        .groupBy("k")
        .transformWithState(RowVariables(), "k string, n long", "Update", "ProcessingTime")
    )


@query(settings=ROCKSDB)
def transform_with_state_event_time(p: Place) -> Any:
    return (
        marked(p)
        .groupBy("k")
        .transformWithState(
            Alarm(), "k string, ts timestamp", "Append", "EventTime", eventTimeColumnName="ts"
        )
    )


@query(mode="update", settings=ROCKSDB)
def transform_with_state_initial(p: Place) -> Any:
    first = p.static().groupBy("k")
    return (
        p.events()
        .groupBy("k")
        .transformWithState(Starting(), "k string, n long", "Update", "None", initialState=first)
    )


class Starting(RowVariables):
    """Takes an initial state; nothing expires."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare one variable."""
        self.total = handle.getValueState("total", "n long")

    def handleInitialState(self, key: Any, row: Any, timers: Any) -> None:
        """Begin at one."""
        self.total.update((1,))


@query(settings={"spark.sql.streaming.noDataMicroBatches.enabled": "true"})
def empty_last_batch(p: Place) -> Any:
    return marked(p).groupBy(F.window("ts", "1 minute"), "k").count()
