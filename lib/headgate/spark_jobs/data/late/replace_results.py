"""Process the keys that late records touch, and replace the old results of these keys.

    replace_results.py --entry-point MODULE:FUNCTION --offsets '{"orders": {"0": [0, 90000]}}' \\
        --input orders --late-offsets '{"late-orders": {"0": [0, 120]}}' --keys city \\
        --target parquet:/data/totals --to /data/totals-new

The function is called twice over `spark.read`: with only the late records, which gives the keys
they touch, and with all records, of whose results those of the touched keys are kept. The target
isn't changed.

- A folder: `--to` becomes a whole copy of it with the new results. Files without touched keys are
  linked into it.
- A table, `--target jdbc:NAME.TABLE`: the new results are appended to the table `--to`, with the
  columns of `--columns`, and the touched keys to the table `--touched`. Both are
  `jdbc:NAME.TABLE`, and empty. The database then replaces the rows.

The result's facts are `read` (records of inputs), `late`, `repeated`, `in_input`, `new` (records),
`pairs` (touched keys), `written` (their new rows), `seconds` and `startup_seconds`; of a folder
also `replaced` (their old rows), `kept` (other rows of rewritten files), `rewritten` and `linked`
(files).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.late_records import LateRecords, read_late
from headgate.spark_jobs.data.late.measure_late import (
    Touch,
    built_touch,
    common_parser,
    read_target,
)
from headgate.spark_jobs.data.late.target_folder import NewFolder, TargetFolder
from headgate.spark_jobs.data.late.target_table import StagingTables, read_staging
from headgate.spark_jobs.data.offset_ranges import read_ranges
from headgate.spark_jobs.data.report import Ended, Report, run


def main() -> None:
    """Run the program."""
    parser = common_parser("Replace results that late records change.")
    add = parser.add_argument
    add("--to", required=True, help="Path of the new folder, or jdbc:NAME.TABLE.")
    add(
        "--touched",
        metavar="jdbc:NAME.TABLE",
        help="If --to is a table: empty table for the keys whose results change.",
    )
    add("--columns", help="If --to is a table: its columns, as JSON.")
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Process the touched keys and write their new results."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable

    late, target = read_late(given), read_target(given.target)
    to: NewFolder | StagingTables
    if isinstance(target, TargetFolder):
        to = NewFolder(target, Path(given.to))
    else:
        to = read_staging(given.to, given.touched, given.columns)
    ranges = read_ranges(given.offsets)
    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    from headgate.spark_jobs.data.replay_query import reporting, tasks_done

    spark = SparkSession.builder.appName("headgate-late").getOrCreate()
    startup = time.monotonic() - began
    report.progress(
        note="progress is shown in Spark tasks, because Spark reads the input more than once"
    )
    with reporting(report, lambda: tasks_done(spark), "tasks"):
        touch = built_touch(spark, given, ranges, late)
        target.check(touch.rows)
        facts = _replace(spark, given, late, touch, to)
    seconds = time.monotonic() - began
    times = {"seconds": seconds, "startup_seconds": startup}
    times["processing_seconds"] = seconds - startup
    return Ended("done", {**facts, **{name: round(value, 3) for name, value in times.items()}})


def _replace(
    spark: Any,
    given: argparse.Namespace,
    late: LateRecords,
    touch: Touch,
    to: NewFolder | StagingTables,
) -> dict[str, Any]:
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    from headgate.spark_jobs.data.late.touched_keys import same_key
    from headgate.spark_jobs.data.replay_query import counted

    results, sources = _all_results(spark, given, late, touch.built)
    results = results.join(touch.sent(), same_key(touch.columns), "left_semi")
    written = Observation("written")
    more = to.write(results.observe(written, f.count(f.lit(1)).alias("rows")), touch)
    return {
        "read": sum(counted(one) for one in sources),
        **late.counted(),
        "pairs": touch.pairs,
        "written": counted(written),
        **more,
    }


def _all_results(
    spark: Any, given: argparse.Namespace, late: LateRecords, built: Any
) -> tuple[Any, list[Any]]:
    """Call the function over all records; return its results, and the counts of its sources.

    CaptureError if it doesn't read the input again: it would give results of the late records only.
    """
    from headgate.spark_jobs.data.replay_query import call_as_batch, forget_call

    late.is_alone = False
    alone, before = late.reads, len(built.counts)
    forget_call(spark, built)
    query = call_as_batch(spark, given, built)
    if late.reads != 2 * alone:
        raise CaptureError(
            f"{given.entry_point} doesn't read {late.input} on a second call. Build the sources "
            "inside the function, and don't cache them"
        )
    return getattr(query, "rows", query), built.counts[before:]


if __name__ == "__main__":
    main()
