"""Find the keys and windows that late records touch, and which of the old results they change.

    measure_late.py --entry-point MODULE:FUNCTION --offsets '{"orders": {"0": [0, 90000]}}' \\
        --input orders --late-offsets '{"late-orders": {"0": [0, 120]}}' --keys city \\
        --target parquet:/data/totals

The function is called over `spark.read`, with only the late records; its other inputs are whole.

The result's facts are `late`, `repeated`, `in_input` and `new` (records), `keys` and `pairs` (of
key and window), `sample` (of pairs), `columns` (by which results are replaced), `time` (the one
with a result's time, null if there is none), `first` and `last` (event times of the late records,
in Unix milliseconds; null: the query has no watermark, or none of the columns is its window),
`rows`, `touched_rows`, `files` and `touched_files` with `bytes` and `touched_bytes` (of the
target; a table has no files), `types` (of the result's columns), `nulls` (columns of a table in
which a touched key has no value), `assumed` (sentences), `code`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.late_records import (
    MOST_SENT,
    LateRecords,
    add_arguments,
    read_late,
)
from headgate.spark_jobs.data.late.target_folder import TargetFolder, read_folder
from headgate.spark_jobs.data.late.target_table import TargetTable, read_table
from headgate.spark_jobs.data.offset_ranges import OffsetRanges, read_ranges
from headgate.spark_jobs.data.output_address import JDBC
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.text.secrets import mask_json

# So many keys are shown, and so many characters of each of their values.
_SAMPLE, _MOST_SHOWN = 5, 60


def main() -> None:
    """Run the program."""
    run(common_parser("Find the keys whose results change because of late records."), work)


def common_parser(about: str) -> argparse.ArgumentParser:
    """Return the options of a program over late records."""
    parser = argparse.ArgumentParser(description=about)
    add = parser.add_argument
    add("--entry-point", required=True, metavar="MODULE:FUNCTION")
    add("--query", help="Name of the query, if the function starts several.")
    add("--offsets", required=True, help="Offset ranges of the inputs, as JSON or @FILE.")
    add("--keys", required=True, help="Key columns of a result, separated by commas.")
    add(
        "--time-column",
        help="Column with the event time or window of a result (default: the window column).",
    )
    add("--target", required=True, help="Old results: FORMAT:PATH or jdbc:NAME.TABLE.")
    add(
        "--input-from",
        metavar="TIME",
        help="Process only input records with an event time at or after TIME.",
    )
    add(
        "--input-until",
        metavar="TIME",
        help="Process only input records with an event time before TIME.",
    )
    add_arguments(parser)
    return parser


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query over the late records and measure their keys."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable, own_code

    late, target = read_late(given), read_target(given.target)
    ranges = read_ranges(given.offsets)
    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    from headgate.spark_jobs.data.replay_query import reporting, tasks_done

    spark = SparkSession.builder.appName("headgate-late").getOrCreate()
    startup = time.monotonic() - began
    with reporting(report, lambda: tasks_done(spark), "tasks"):
        touch = built_touch(spark, given, ranges, late)
        target.check(touch.rows)
        # The keys alone leave out what they don't need: here a function meets each late record.
        touch.rows._jdf.queryExecution().toRdd().count()
        facts = {**late.counted(), **touch.facts(), **target.facts(touch)}
    return Ended(
        "done",
        {
            **facts,
            "code": own_code(),
            "seconds": round(time.monotonic() - began, 3),
            "startup_seconds": round(startup, 3),
        },
    )


class Touch:
    """What late records touch: the keys, and the columns of the result that are the key.

    `rows` are the results of only the late records. Each row with one of the keys meets `near`.
    """

    def __init__(self, built: Any, rows: Any, keys: Sequence[str], time_column: str | None) -> None:
        from headgate.spark_jobs.data.late.touched_keys import (
            check_keys,
            key_bounds,
            key_columns,
            touched_keys,
        )

        self.built, self.rows = built, rows
        names = key_columns(rows, keys)
        self.time = _time_column(rows, time_column)
        self.columns = list(dict.fromkeys([*names, *([self.time] if self.time else [])]))
        self.assumed = check_keys(rows, self.columns)
        self.named = len(names)
        self.keys = touched_keys(rows, self.columns).persist()
        self.pairs, self.near = key_bounds(self.keys, rows.schema, self.columns)

    def sent(self) -> Any:
        """Return the keys, to every executor unless they are too many."""
        from pyspark.sql import functions as f

        return f.broadcast(self.keys) if self.pairs <= MOST_SENT else self.keys

    def facts(self) -> dict[str, Any]:
        """Return what a plan says of it."""
        from pyspark.sql import functions as f

        named = [f"headgate_{n}" for n in range(self.named)]
        first = self.keys.orderBy(*self.keys.columns).limit(_SAMPLE)
        shown = first.select(*(f.col(f"headgate_{n}").cast("string").alias(c)
                               for n, c in enumerate(self.columns)))  # fmt: skip
        return {
            "keys": self.keys.select(*named).distinct().count(),
            "pairs": self.pairs,
            "sample": [_shown(row.asDict()) for row in shown.collect()],
            "columns": self.columns,
            "time": self.time,
            **self._times(),
            "types": dict(self.rows.dtypes),
            "assumed": self.assumed,
        }

    def _times(self) -> dict[str, Any]:
        """Return the first and last event time of the rows before the watermarks.

        Without a window in the key, results of touched keys depend on all other times, too.
        """
        from pyspark.sql import functions as f

        from headgate.spark_jobs.data.late.touched_keys import has_window

        found: list[int] = []
        for mark in self.built.watermarks if has_window(self.rows, self.columns) else ():
            at = f.unix_millis(f.col(mark.column).cast("timestamp"))
            found += [t for t in mark.rows.agg(f.min(at), f.max(at)).collect()[0] if t is not None]
        return {"first": min(found, default=None), "last": max(found, default=None)}


def _shown(row: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return a key without secrets, and long values cut: plans and requests show it."""
    masked: dict[str, str | None] = mask_json(row)
    return {
        name: f"{text[:_MOST_SHOWN]}…" if text is not None and len(text) > _MOST_SHOWN else text
        for name, text in masked.items()
    }


