"""Two upgrades one after the other on the same checkpoint."""

from __future__ import annotations

from typing import Any

from recorder.case import FIRST, SIDES_FIRST, SIDES_THEN, THEN, Batches, Version, case
from recorder.shapes import by, windowed

from definitions.joins import joined
from definitions.windows import TEN

EARLIER: Batches = {"src": [FIRST["src"][0]]}
MIDDLE: Batches = {"src": [FIRST["src"][1]]}


def steps(name: str, change: str, start: Any, old: Any, new: Any, **facts: Any) -> None:
    """`start` reads the first file, `old` the second, `new` the rest."""
    mode = facts.get("mode", "update")
    version = start if isinstance(start, Version) else Version(start, mode)
    facts = {"earlier": [(version, EARLIER)], "first": MIDDLE, "then": THEN, **facts}
    case(name, change, old, new, **facts)


steps(
    "step_renamed_then_filtered",
    "k, s -> kk, total -> where v > 1",
    by("k", "sum(v) s"),
    by("k kk", "sum(v) total"),
    lambda p: by("k kk", "sum(v) total")(p).where("total > 1"),
)
steps(
    "step_sum_of_int_long_int",
    "sum(int) -> sum(bigint) -> sum(int)",
    by("k", "sum(v) s"),
    by("k", "sum(cast(v as bigint)) s"),
    by("k", "sum(v) s"),
)
steps(
    "step_average_in_two_and_back",
    "avg -> sum(double), count -> avg",
    by("k", "avg(v) a"),
    by("k", "sum(cast(v as double)) s", "count(v) n"),
    by("k", "avg(v) a"),
)
steps(
    "step_watermark_on_off",
    "no watermark -> 10 s -> none, by k",
    by("k", "sum(v) s"),
    lambda p: p.marked().groupBy("k").agg({"v": "sum"}),
    by("k", "sum(v) s"),
)
steps(
    "step_window_twice",
    "10 s -> 10 s, delay 1 minute -> 20 s",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s", delay="1 minute"),
    windowed("window(ts, '20 seconds') w", "k", "sum(v) s", delay="1 minute"),
)
steps(
    "step_partitions_pinned_twice",
    "2 -> 6 -> 3 shuffle partitions",
    by("k", "sum(v) s"),
    Version(by("k", "sum(v) s"), settings={"spark.sql.shuffle.partitions": "6"}),
    Version(by("k", "sum(v) s"), settings={"spark.sql.shuffle.partitions": "3"}),
)
steps(
    "step_key_stricter_then_back",
    "k -> coalesce(k, '-') -> k",
    by("k", "sum(v) s"),
    by("coalesce(k, '-') k", "sum(v) s"),
    by("k", "sum(v) s"),
)
LEFT_EARLY = {"src": [SIDES_FIRST["src"][0]], "src2": [SIDES_FIRST["src2"][0]]}
LEFT_LATER = {"src": [SIDES_FIRST["src"][1]], "src2": [SIDES_FIRST["src2"][1]]}
steps(
    "step_join_left_inner_left",
    "left -> inner -> left join",
    joined("left"),
    joined("inner"),
    joined("left"),
    earlier=[(Version(joined("left"), "append"), LEFT_EARLY)],
    first=LEFT_LATER,
    then=SIDES_THEN,
    mode="append",
)
steps(
    "step_refused_then_other",
    "sum -> (sum, count: refused) -> max",
    by("k", "sum(v) s"),
    by("k", "sum(v) s"),
    by("k", "cast(max(v) as bigint) s"),
    earlier=[
        (Version(by("k", "sum(v) s")), EARLIER),
        (Version(by("k", "sum(v) s", "count(*) n")), MIDDLE),
    ],
    first={},
)
