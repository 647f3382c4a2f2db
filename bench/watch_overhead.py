"""What `headgate.watch` costs a query: real micro-batches with and without it, in turns.

One query runs all the time, as fast as it can; the watch is put on and taken off every so many
batches, so that warm-up and noise of the machine hit both alike. The peer is the same query,
unwatched. Spark reports durations in whole milliseconds, so the fastest quarter's mean is compared.

If the unwatched turns differ among themselves by more than the goal, the comparison decides
nothing on this machine, and the row says so.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from harness import Row
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import headgate

TURNS, BATCHES, SKIPPED, WARM_UP = 8, 15, 5, 30
SETTINGS = {
    "spark.driver.memory": "800m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


def rows() -> Iterator[Row]:
    """Yield the fastest and the median batches, and the processor time of the driver's Python."""
    with tempfile.TemporaryDirectory() as home:
        spark = _session(home)
        try:
            yield from _rows(spark, Path(home))
        finally:
            spark.stop()


def _rows(spark: SparkSession, home: Path) -> Iterator[Row]:
    query = _query(spark, home)
    _batches(query, WARM_UP)
    times: dict[bool, list[float]] = {True: [], False: []}
    alone: list[list[float]] = []
    told = 0
    cpu: dict[bool, float] = {True: 0.0, False: 0.0}
    for turn in range(2 * TURNS):
        # Without, with, with, without: what gets faster as it warms up helps neither.
        watched = turn % 4 in (1, 2)
        with headgate.watch(spark, home / "watch") if watched else nullcontext():
            # A watch begins with the plan, once a run: what lasts is measured.
            if watched:
                told += 1
                _await_plans(home, told)
            _batches(query, SKIPPED)
            before = time.process_time()
            found = _batches(query, BATCHES)
            times[watched] += found
            alone += [] if watched else [found]
            cpu[watched] += time.process_time() - before
    query.stop()
    assert list((home / "watch").glob("*.jsonl")), "nothing was watched"
    noise = _noise(alone)
    least, plain = _fastest(times[True]), _fastest(times[False])
    yield Row(
        subject="a micro-batch, mean of the fastest quarter",
        ours=least,
        peer=plain,
        goal=f"under 1 % more; unwatched turns differ by {noise:.1%} among themselves",
        met=least <= plain * 1.01 if noise <= 0.01 else None,
        peer_is="the same query, unwatched",
    )
    middle = statistics.median(times[False])
    yield Row(
        subject="a micro-batch, the median",
        ours=statistics.median(times[True]),
        peer=middle,
        goal="informs: the machine's noise is in it",
        peer_is="the same query, unwatched",
    )
    extra = (cpu[True] - cpu[False]) / (TURNS * BATCHES)
    yield Row(
        subject="processor time of the driver's Python for a batch",
        ours=max(extra, 0.0),
        peer=middle,
        goal="under 1 % of the median batch",
        met=extra <= middle * 0.01,
        peer_is="the median batch",
    )


def _await_plans(home: Path, count: int) -> None:
    """Wait until so many plans were reported, one by each watch so far."""
    deadline = time.monotonic() + 60
    while _plans(home) < count:
        if time.monotonic() > deadline:
            raise SystemExit("no plan was told")
        time.sleep(0.2)


def _plans(home: Path) -> int:
    return sum(f.read_text().count('"event":"plan"') for f in (home / "watch").glob("*.jsonl"))


def _noise(turns: list[list[float]]) -> float:
    """Return by how much every other unwatched turn differs from the rest, as a share."""
    one, other = (_fastest([d for turn in turns[i::2] for d in turn]) for i in (0, 1))
    return abs(one - other) / min(one, other)


def _fastest(durations: list[float]) -> float:
    return statistics.mean(sorted(durations)[: max(len(durations) // 4, 1)])


def _session(home: str) -> SparkSession:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]").appName("headgate-bench")
    builder = builder.config("spark.sql.warehouse.dir", f"{home}/warehouse")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _query(spark: SparkSession, home: Path) -> Any:
    """Start a small stateful query: the smaller the batch, the more a listener shows."""
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1000).load()
    counts = stream.groupBy((f.col("value") % 100).alias("k")).count()
    writer = counts.writeStream.format("noop").outputMode("update").queryName("bench")
    return writer.option("checkpointLocation", str(home / "checkpoint")).start()


def _batches(query: Any, count: int) -> list[float]:
    """Wait for so many more batches; return their durations in seconds."""
    first = query.lastProgress.batchId if query.lastProgress else -1
    while not query.lastProgress or query.lastProgress.batchId < first + count:
        if query.exception() is not None:
            raise SystemExit(str(query.exception()))
        time.sleep(0.5)
    wanted = range(first + 1, first + count + 1)
    found = {p.batchId: p.batchDuration for p in query.recentProgress}
    return [found[number] / 1000 for number in wanted if number in found]
