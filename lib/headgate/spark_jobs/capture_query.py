"""The program that calls `module:function(spark)` and records the query that it would start.

It runs in a process of its own. The pieces go into a folder; `.scratch/outcome.json` there says
`{"error": sentence | null}`, and nothing else of the process is to be read. Whatever the function
prints goes to stderr, Spark's own log into `.scratch/spark.log`.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.own_process import check_importable, end, loader, redirect
from headgate.text.secrets import mask_text

# Long enough for any plan: a cut one can't be compared.
_UNCUT = "1000000"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    # A short life: half the time went into the compiler [run].
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.debug.maxToStringFields": _UNCUT,
    "spark.sql.maxMetadataStringLength": _UNCUT,
    # `SELECT ... FROM json.`path`` would read the path for its schema.
    "spark.sql.runSQLOnFiles": "false",
    # Plans name the zone; it shall not depend on where a capture runs, unless the function says so.
    "spark.sql.session.timeZone": "UTC",
}


def main() -> None:
    """Run one capture; the exit code is 0 also where it did not work out."""
    options = _options()
    into = Path(options.into)
    scratch = into / ".scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    redirect(scratch / "spark.log")
    try:
        _capture(options, into, scratch)
        error = None
    except CaptureError as caught:
        error = str(caught)
    except Exception as caught:
        traceback.print_exc(file=sys.stderr)
        reason = f"{type(caught).__name__}: {str(caught).split(chr(10), 1)[0]}"
        error = f"{options.entry_point} ran, but its query could not be recorded: {reason}"
    outcome = {"error": mask_text(error) if error else None}
    (scratch / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    end()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entry_point", help="module:function")
    parser.add_argument("--into", required=True, help="empty folder for the capture")
    parser.add_argument("--jars", default="", help="more jars for Spark, separated by commas")
    parser.add_argument("--query", help="name of the query, if the function starts several")
    return parser.parse_args()


def _capture(options: argparse.Namespace, into: Path, scratch: Path) -> None:
    check_importable(options.entry_point)
    from headgate.spark_jobs import block_sources, block_start, user_functions
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.choose_query import chosen
    from headgate.spark_jobs.record_query import RecordFolder, record, record_settings

    spark = _session(options.jars, scratch)
    folders = block_sources.EmptyFolders(scratch / "unread")
    block_sources.guard_readers(folders)
    started = block_start.intercept_starts()
    used = user_functions.watch_functions()
    before = dict(spark.conf.getAll)
    returned = called(loader(options.entry_point), spark, options.entry_point)
    df, query = chosen(returned, started, options.query, options.entry_point)
    record_settings(df, before, into)
    record(df, query, used, folders, RecordFolder(into, scratch))


def _session(jars: str, scratch: Path) -> Any:
    """Start Spark; where it does not, its log is the place to look into."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("headgate-capture")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
    builder = builder.config("spark.local.dir", str(scratch / "local"))
    return (builder.config("spark.jars", jars) if jars else builder).getOrCreate()


if __name__ == "__main__":
    main()
