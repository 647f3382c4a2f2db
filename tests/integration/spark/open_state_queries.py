"""Small queries with every kind of state, and records that show what is lost with it.

Each query reads phase one, then phase two. Minutes count from FIRST; watermarks wait 15 minutes.
Records from POINT on are what a start from the point reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

from headgate.reprocess.scenarios.shared.state_losses import Holder, Mode

POINT = 5
DELAY = "15 minutes"
# The watermark comes to 25: the windows of a and b are closed, c, d and e have one open each.
# From the point on there are records of b and d, which have earlier ones, and of e.
GROUPED = [
    *(("a", 0.1), ("a", 0.2), ("b", 2.1), ("c", 30.1), ("d", 31.1)),
    *(("b", 2.2), ("d", 31.2), ("e", 40.1)),
]
# A later record for d, one too late for a, and one that closes every window but its own.
GROUPED_LATER = [("d", 31.3), ("a", 0.3), ("z", 120.0)]
REPEATED = [("a", 0.1), ("b", 2.1), ("c", 30.1), ("d", 31.1), ("e", 40.1), ("z", 120.0)]
# m is evicted; q and w are matched; p, u, r wait on the left, s, v, t on the right.
LEFT = [("m", 0.1), ("p", 30.1), ("q", 31.1), ("u", 35.0), ("y", 0.2), ("r", 40.1), ("w", 41.0)]
RIGHT = [("m", 0.2), ("q", 31.2), ("s", 33.0), ("v", 35.0), ("y", 0.1), ("t", 40.2), ("w", 41.1)]
LEFT_LATER = [("s", 34.0), ("t", 41.0), ("zl", 120.0)]
RIGHT_LATER = [("p", 32.0), ("q", 33.0), ("r", 41.0), ("zr", 120.0)]


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query over one topic or two; `frame` gets a stream of `k`, `at` for each.

    `loss` is the row of the table that the plan must take.
    """

    frame: Callable[..., Any]
    loss: tuple[Holder, Mode]
    mode: str = "append"
    one: tuple[list[tuple[str, float]], ...] = (GROUPED,)
    two: tuple[list[tuple[str, float]], ...] = (GROUPED_LATER,)
    settings: tuple[tuple[str, str], ...] = ()


def late(rows):
    return rows.withWatermark("at", DELAY)


def windows(rows):
    return late(rows).groupBy(F.window("at", "1 minute"), "k").count().select("k", "count")


def sessions(rows):
    return late(rows).groupBy(F.session_window("at", "1 minute"), "k").count().select("k", "count")


def moments(rows):
    rows = rows.select("k", F.date_trunc("minute", "at").alias("at"))
    return late(rows).groupBy("at", "k").count().select("k", "count")


def groups(rows):
    return rows.groupBy("k").count()


def joined(how):
    def frame(left, right):
        near = (
            "l.k = r.k AND r.at BETWEEN l.at - interval 10 minutes AND l.at + interval 10 minutes"
        )
        both = late(left).alias("l").join(late(right).alias("r"), F.expr(near), how)
        return both.select("l.k") if how == "left_semi" else both.select("l.k", "r.k")

    return frame


def keys(rows):
    return rows.dropDuplicates(["k"]).select("k")


def keys_in_time(rows):
    return late(rows).dropDuplicates(["k", "at"]).select("k")


def keys_within_watermark(rows):
    return late(rows).dropDuplicatesWithinWatermark(["k"]).select("k")


def limited(rows):
    return rows.limit(3).select("k")


def mapped(rows):
    def count(key, frames, state):
        total = (state.get[0] if state.exists else 0) + sum(map(len, frames))
        state.update((total,))
        yield pd.DataFrame({"k": [key[0]], "n": [total]})

    out, timeout = "k string, n long", GroupStateTimeout.NoTimeout
    return rows.groupBy("k").applyInPandasWithState(count, out, "n long", "update", timeout)


class Counting(StatefulProcessor):
    """Counts by key."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(self, key, rows, timerValues):
        total = (self.count.get()[0] if self.count.exists() else 0) + sum(1 for _ in rows)
        self.count.update((total,))
        yield Row(k=key[0], n=total)

    def close(self):
        pass


def transformed(rows):
    return rows.groupBy("k").transformWithState(Counting(), "k string, n long", "update", "none")


ROCKSDB = (
    (
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    ),
)
APPEND, UPDATE, COMPLETE, ANY = Mode.APPEND, Mode.UPDATE, Mode.COMPLETE, Mode.ANY
OUTER, SEMI = (Holder.OUTER_JOIN, APPEND), (Holder.SEMI_JOIN, ANY)
KEYS, OWN = (Holder.KEYS, ANY), (Holder.OWN, ANY)


def _joins(how: str, loss: tuple[Holder, Mode], mode: str = "append") -> Query:
    one, two = (LEFT, RIGHT), (LEFT_LATER, RIGHT_LATER)
    return Query(frame=joined(how), loss=loss, mode=mode, one=one, two=two)


def _aggregates(frame: Callable[..., Any], holder: Holder, *modes: Mode) -> Iterator[Any]:
    for mode in modes:
        found = Query(frame=frame, loss=(holder, mode), mode=mode.value)
        yield f"{frame.__name__}-{mode}", found


QUERIES = {
    **dict(_aggregates(windows, Holder.WINDOWS, APPEND, UPDATE, COMPLETE)),
    **dict(_aggregates(sessions, Holder.SESSIONS, APPEND, COMPLETE)),
    **dict(_aggregates(moments, Holder.GROUPS, APPEND)),
    **dict(_aggregates(groups, Holder.GROUPS, UPDATE, COMPLETE)),
    "inner-append": _joins("inner", (Holder.INNER_JOIN, ANY)),
    "inner-update": _joins("inner", (Holder.INNER_JOIN, ANY), "update"),
    "left-outer": _joins("left_outer", OUTER),
    "right-outer": _joins("right_outer", OUTER),
    "full-outer": _joins("full_outer", OUTER),
    "left-semi": _joins("left_semi", SEMI),
    "keys-append": Query(frame=keys, loss=KEYS, two=(REPEATED,)),
    "keys-update": Query(frame=keys, loss=KEYS, mode="update", two=(REPEATED,)),
    "keys-in-time": Query(frame=keys_in_time, loss=KEYS, two=(REPEATED,)),
    "keys-within-watermark": Query(frame=keys_within_watermark, loss=KEYS, two=(REPEATED,)),
    "limit": Query(frame=limited, loss=(Holder.LIMIT, ANY), two=(REPEATED,)),
    "map-groups": Query(frame=mapped, loss=OWN, mode="update"),
    "transform": Query(frame=transformed, loss=OWN, mode="update", settings=ROCKSDB),
}
