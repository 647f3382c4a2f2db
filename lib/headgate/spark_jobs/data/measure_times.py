"""Find the event times of the records in each part of a topic, without keeping any record.

    measure_times.py --entry-point MODULE:FUNCTION --offsets '{"orders": {"0": [0, 90000]}}'

The function is called over `spark.read`. A task of Spark reads one range of offsets, so the first
and last event time of a task are those of its range, as long as nothing is shuffled before the
watermark. The event time is the column of the function's watermark; without one, `--time-column`.

The result's facts are `slices`, a list of `{"topic", "partition", "from", "to", "first", "last"}`
with times in Unix milliseconds (null: no record with an event time), `column`, and `is_exact`:
False if rows are shuffled first, then each partition has the times of the whole topic. `columns`
are the result's, `types` are theirs, `result_time` is the one with a result's time, null if there
is no single one. `is_event_time`: whether that one is a watermark's column, or the start of its
window, so that results of a range come from records of this range; without a watermark it is what
is measured, and True. `delay_ms` is the longest time that a watermark waits, 0 without one.
`code` has the SHA-256 of the files that the function was imported from: with `--import-only`, it is
the only fact.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.offset_ranges import OffsetRanges, read_ranges
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.spark_jobs.spark_reflection import companion, elements

# Each slice is a task with a Kafka consumer of its own, which takes longer than few records.
_SLICES, _RECORDS_EACH = 64, 250
_TIME = "headgate_time"


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Find the event times in a range of records.")
    add = parser.add_argument
    add("--entry-point", required=True, metavar="MODULE:FUNCTION")
    add("--query", help="Name of the query, if the function starts several.")
    add("--offsets", required=True, help="Offset ranges to measure, as JSON or @FILE.")
    add(
        "--import-only",
        action="store_true",
        help="Import the function and report its code. Don't start Spark.",
    )
    add("--time-column", help="Column with the event time, if the query has no watermark.")
    slices = f"one per {_RECORDS_EACH} records, at most {_SLICES}"
    add(
        "--slices",
        type=int,
        help=f"Number of slices of the ranges, one Spark task each (default: {slices}).",
    )
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query as a batch and measure the rows before its watermarks."""
    began = time.monotonic()
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.own_process import check_importable, loader, own_code

    ranges = read_ranges(given.offsets)
    check_importable(given.entry_point)
    if given.import_only:
        load = loader(given.entry_point)
        called(lambda: lambda _spark: load(), None, given.entry_point)
        return Ended("done", {"code": own_code()})
    from pyspark.sql import SparkSession

    from headgate.spark_jobs.data.replay_query import (
        built_as_batch,
        reporting,
        tasks_done,
    )
    from headgate.spark_jobs.data.result_event_time import is_event_time

    spark = SparkSession.builder.appName("headgate-measure").getOrCreate()
    startup = time.monotonic() - began
    given.input_from = given.input_until = None
    most = given.slices or min(_SLICES, ranges.records // _RECORDS_EACH + 1)
    built, query = built_as_batch(spark, given, ranges, slices=most)
    rows = getattr(query, "rows", query)
    named = _result_time(rows, given.time_column, [w.column for w in built.watermarks])
    measured = [(w.rows, w.column) for w in built.watermarks] or [_timed(rows, named)]
    slices: list[dict[str, Any]] = []
    is_exact = True
    with reporting(report, lambda: tasks_done(spark), "tasks"):
        for before, column in measured:
            found, exact = _measure(before, column, ranges)
            slices += found
            is_exact = is_exact and exact
    return Ended(
        "done",
        {
            "slices": slices,
            "column": named if measured[0][1] == _TIME else _names(measured),
            "result_time": named,
            "is_event_time": named is None
            or not built.watermarks
            or is_event_time(rows, named, built.watermarks),
            "columns": list(rows.columns),
            "types": [kind for _, kind in rows.dtypes],
            "is_exact": is_exact,
            "delay_ms": max((_delay_ms(spark, w.delay) for w in built.watermarks), default=0),
            "code": own_code(),
            "seconds": round(time.monotonic() - began, 3),
            "startup_seconds": round(startup, 3),
        },
    )


def _delay_ms(spark: Any, delay: str) -> int:
    """Return the delay of a watermark as Spark reads it, in milliseconds."""
    types = spark._jvm.org.apache.spark.sql.catalyst
    interval = types.util.IntervalUtils.fromIntervalString(delay)
    name = "org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark"
    return int(companion(spark._jvm, name).getDelayMs(interval))


def _names(measured: list[tuple[Any, str]]) -> str:
    return ", ".join(dict.fromkeys(column for _, column in measured))


def _result_time(rows: Any, named: str | None, watermarks: list[str]) -> str | None:
    """Return the column with a result's time, None if there is no single one."""
    from headgate.spark_jobs.data.replay_query import found_time, result_time

    if named is not None:
        result_time(rows, named, watermarks)
        return named
    return found_time(rows, watermarks)


def _timed(rows: Any, named: str | None) -> tuple[Any, str]:
    """Return the rows of a query without a watermark, and the column with their time."""
    from headgate.spark_jobs.data.replay_query import result_time

    if named is None:
        raise CaptureError(
            "the query has no watermark, so its event time is unknown. Name the column with "
            f"--time-column (for JSON: value.FIELD). Columns: {', '.join(rows.columns)}"
        )
    return rows.select(result_time(rows, named, []).alias(_TIME)), _TIME


def _measure(rows: Any, column: str, ranges: OffsetRanges) -> tuple[list[dict[str, Any]], bool]:
    """Return the slices of the sources of `rows`, and whether each has its own times."""
    from pyspark.sql import functions as f

    at = f.unix_millis(f.col(column).cast("timestamp"))
    times = rows.select(f.spark_partition_id().alias("task"), at.alias("at"))
    found = times.groupBy("task").agg(f.min("at"), f.max("at")).collect()
    by_task = {row[0]: (row[1], row[2]) for row in found}
    parts = _input_ranges(rows)
    if parts is not None and all(task < len(parts) for task in by_task):
        return [
            {
                **part,
                "first": by_task.get(n, (None, None))[0],
                "last": by_task.get(n, (None, None))[1],
            }
            for n, part in enumerate(parts)
        ], True
    first = min((low for low, _ in by_task.values() if low is not None), default=None)
    last = max((high for _, high in by_task.values() if high is not None), default=None)
    return [
        {"topic": t, "partition": p, "from": begin, "to": end, "first": first, "last": last}
        for t, numbers in ranges.parts.items()
        for p, (begin, end) in numbers.items()
    ], False


def _input_ranges(rows: Any) -> list[dict[str, Any]] | None:
    """Return the offsets that each task reads, in order; None if tasks don't match ranges."""
    plan = rows._jdf.queryExecution().executedPlan()
    text = str(plan.toString())
    shuffles = text.count("Exchange") - text.count("BroadcastExchange")
    if shuffles or "AdaptiveSparkPlan" in text or "Union" in text or "Coalesce" in text:
        return None
    scans = [s for s in elements(plan.collectLeaves()) if "KafkaRelation" in str(s.toString())]
    if len(scans) != 1:
        return None
    # Spark reads a batch of Kafka by an RDD; its partitions are those of the rows.
    parts = [part.offsetRange() for part in scans[0].rdd().partitions()]
    return [
        {
            "topic": str(part.topic()),
            "partition": int(part.partition()),
            "from": int(part.fromOffset()),
            "to": int(part.untilOffset()),
        }
        for part in parts
    ]


if __name__ == "__main__":
    main()
