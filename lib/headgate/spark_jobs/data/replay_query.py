"""Run a streaming function over a range of records, with its result in a new target.

    replay_query.py --entry-point MODULE:FUNCTION --offsets '{"orders": {"0": [120, 480]}}' \\
        --to parquet:/data/april

The function builds its query as always. Its Kafka sources read the given offsets, and its sink is
replaced by the target. It is called over `spark.read`: each row of the result comes once, and no
record is late. A batch that was killed starts again, and overwrites its folder.

With `--failing FILE`, the program first reads all records and writes to FILE at which of them the
function fails. Then it processes all others, as if those had never been there. A program that is
started again with the same code leaves out the records in FILE.

The result's facts are `read` (records of sources), `written` (rows), `failed` (records left out,
with `--failing`), `seconds`, and `startup_seconds` and `processing_seconds`, which are among them.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.json_fields import json_kind
from headgate.spark_jobs.data.offset_ranges import OffsetRanges, read_ranges
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.spark_jobs.data.write_output import Target, read_target

_EVERY_S = 1.0
_ANSWER_S = 10.0


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(
        description="Run a streaming query as a batch over a range of records."
    )
    add = parser.add_argument
    add("--entry-point", required=True, metavar="MODULE:FUNCTION")
    add("--query", help="Name of the query, if the function starts several.")
    add("--offsets", required=True, help="Offset ranges to process, as JSON or @FILE.")
    add("--to", required=True, help="Target: FORMAT:LOCATION, for example parquet:/data/april.")
    add("--columns", help="If --to is a table: its columns, as JSON.")
    add(
        "--run",
        help="If --to is a topic: run id, written to the header headgate.run of each record.",
    )
    add(
        "--time-column",
        help="Column with the event time or window of a result. For a field of JSON in the column "
        "value: value.FIELD.",
    )
    add(
        "--from",
        dest="start",
        metavar="TIME",
        help="Keep only results with an event time at or after TIME. For a window: with a start at "
        "or after TIME.",
    )
    add(
        "--until",
        metavar="TIME",
        help="Keep only results with an event time before TIME. For a window: with a start before "
        "TIME.",
    )
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
    add(
        "--failing",
        type=Path,
        metavar="FILE",
        help="File for records on which the function fails. The results don't include these "
        "records.",
    )
    add(
        "--max-failing",
        type=int,
        default=100,
        help="Maximum number of records on which the function may fail (default 100). If more "
        "records fail, the program stops and writes no results.",
    )
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query as a batch and write its result."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable

    ranges = read_ranges(given.offsets)
    target = read_target(given.to, given.columns)
    check_importable(given.entry_point)
    from headgate.spark_jobs.data.kafka_reading import counting_session

    spark = counting_session("headgate-replay")
    startup = time.monotonic() - began
    counts = _write(spark, given, ranges, target, report)
    seconds = time.monotonic() - began
    return Ended(
        "done",
        {
            **counts,
            "seconds": round(seconds, 3),
            "startup_seconds": round(startup, 3),
            "processing_seconds": round(seconds - startup, 3),
        },
    )


def _write(
    spark: Any, given: argparse.Namespace, ranges: OffsetRanges, target: Target, report: Report
) -> dict[str, int]:
    """Write the rows; return the counts of records and rows."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    from headgate.spark_jobs.data.kafka_reading import KafkaReading, report_reading
    from headgate.spark_jobs.data.write_output import shaped, write_batch

    def rows_of(built: Any, query: Any) -> Any:
        marked = [w.column for w in built.watermarks]
        rows = results_between(getattr(query, "rows", query), given, marked)
        return shaped(rows, target, run=given.run)

    if given.failing is None:
        built, query = built_as_batch(spark, given, ranges)
        counts = {}
    else:
        from headgate.spark_jobs.data.leave_out_failing import built_without_failing

        built, query, failed = built_without_failing(spark, given, ranges, report, rows_of)
        counts = {"failed": failed}
    written = Observation("written")
    rows = rows_of(built, query).observe(written, f.count(f.lit(1)).alias("rows"))
    reading = KafkaReading(spark, ranges)
    with reporting(
        report, lambda: tasks_done(spark), "tasks", lambda: report_reading(report, reading.look())
    ):
        write_batch(rows, target, getattr(query, "options_given", {}))
    report_reading(report, reading.whole())
    read = sum(counted(o) for o in built.counts)
    return {"read": read, "written": counted(written), **counts}


def counted(observation: Any) -> int:
    """Return how many rows were observed; 0 of a source that the query doesn't read after all."""
    found: list[int] = []
    # Spark answers only once the rows have been read: of a source that nothing reads, never.
    thread = threading.Thread(target=lambda: found.append(observation.get["rows"]), daemon=True)
    thread.start()
    thread.join(timeout=_ANSWER_S)
    return found[0] if found else 0


