"""Windows, watermarks, deduplications and limits, in further variations."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from recorder.case import Place, Version, case
from recorder.shapes import by, grouped, windowed

from definitions.deduplications import AGAIN, once, once_within
from definitions.windows import CLOSED, TEN

SESSION = "session_window(ts, '5 seconds') w"


def window(name: str, change: str, old: str, new: str, **facts: Any) -> None:
    """The window changes."""
    case(name, change, windowed(old, "k", "sum(v) s"), windowed(new, "k", "sum(v) s"), **facts)


window(
    "win_offset_of_a_whole_slide",
    "start 0 s -> start 10 s, of 10 s",
    "window(ts, '10 seconds', '10 seconds', '0 seconds') w",
    "window(ts, '10 seconds', '10 seconds', '10 seconds') w",
)
window(
    "win_sliding_longer",
    "20 s by 5 s -> 30 s by 5 s",
    "window(ts, '20 seconds', '5 seconds') w",
    "window(ts, '30 seconds', '5 seconds') w",
)
window(
    "win_gap_of_rows_longer",
    "gap CASE ... 20 s -> CASE ... 30 s",
    "session_window(ts, CASE WHEN v > 4 THEN '20 seconds' ELSE '5 seconds' END) w",
    "session_window(ts, CASE WHEN v > 4 THEN '30 seconds' ELSE '5 seconds' END) w",
    mode="append",
)
case(
    "win_session_keys_exchanged",
    "session, k, d -> session, d, k",
    windowed(SESSION, ["k", "d"], "sum(v) s"),
    windowed(SESSION, ["d", "k"], "sum(v) s"),
    mode="append",
)
case(
    "win_session_min_to_max",
    "min(v) -> max(v) in sessions",
    windowed(SESSION, "k", "min(v) s"),
    windowed(SESSION, "k", "max(v) s"),
    mode="append",
)
case(
    "win_session_filter_added",
    "sessions -> where v > 1 before",
    windowed(SESSION, "k", "count(*) n"),
    windowed(SESSION, "k", "count(*) n", before="v > 1"),
    mode="append",
)
case(
    "mode_session_append_to_complete",
    "append -> complete, sessions",
    windowed(SESSION, "k", "sum(v) s"),
    windowed(SESSION, "k", "sum(v) s"),
    mode="append",
    new_mode="complete",
)
case(
    "mode_complete_to_append_window",
    "complete -> append, windows",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s"),
    mode="complete",
    new_mode="append",
    first=CLOSED,
)
case(
    "wm_delay_in_other_unit",
    "10 seconds -> 10000 milliseconds",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s", delay="10000 milliseconds"),
    mode="append",
)


def marked_twice(delay: str) -> Any:
    """A watermark on the time, windows over another time."""

    def build(p: Place) -> DataFrame:
        df = p.read().selectExpr("*", "ts + interval 3 seconds AS seen")
        return grouped(df.withWatermark(delay, "10 seconds"), [TEN, "k"], "sum(v) s")

    return build


case(
    "wm_on_another_column",
    "watermark on ts -> on seen, windows of ts",
    marked_twice("ts"),
    marked_twice("seen"),
)
case(
    "wm_on_another_column_append",
    "watermark on ts -> on seen, windows of ts, append",
    marked_twice("ts"),
    marked_twice("seen"),
    mode="append",
)


def sessions_then_windows(gap: str) -> Any:
    def build(p: Place) -> DataFrame:
        small = grouped(p.marked(), [f"session_window(ts, '{gap}') w", "k"], "count(*) n")
        return grouped(small, "window(w, '30 seconds') o", "sum(n) s")

    return build


def windows_of_windows(inner: str, outer: str = "sum(s) s") -> Any:
    def build(p: Place) -> DataFrame:
        small = grouped(p.marked(), [TEN, "k"], f"{inner} s")
        return grouped(small, "window(window_time(w), '30 seconds') o", outer)

    return build


case(
    "chain_inner_min_to_max",
    "windows of windows: the inner min -> max",
    windows_of_windows("min(v)"),
    windows_of_windows("max(v)"),
    mode="append",
)
case(
    "chain_outer_measure_added",
    "windows of windows: the outer count added",
    windows_of_windows("min(v)"),
    lambda p: grouped(
        grouped(p.marked(), [TEN, "k"], "min(v) s"),
        "window(window_time(w), '30 seconds') o",
        "sum(s) s",
        "count(*) n",
    ),
    mode="append",
)
case(
    "chain_outer_removed",
    "windows of windows -> windows",
    windows_of_windows("min(v)"),
    windowed(TEN, "k", "min(v) s"),
    mode="append",
)
case(
    "conf_multiple_operators_off",
    "allowMultiple true -> false, windows of windows",
    windows_of_windows("min(v)"),
    windows_of_windows("min(v)"),
    mode="append",
    new_settings={"spark.sql.streaming.statefulOperator.allowMultiple": "false"},
)

case(
    "dedup_within_to_plain",
    "dropDuplicatesWithinWatermark(k) -> dropDuplicates(k)",
    once_within("k"),
    lambda p: p.marked().dropDuplicates(["k"]).select("k", "v", "d"),
    mode="append",
)
case(
    "dedup_within_column_added",
    "dropDuplicatesWithinWatermark(k) -> (k, d)",
    once_within("k"),
    once_within("k", "d"),
    mode="append",
)
case(
    "dedup_within_columns_swapped",
    "dropDuplicatesWithinWatermark(k, d) -> (d, k)",
    once_within("k", "d"),
    once_within("d", "k"),
    mode="append",
)


def renamed(p: Place) -> DataFrame:
    df = p.read().selectExpr("k AS kk", "v", "d").dropDuplicates(["kk"])
    return df.selectExpr("kk AS k", "v", "d")


case("dedup_column_renamed", "k -> k AS kk, back behind it", once("k"), renamed, mode="append")
case(
    "dedup_value_wider",
    "dropDuplicates(v) -> v as bigint",
    once("v"),
    lambda p: p.read().selectExpr("k", "cast(v as bigint) v", "d").dropDuplicates(["v"]),
    mode="append",
)
case(
    "dedup_key_filled_no_more",
    "coalesce(k, '-') -> k before dropDuplicates(k)",
    lambda p: p.read().selectExpr("coalesce(k, '-') k", "v", "d").dropDuplicates(["k"]),
    once("k"),
    mode="append",
)
case(
    "dedup_all_to_distinct",
    "dropDuplicates() -> distinct()",
    lambda p: p.read().select("k", "d").dropDuplicates(),
    Version(lambda p: p.read().select("k", "d").distinct(), "update"),
    mode="append",
)
case(
    "dedup_delay_longer",
    "dropDuplicates(k, ts): delay 10 s -> 1 hour",
    lambda p: p.marked().dropDuplicates(["k", "ts"]).select("k", "v"),
    lambda p: p.marked(delay="1 hour").dropDuplicates(["k", "ts"]).select("k", "v"),
    mode="append",
    then=AGAIN,
)
case(
    "dedup_time_truncated",
    "dropDuplicates(k, ts) -> ts cut to the minute",
    lambda p: p.marked().dropDuplicates(["k", "ts"]).select("k", "v"),
    lambda p: (
        p.read()
        .selectExpr("k", "v", "date_trunc('minute', ts) ts")
        .withWatermark("ts", "10 seconds")
        .dropDuplicates(["k", "ts"])
        .select("k", "v")
    ),
    mode="append",
)
case(
    "mode_dedup_append_to_update",
    "append -> update, dropDuplicates",
    once("k"),
    once("k"),
    mode="append",
    new_mode="update",
)
case(
    "mode_dedup_append_to_complete",
    "append -> complete, dropDuplicates",
    once("k"),
    once("k"),
    mode="append",
    new_mode="complete",
)


def few(*steps: Any) -> Any:
    def build(p: Place) -> DataFrame:
        df = p.read().select("k", "v")
        for step in steps:
            df = df.limit(step) if isinstance(step, int) else df.where(step)
        return df

    return build


case(
    "limit_filter_moved_behind",
    "where v > 1, limit 5 -> limit 5, where v > 1",
    few("v > 1", 5),
    few(5, "v > 1"),
    mode="append",
)
case(
    "limit_offset_added",
    "limit 5 -> offset 1, limit 5",
    few(5),
    lambda p: p.read().select("k", "v").offset(1).limit(5),
    mode="append",
)
case("limit_twice", "limit 6 -> limit 9, limit 6", few(6), few(9, 6), mode="append")
case(
    "limit_of_complete_changed",
    "complete, sorted: limit 2 -> limit 3",
    lambda p: by("k", "sum(v) s")(p).orderBy("k").limit(2),
    lambda p: by("k", "sum(v) s")(p).orderBy("k").limit(3),
    mode="complete",
)
