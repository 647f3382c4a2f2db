"""Run one query of the demo in a Spark driver of its own; SIGTERM stops it between two batches.

`python -m headgate.local.demo.run_query MODULE:FUNCTION --name N --checkpoint DIR --folder DIR`.
`folder` gets `evidence/` (see `evidence.py`), `watch/` (what `headgate.watch` reports), and `ready`
once the first batch is done.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

import headgate
from headgate.gateway.process.jars import (
    broker_class_path,
    jars_folder,
    spark_jars,
    streams_class_path,
)
from headgate.gateway.process.stop_signals import when_asked_to_end
from headgate.local.demo.evidence import EvidenceFolder
from headgate.local.demo.pipelines import SPARK_SETTINGS

__all__ = ["broker_class_path", "jars_folder", "spark_jars", "streams_class_path"]


EVIDENCE, READY, WATCH = "evidence", "ready", "watch"
_MOST_WATCH = 64 << 20
_SCRATCH = "tmp"
_POLL = 0.3
_BETWEEN_BATCHES = 12.0


def main() -> None:
    """Start the query and stay until it ends or is asked to; exit 1 when it failed."""
    given = arguments()
    ended = threading.Event()
    when_asked_to_end(ended.set, signal.SIGTERM)
    spark = session(given.name, given.folder)
    headgate.watch(spark, given.folder / WATCH, most_bytes=_MOST_WATCH)
    try:
        writer = entry_point(given.entry_point)(spark).queryName(given.name)
        query = writer.option("checkpointLocation", given.checkpoint).start()
        # Recorded while the first batch runs already; it takes seconds.
        evidence = EvidenceFolder(given.folder / EVIDENCE, given.folder / _SCRATCH)
        evidence.of_session(writer)
        watch(query, evidence, given.folder / READY, ended)
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
    temporary = folder / _SCRATCH
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    java = (
        f'-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData "-Djava.io.tmpdir={temporary}"'
    )
    settings = {
        "spark.jars": ",".join(map(str, spark_jars())),
        **SPARK_SETTINGS,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java,
        "spark.local.dir": str(temporary),
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


def watch(
    query: StreamingQuery, evidence: EvidenceFolder, ready: Path, ended: threading.Event
) -> None:
    """Write the query's evidence until it ends or is to end; raises what ended it."""
    seen = None
    while not ended.wait(_POLL):
        if not query.isActive:
            query.awaitTermination()
            return
        progress = query.lastProgress
        if progress is not None and progress.timestamp != seen:
            seen = progress.timestamp
            evidence.of_batch(query, progress)
            ready.touch()


def stop(query: StreamingQuery) -> None:
    """Stop the query, between two batches where that comes soon: then nothing is written twice."""
    deadline = time.monotonic() + _BETWEEN_BATCHES
    while query.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.05)
    query.stop()


def cause(error: PySparkException) -> str:
    """Return the first line of the innermost cause; `STREAM_FAILED` by itself says nothing."""
    beneath: BaseException = error
    while beneath.__cause__ is not None:
        beneath = beneath.__cause__
    return str(beneath).splitlines()[0]


if __name__ == "__main__":
    main()
