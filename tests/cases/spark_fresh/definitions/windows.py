"""Time windows and watermarks."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F
from recorder.case import BOTH_FIRST, BOTH_THEN, FIRST, Batches, Place, at, case
from recorder.shapes import grouped, sql, windowed

# A window has been closed and emitted before the restart.
CLOSED: Batches = {"src": [*FIRST["src"], [("a", 1, "x", at(40)), ("b", 2, "x", at(41))]]}
TEN = "window(ts, '10 seconds') w"


def of_windows(outer: str) -> Any:
    def build(p: Place) -> Any:
        small = grouped(p.marked(), [TEN, "k"], "sum(v) s")
        return grouped(small, f"window(window_time(w), '{outer}') o", "sum(s) s", "count(*) n")

    return build


def two_marked(left: str, right: str) -> Any:
    def build(p: Place) -> Any:
        both = p.marked(delay=left).union(p.marked("src2", delay=right))
        return grouped(both, [TEN, "k"], "sum(v) s")

    return build


case(
    "win_size_with_key",
    "window 10 s -> 20 s, by k",
    windowed(TEN, "k", "sum(v) s"),
    windowed("window(ts, '20 seconds') w", "k", "sum(v) s"),
)
case(
    "win_slide_finer",
    "window 10 s by 5 s -> by 2 s",
    windowed("window(ts, '10 seconds', '5 seconds') w", "k", "sum(v) s"),
    windowed("window(ts, '10 seconds', '2 seconds') w", "k", "sum(v) s"),
)
case(
    "win_tumbling_to_sliding_by_key",
    "window 10 s -> 10 s by 5 s, by k, append",
    windowed(TEN, "k", "count(*) n"),
    windowed("window(ts, '10 seconds', '5 seconds') w", "k", "count(*) n"),
    mode="append",
)
case(
    "win_key_added",
    "groupBy(window, k) -> groupBy(window, k, d)",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, ["k", "d"], "sum(v) s"),
)
case(
    "win_key_moved_first",
    "groupBy(window, k) -> groupBy(k, window)",
    windowed(TEN, "k", "sum(v) s"),
    windowed("k", TEN, "sum(v) s"),
)
case(
    "win_other_key",
    "groupBy(window, k) -> groupBy(window, d), append",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "d", "sum(v) s"),
    mode="append",
)
case(
    "win_slide_spelled_out",
    "window(10 seconds) -> window(10 seconds, 10 seconds)",
    windowed(TEN, "k", "sum(v) s"),
    windowed("window(ts, '10 seconds', '10 seconds') w", "k", "sum(v) s"),
)
case(
    "win_unit_of_size",
    "window(60 seconds) -> window(1 minute)",
    windowed("window(ts, '60 seconds') w", "k", "sum(v) s"),
    windowed("window(ts, '1 minute') w", "k", "sum(v) s"),
)
case(
    "win_session_other_key",
    "session_window(5 s), k -> d, append",
    windowed("session_window(ts, '5 seconds') w", "k", "count(*) n"),
    windowed("session_window(ts, '5 seconds') w", "d", "count(*) n"),
    mode="append",
)
case(
    "win_session_gap_by_row",
    "session_window(5 s) -> a gap that depends on v, append",
    windowed("session_window(ts, '5 seconds') w", "k", "count(*) n"),
    windowed(
        "session_window(ts, CASE WHEN v > 4 THEN '20 seconds' ELSE '5 seconds' END) w",
        "k",
        "count(*) n",
    ),
    mode="append",
)
case(
    "win_session_to_tumbling",
    "session_window(5 s) -> window(10 s), append",
    windowed("session_window(ts, '5 seconds') w", "k", "count(*) n"),
    windowed(TEN, "k", "count(*) n"),
    mode="append",
)
case(
    "win_to_truncated_time",
    "window(1 minute) -> date_trunc(minute)",
    windowed("window(ts, '1 minute') w", "k", "count(*) n"),
    windowed("date_trunc('minute', ts) w", "k", "count(*) n"),
)
case(
    "win_of_windows_outer_size",
    "windows of windows: the outer 30 s -> 60 s",
    of_windows("30 seconds"),
    of_windows("60 seconds"),
    mode="append",
    first=CLOSED,
)
case(
    "win_union_one_delay_longer",
    "union of two watermarks: 10 s, 10 s -> 10 s, 40 s",
    two_marked("10 seconds", "10 seconds"),
    two_marked("10 seconds", "40 seconds"),
    mode="append",
    first=BOTH_FIRST,
    then=BOTH_THEN,
)
case(
    "win_sql_sum_to_max",
    "SQL: sum -> max in a window",
    sql(
        "SELECT window(ts, '10 seconds').start AS b, k, sum(v) AS s FROM events"
        " GROUP BY window(ts, '10 seconds'), k",
        delay="10 seconds",
    ),
    sql(
        "SELECT window(ts, '10 seconds').start AS b, k, CAST(max(v) AS BIGINT) AS s FROM events"
        " GROUP BY window(ts, '10 seconds'), k",
        delay="10 seconds",
    ),
)
case(
    "win_sql_to_frame",
    "SQL -> DataFrame, the same windows",
    sql(
        "SELECT window.start AS b, k, sum(v) AS s FROM events GROUP BY window(ts, '10 seconds'), k",
        delay="10 seconds",
    ),
    lambda p: grouped(p.marked(), [TEN, "k"], "sum(v) s").select(
        F.col("w.start").alias("b"), "k", "s"
    ),
    mode="append",
)
case(
    "wm_delay_and_filter_changed",
    "delay 10 s -> 1 minute, and where v > 1",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s", delay="1 minute", before="v > 1"),
    mode="append",
)
case(
    "mode_append_to_complete_window",
    "append -> complete",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s"),
    mode="append",
    new_mode="complete",
    first=CLOSED,
)