def built_touch(
    spark: Any, given: argparse.Namespace, ranges: OffsetRanges, late: LateRecords
) -> Touch:
    """Call the function over only the late records; return what they touch."""
    from headgate.spark_jobs.block_start import intercept_starts
    from headgate.spark_jobs.data.late.touched_keys import joins_itself
    from headgate.spark_jobs.data.read_as_batch import Built, build_as_batch
    from headgate.spark_jobs.data.replay_query import call_as_batch, within

    intercept_starts()
    built = Built(ranges, within=within(given), rows_of=late.rows_of)
    build_as_batch(built)
    late.is_alone = True
    query = call_as_batch(spark, given, built)
    rows = getattr(query, "rows", query)
    if late.reads == 0:
        raise CaptureError(
            f"--input: the function doesn't read topic {late.input}. Pass an input topic of the "
            "function"
        )
    if joins_itself(rows):
        raise CaptureError(
            f"the query joins {late.input} with itself, so Headgate can't find the affected "
            "keys. Use `headgate plan from-scratch`"
        )
    names = [n.strip() for n in given.keys.split(",") if n.strip()]
    return Touch(built, rows, names, given.time_column)


def _time_column(rows: Any, named: str | None) -> str | None:
    """Return the column with a result's time; None if none is named and there is no window.

    A session window is none: late records make it longer, so the results of all are replaced.
    """
    from headgate.spark_jobs.data.late.touched_keys import SessionKeyError, check_keys, key_columns
    from headgate.spark_jobs.data.replay_query import found_time

    if named is not None:
        return key_columns(rows, [named], "--time-column")[0]
    found = found_time(rows, [])
    try:
        check_keys(rows, [found] if found else [])
    except SessionKeyError:
        return None
    return found


def read_target(text: str) -> TargetFolder | TargetTable:
    """Return the old results that `--target` names; CaptureError if there are none such."""
    return read_table(text) if text.startswith(JDBC) else read_folder(text)


if __name__ == "__main__":
    main()