def built_as_batch(
    spark: Any, given: argparse.Namespace, ranges: OffsetRanges, *, slices: int | None = None
) -> tuple[Any, Any]:
    """Call the function over `spark.read`; return what it built, and its writer or DataFrame.

    `slices` is the least number of tasks that read a Kafka source, None: as Spark does.
    """
    from headgate.spark_jobs.block_start import intercept_starts
    from headgate.spark_jobs.data.read_as_batch import Built, build_as_batch

    intercept_starts()
    built = Built(ranges, within=within(given), slices=slices)
    build_as_batch(built)
    return built, call_as_batch(spark, given, built)


def call_as_batch(spark: Any, given: argparse.Namespace, built: Any) -> Any:
    """Call the function once `build_as_batch` is done; return its writer or DataFrame."""
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.data.read_as_batch import chosen_batch
    from headgate.spark_jobs.own_process import loader

    returned = called(loader(given.entry_point), spark, given.entry_point)
    return chosen_batch(returned, built, given.query, given.entry_point)


def forget_call(spark: Any, built: Any) -> None:
    """Forget what a call has built, so that the function can be called once more."""
    from headgate.spark_jobs.spark_reflection import elements

    built.watermarks.clear()
    built.writers.clear()
    # A function that creates a view isn't made to be called twice.
    for view in elements(spark._jsparkSession.sessionState().catalog().listLocalTempViews("*")):
        spark.catalog.dropTempView(str(view.table()))


def within(given: argparse.Namespace) -> Callable[[Any, str], Any]:
    """Return what keeps input whose event time is in the requested range."""

    def limited(rows: Any, column: str) -> Any:
        from pyspark.sql import functions as f

        return _between(rows, f.col(column), given.input_from, given.input_until)

    return limited


def results_between(rows: Any, given: argparse.Namespace, watermarks: Sequence[str]) -> Any:
    """Return the results whose time is in `[from, until)`; all of them without a range."""
    if not given.start and not given.until:
        return rows
    return _between(
        rows, result_time(rows, given.time_column, watermarks), given.start, given.until
    )


def _between(rows: Any, column: Any, start: str | None, until: str | None) -> Any:
    from pyspark.sql import functions as f

    if start:
        rows = rows.where(column >= f.lit(start).cast("timestamp"))
    return rows.where(column < f.lit(until).cast("timestamp")) if until else rows


def result_time(rows: Any, named: str | None, watermarks: Sequence[str]) -> Any:
    """Return the column with a result's time: the named one, its window's start, its event time.

    `value.FIELD` is a field of the JSON in `value`. CaptureError if none is named and no single
    one is found.
    """
    from pyspark.sql import functions as f

    kinds = dict(rows.dtypes)
    if named and named.startswith("value.") and kinds.get("value") in ("string", "binary"):
        field, text = named.removeprefix("value."), f.col("value").cast("string")
        _refuse_number(named, json_kind(rows, field) or "")
        return f.get_json_object(text, f"$.{field}").cast("timestamp")
    if named:
        if named.partition(".")[0] not in kinds:
            raise CaptureError(
                f"--time-column: the result has no column {named}. Its columns: {', '.join(kinds)}"
            )
        kind = kinds.get(named, "")
        _refuse_number(named, kind)
        is_window = kind.startswith(WINDOW)
        return f.col(f"{named}.start" if is_window else named).cast("timestamp")
    if found := found_time(rows, watermarks):
        return result_time(rows, found, watermarks)
    raise CaptureError(
        "the result has no single column with its window or event time. Name the column with "
        f"--time-column (for JSON: value.FIELD). Columns: {', '.join(kinds)}"
    )


def _refuse_number(named: str, kind: str) -> None:
    if kind in _NUMBERS or kind.startswith("decimal"):
        raise CaptureError(
            f"--time-column: {named} is {kind}, so its unit is unknown. Pass a column with a "
            f"timestamp, for example timestamp_millis({named.rpartition('.')[2]})"
        )


def found_time(rows: Any, watermarks: Sequence[str]) -> str | None:
    """Return the only column of the result that is a window, else its only event time."""
    kinds = dict(rows.dtypes)
    windows = [n for n, kind in kinds.items() if kind.startswith(WINDOW)]
    if windows:
        return windows[0] if len(windows) == 1 else None
    events = {n for n in watermarks if kinds.get(n, "").startswith("timestamp")}
    return events.pop() if len(events) == 1 else None


WINDOW = "struct<start:timestamp"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def tasks_done(spark: Any) -> tuple[int, int]:
    """Return how many tasks have ended, and how many there are in the stages so far."""
    from headgate.spark_jobs.data.kafka_reading import stages

    found = stages(spark)
    return sum(int(s.numCompleteTasks()) for s in found), sum(int(s.numTasks()) for s in found)


@contextlib.contextmanager
def reporting(
    report: Report,
    look: Callable[[], tuple[int, int]],
    unit: str,
    more: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Report how much is done of how much, every second, from a thread of its own.

    `more` reports what else is known.
    """
    ended = threading.Event()

    def on_progress() -> None:
        while not ended.wait(_EVERY_S):
            # The session may end meanwhile.
            with contextlib.suppress(Exception):
                done, total = look()
                report.progress(done=done, total=total, unit=unit)
                more()

    thread = threading.Thread(target=on_progress, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=5)


if __name__ == "__main__":
    main()
