"""Run one query of the demo in a Spark driver of its own; SIGTERM stops it between two batches.

`python -m headgate.local.demo.run_query MODULE:FUNCTION --name N --checkpoint DIR --folder DIR`.
`folder` gets `ready` once the first batch is done, `explain.txt` of the first batch in which every
source had rows (an empty one hides its sources), and `progress.json` of the newest batch.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from headgate.jobs.recorded_query import Place, record
from headgate.jobs.unread_sources import EmptyFolders
from headgate.jobs.unstarted import Unstarted
from headgate.jobs.used_functions import watch_functions
from headgate.local.jars import spark_jars

READY = "ready"
_POLL = 0.3
_BETWEEN_BATCHES = 12.0


def main() -> None:
    """Start the query and stay until it ends or is asked to; exit 1 when it failed."""
    given = arguments()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    given.folder.mkdir(parents=True, exist_ok=True)
    spark = session(given.name, given.folder)
    try:
        writer = entry_point(given.entry_point)(spark)
        writer = writer.queryName(given.name)
        capture(writer, given.folder)
        query = writer.option("checkpointLocation", given.checkpoint).start()
        watch(query, given.folder, ended)
        stop(query)
    except PySparkException as error:
        sys.exit(f"{given.name} failed: {cause(error)}")
    finally:
        spark.stop()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("entry_point")
    parser.add_argument("--name", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    return parser.parse_args()


def entry_point(text: str) -> Any:
    """Return the function that `module:function` names."""
    module, _, function = text.partition(":")
    return getattr(importlib.import_module(module), function)


def session(name: str, folder: Path) -> SparkSession:
    """Return a small session, on loopback, that keeps its files below `folder`."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    java = (
        f'-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData "-Djava.io.tmpdir={temporary}"'
    )
    settings = {
        "spark.jars": ",".join(map(str, spark_jars())),
        "spark.driver.memory": "640m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java,
        "spark.local.dir": str(temporary),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(temporary / "warehouse"),
        # So that the plans that are kept as evidence are whole.
        "spark.sql.debug.maxToStringFields": "200",
        "spark.sql.maxMetadataStringLength": "2000",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[1]").appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def capture(writer: DataStreamWriter, folder: Path) -> None:
    """Keep what the session knows of the query in `captured/`; its failure is only told."""
    scratch = folder / "tmp"
    partial, captured = scratch / "captured", folder / "captured"
    for left in (partial, scratch / "checkpoint"):
        shutil.rmtree(left, ignore_errors=True)
    partial.mkdir()
    try:
        unread = EmptyFolders(scratch / "unread")
        query = Unstarted(writer)
        record(writer._df, query, watch_functions(), unread, Place(partial, scratch))
    except Exception as error:
        print(f"the query could not be captured: {error}", file=sys.stderr)
        return
    shutil.rmtree(captured, ignore_errors=True)
    partial.rename(captured)


def watch(query: StreamingQuery, folder: Path, ended: threading.Event) -> None:
    """Write what the query tells until it ends or is to end; raises what ended it."""
    seen = None
    explained = False
    while not ended.wait(_POLL):
        if not query.isActive:
            query.awaitTermination()
            return
        progress = query.lastProgress
        if progress is None or progress.timestamp == seen:
            continue
        seen = progress.timestamp
        if not explained and all(s.numInputRows for s in progress.sources):
            explained = write(folder / "explain.txt", explain(query))
        write(folder / "progress.json", progress.json)
        (folder / READY).touch()


def explain(query: StreamingQuery) -> str:
    """Return the plans of the last batch, logical and physical."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        query.explain(extended=True)
    return text.getvalue()


def stop(query: StreamingQuery) -> None:
    """Stop the query, between two batches where that comes soon: then nothing is written twice."""
    deadline = time.monotonic() + _BETWEEN_BATCHES
    while query.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.05)
    query.stop()


def cause(error: PySparkException) -> str:
    """Return the first line of what lies beneath; `STREAM_FAILED` alone says nothing."""
    beneath: BaseException = error
    while beneath.__cause__ is not None:
        beneath = beneath.__cause__
    return str(beneath).splitlines()[0]


def write(path: Path, text: str) -> bool:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.rename(path)
    return True


if __name__ == "__main__":
    main()
