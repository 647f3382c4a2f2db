"""Operators with arbitrary state as a whole: keys, modes, output, replacement, settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from recorder.case import SIDES_FIRST, SIDES_THEN, Build, Place, case
from recorder.shapes import windowed

from definitions.functions import counted
from definitions.state_variables import (
    AT_ONCE,
    AVRO,
    QUIET,
    ROCKSDB,
    N,
    changed,
    kept,
    listed,
    value,
)

_S = "spark.sql.streaming."
SEEN = {"files_tell": True}
# Modes, output and keys.
changed(
    "two_append_to_update",
    "Append -> Update",
    kept(N, mode="Append"),
    kept(N),
    mode="append",
    new_mode="update",
    **SEEN,
)
changed(
    "two_output_column_added", "k, s -> k, s, n", kept(N), kept(N, out="k string, s string, n int")
)
changed("two_output_column_renamed", "s -> s2", kept(N), kept(N, out="k string, s2 string"))
changed("two_key_type", "by k string -> by v int", kept(N), kept(N, key="v"), **SEEN)
changed("two_key_added", "by k -> by k, d", kept(N), kept(N, key=("k", "d")), **SEEN)
changed(
    "two_keys_exchanged",
    "by k, d -> by d, k",
    kept(N, key=("k", "d")),
    kept(N, key=("d", "k")),
    **SEEN,
)
changed(
    "two_key_renamed",
    "by k -> by k under the name r",
    kept(N),
    kept(N, key="r", source=lambda p: p.read().withColumnRenamed("k", "r")),
)
changed(
    "two_key_computed",
    "by k -> by upper(k)",
    kept(N),
    kept(N, source=lambda p: p.read().selectExpr("upper(k) k", "v", "d", "ts")),
    **SEEN,
)
changed(
    "two_key_sure",
    "by k -> by coalesce(k, '')",
    kept(N),
    kept(N, source=lambda p: p.read().selectExpr("coalesce(k, '') k", "v", "d", "ts")),
    **SEEN,
)
changed(
    "two_filter_before",
    "all rows -> v > 1",
    kept(N),
    kept(N, source=lambda p: p.read().where("v > 1")),
    **SEEN,
)
# State that is there at the beginning.
BEGIN = (("a", 100), ("z", 5))
changed("two_initial_added", "none -> initial state", kept(N), kept(N, initial=BEGIN))
changed("two_initial_removed", "initial state -> none", kept(N, initial=BEGIN), kept(N))
changed(
    "two_initial_other_rows",
    "initial a, z -> initial a, y",
    kept(value("n", "v long"), initial=BEGIN),
    kept(value("n", "v long"), initial=(("a", 7), ("y", 5))),
)
# Code.
changed("two_body", "counts -> ten times", kept(N), kept(N, factor=10))


class Scaled(StatefulProcessor):
    """A processor whose factor is given to it when it is made."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def init(self, handle: Any) -> None:
        self.count = handle.getValueState("n", "c long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        before = self.count.get()[0] if self.count.exists() else 0
        n = int(before) + self.factor * sum(len(r) for r in rows)
        self.count.update((n,))
        yield pd.DataFrame({"k": [key[0]], "c": [n]})

    def close(self) -> None:
        pass


def scaled(factor: int) -> Build:
    return lambda p: (
        p.read()
        .groupBy("k")
        .transformWithStateInPandas(Scaled(factor), "k string, c long", "Update", "None")
    )


changed("two_argument", "Scaled(1) -> Scaled(10)", scaled(1), scaled(10))
changed("two_unchanged", "nothing", kept(N), kept(N))
# Rows for pandas, other operators.
changed("two_pandas_to_rows", "pandas -> rows", kept(N, rows_of="pandas"), kept(N), **SEEN)
changed("two_rows_to_pandas", "rows -> pandas", kept(N), kept(N, rows_of="pandas"), **SEEN)
changed(
    "two_pandas_field_added",
    "pandas: c -> c, d",
    kept(N, rows_of="pandas"),
    kept(value("n", "c long, d string"), rows_of="pandas"),
)
changed(
    "two_pandas_list_added",
    "pandas: n -> n, list m",
    kept(N, rows_of="pandas"),
    kept(N, listed("m"), rows_of="pandas"),
)
changed(
    "two_to_groups", "transformWithState -> applyInPandasWithState", kept(N), counted("k"), **SEEN
)
changed(
    "two_from_groups", "applyInPandasWithState -> transformWithState", counted("k"), kept(N), **SEEN
)
changed(
    "two_to_deduplication",
    "transformWithState -> dropDuplicates",
    kept(N),
    lambda p: p.read().dropDuplicates(["k"]),
    **SEEN,
)
changed("two_to_none", "transformWithState -> none", kept(N), lambda p: p.read(), **SEEN)


def chained(*builds: Any) -> Build:
    """Return operators one above the other; each is given its source."""

    def build(p: Place) -> DataFrame:
        df = p.read()
        for make in builds:
            df = make(lambda _, df=df: df)(p).selectExpr(
                "k", "1 v", "'x' d", "timestamp '2026-01-01' ts"
            )
        return df

    return build


def _first(source: Any) -> Build:
    return kept(N, mode="Append", source=source)


def _second(source: Any) -> Build:
    return kept(value("m"), mode="Append", source=source)


ONE_BY_ONE = {"mode": "append", **SEEN}
changed(
    "two_second_put_above", "one -> two", chained(_first), chained(_first, _second), **ONE_BY_ONE
)
changed(
    "two_exchanged",
    "n below m -> m below n",
    chained(_first, _second),
    chained(_second, _first),
    **ONE_BY_ONE,
)
# Settings.
changed(
    "two_encoding_to_avro",
    "unsaferow -> avro",
    kept(N),
    kept(N),
    new_settings=AVRO,
    files_tell=False,
)
changed(
    "two_encoding_from_avro",
    "avro -> unsaferow",
    kept(N),
    kept(N),
    settings=AVRO,
    new_settings=ROCKSDB,
    files_tell=False,
)
changed("two_provider_hdfs", "RocksDB -> HDFS", kept(N), kept(N), new_settings={}, files_tell=False)
changed(
    "two_schema_version",
    "state schema version 3 -> 2",
    kept(N),
    kept(N),
    new_settings={**ROCKSDB, _S + "transformWithState.stateSchemaVersion": "2"},
    files_tell=False,
)
changed(
    "two_check_off_wider",
    "schema check off, c int -> c long",
    kept(value("n", "c int")),
    kept(N),
    new_settings={**ROCKSDB, _S + "stateStore.stateSchemaCheck": "false"},
)
changed(
    "two_check_off_kind",
    "schema check off, value n -> list n",
    kept(N),
    kept(listed("n")),
    new_settings={**ROCKSDB, _S + "stateStore.stateSchemaCheck": "false"},
)
changed(
    "two_schema_files_limit_alone",
    "at most one schema file",
    kept(N),
    kept(N),
    new_settings={**ROCKSDB, _S + "stateStore.maxNumStateSchemaFiles": "1"},
    **SEEN,
)
changed(
    "two_row_checksum",
    "row checksums on",
    kept(N),
    kept(N),
    new_settings={**ROCKSDB, _S + "stateStore.rowChecksum.enabled": "true"},
    **SEEN,
)
# applyInPandasWithState.
NO_WAIT, BY_CLOCK, BY_EVENT = (
    GroupStateTimeout.NoTimeout,
    GroupStateTimeout.ProcessingTimeTimeout,
    GroupStateTimeout.EventTimeTimeout,
)


@cache
def waiting(clock: Any, *, sets: bool = True, state: str = "c long", field: int = 0) -> Build:
    """Count rows; a group that hears nothing is told as gone."""

    def build(p: Place) -> DataFrame:
        def body(
            keys: Any, frames: Iterator[pd.DataFrame], state: GroupState
        ) -> Iterator[pd.DataFrame]:
            if state.hasTimedOut:
                state.remove()
                yield pd.DataFrame({"k": [keys[0]], "c": [-1]})
                return
            rows = pd.concat(list(frames))
            n = int(state.get[field] if state.exists else 0) + len(rows)
            width = len(names)
            state.update(tuple(n if i == field else 0 for i in range(width)))
            if sets and clock == BY_EVENT:
                state.setTimeoutTimestamp(int(rows["ts"].max().timestamp() * 1000) + 12_000)
            if sets and clock == BY_CLOCK:
                state.setTimeoutDuration(3_600_000)
            yield pd.DataFrame({"k": [keys[0]], "c": [n]})

        names = state.split(", ")
        grouped = p.marked().groupBy("k")
        return grouped.applyInPandasWithState(body, "k string, c long", state, "update", clock)

    return build


def groups(name: str, change: str, old: Build, new: Build, **facts: Any) -> None:
    """Register a restart of a function over groups with state."""
    case(
        name,
        change,
        old,
        new,
        **{
            "settings": QUIET,
            "first": AT_ONCE,
            "telling": True,
            **facts,
        },
    )


groups("gws_none_to_processing", "no timeout -> by clock", waiting(NO_WAIT), waiting(BY_CLOCK))
groups("gws_none_to_event", "no timeout -> by event time", waiting(NO_WAIT), waiting(BY_EVENT))
groups("gws_event_to_none", "by event time -> no timeout", waiting(BY_EVENT), waiting(NO_WAIT))
groups("gws_processing_to_event", "by clock -> by event time", waiting(BY_CLOCK), waiting(BY_EVENT))
groups("gws_event_to_processing", "by event time -> by clock", waiting(BY_EVENT), waiting(BY_CLOCK))
groups(
    "gws_state_field_added",
    "state c -> c, d",
    waiting(NO_WAIT),
    waiting(NO_WAIT, state="c long, d long"),
)
groups(
    "gws_state_field_renamed",
    "state c -> n",
    waiting(NO_WAIT),
    waiting(NO_WAIT, state="n long"),
    files_tell=False,
)
groups(
    "gws_state_exchanged",
    "state c, d -> d, c",
    waiting(NO_WAIT, state="c long, d long"),
    waiting(NO_WAIT, state="d long, c long", field=1),
    files_tell=False,
)
groups(
    "gws_state_to_double",
    "state c long -> c double",
    waiting(NO_WAIT),
    waiting(NO_WAIT, state="c double"),
)
groups(
    "gws_format_version",
    "flatMapGroupsWithState format 2 -> 1",
    waiting(NO_WAIT),
    waiting(NO_WAIT),
    new_settings={**QUIET, _S + "flatMapGroupsWithState.stateFormatVersion": "1"},
)
groups(
    "gws_provider",
    "HDFS -> RocksDB",
    waiting(NO_WAIT),
    waiting(NO_WAIT),
    new_settings={**QUIET, **ROCKSDB},
)
groups("gws_two_keys", "by k -> by k, d", counted("k"), counted(["k", "d"]))


# State formats of other operators.
SIDES_ONCE = {name: [[r for rows in files for r in rows]] for name, files in SIDES_FIRST.items()}


def joined(p: Place) -> DataFrame:
    left, right = (p.marked(name).withColumnRenamed("ts", "t" + name) for name in ("src", "src2"))
    other = right.selectExpr("k", "v w", "tsrc2")
    within = "tsrc2 between tsrc - interval 10 seconds and tsrc + interval 10 seconds"
    return left.join(other, "k").where(within).select("k", "v", "w")


def join_format(name: str, change: str, old: str | None, new: str | None, **more: str) -> None:
    """Register a restart of a join under other state formats; None leaves the default."""
    key = _S + "join.stateFormatVersion"
    of = [{**ROCKSDB, **more, **({key: v} if v else {})} for v in (old, new)]
    facts = {"mode": "append", "first": SIDES_ONCE, "then": SIDES_THEN}
    case(name, change, joined, joined, settings=of[0], new_settings=of[1], **facts)


V4 = {_S + "join.stateFormatV4.enabled": "true"}
join_format("jsf_2_to_3", "join state format 2 -> 3", None, "3")
join_format("jsf_3_to_2", "join state format 3 -> 2", "3", "2")
join_format("jsf_2_to_4", "join state format 2 -> 4", None, "4", **V4)
join_format("jsf_4_to_2", "join state format 4 -> 2", "4", "2", **V4)
join_format("jsf_1_to_2", "join state format 1 -> 2", "1", "2")


def jsf_settings(name: str, change: str, key: str, value: str) -> None:
    """Register a restart of a join with one more setting."""
    facts = {"mode": "append", "first": SIDES_ONCE, "then": SIDES_THEN}
    new = {**ROCKSDB, _S + key: value}
    case(name, change, joined, joined, settings=ROCKSDB, new_settings=new, **facts)


jsf_settings(
    "jsf_skip_nulls",
    "skip nulls in state",
    "stateStore.skipNullsForStreamStreamJoins.enabled",
    "true",
)
jsf_settings("jsf_compression", "state codec zstd", "stateStore.compression.codec", "zstd")
jsf_settings(
    "jsf_rocksdb_format", "RocksDB table format 5 -> 4", "stateStore.rocksdb.formatVersion", "4"
)
jsf_settings(
    "jsf_format_validation_off",
    "no row format check",
    "stateStore.formatValidation.enabled",
    "false",
)
jsf_settings("jsf_unload", "unload stores on commit", "stateStore.unloadOnCommit", "true")
jsf_settings(
    "jsf_row_counts_off", "no row counts", "stateStore.rocksdb.trackTotalNumberOfRows", "false"
)
SESSION = windowed("session_window(ts, '5 seconds')", "k", "count(*) c", "sum(v) s")
case(
    "ssf_version",
    "session window state format 1 -> 2",
    SESSION,
    SESSION,
    mode="append",
    settings=ROCKSDB,
    new_settings={**ROCKSDB, _S + "sessionWindow.stateFormatVersion": "2"},
)
