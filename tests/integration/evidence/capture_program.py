"""Captures every query of `captured_queries` in one session, and runs the stateful ones really.

`python capture_program.py FOLDER` writes `FOLDER/found.json`, and a checkpoint for each query that
was run. It is a program because captures change PySpark for the whole process.
"""

import json
import sys
import time
import traceback
from pathlib import Path

import captured_queries as queries
from pyspark.sql import SparkSession

from headgate.errors import CaptureError
from headgate.spark_jobs import block_sources, block_start, capture_query, user_functions
from headgate.spark_jobs.call_function import called
from headgate.spark_jobs.choose_query import chosen
from headgate.spark_jobs.record_query import RecordFolder, record

ROWS = [
    {"k": "a", "v": 1, "d": 1.5, "ts": "2026-01-01T00:00:00Z"},
    {"k": "a", "v": 1, "d": 1.5, "ts": "2026-01-01T00:00:03Z"},
    {"k": "b", "v": 2, "d": 2.5, "ts": "2026-01-01T00:01:00Z"},
]


def main(folder: Path) -> None:
    spark = capture_query._session("", folder)
    folders = block_sources.EmptyFolders(folder / "unread")
    block_sources.guard_readers(folders)
    started = block_start.intercept_starts()
    used = user_functions.watch_functions()
    found = {}
    for function in (*queries.STATEFUL, *queries.WRONG, queries.refused, queries.unplanned):
        name = function.__name__
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "2")
        SparkSession._instantiatedSession = session
        pieces = folder / name
        pieces.mkdir()
        started.clear()
        try:
            returned = called(lambda f=function: f, session, f"captured_queries:{name}")
            df, query = chosen(returned, started, None, f"captured_queries:{name}")
            record(df, query, used, folders, RecordFolder(pieces, pieces / ".scratch"))
        except CaptureError as error:
            found[name] = str(error)
            continue
        except Exception:
            found[name] = traceback.format_exc()
            continue
        found[name] = json.loads((pieces / "capture.json").read_text())
    give_data(folder / "unread")
    for function in queries.STATEFUL:
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "2")
        run_really(function(session), folder / function.__name__ / "checkpoint")
    (folder / "found.json").write_text(json.dumps(found))


def give_data(unread: Path) -> None:
    """Put rows where the empty folders stand for the paths of the queries."""
    for place in unread.iterdir():
        text = "\n".join(json.dumps(row) for row in ROWS)
        (place / "rows.json").write_text(text)


def run_really(writer, checkpoint: Path) -> None:
    """Start past the interception, and stop after the first batch (timers alone make more)."""
    writer.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer._jwrite.start()
    while query.isActive() and not (checkpoint / "commits" / "0").exists():
        time.sleep(0.05)
    query.stop()


main(Path(sys.argv[1]))
