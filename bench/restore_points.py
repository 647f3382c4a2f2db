"""A restore point of a large checkpoint, and what points cost the query that runs meanwhile.

The 10 GB are sparse files: a link costs the same whatever is in a file, and nothing reads them.
The query is a real one; in every other turn another process makes points of its checkpoint and of
the large one, again and again with a second between: far more often than anybody would. That
process steps back as the worker's thread does. The fastest quarter's mean is compared, as in
`watch_overhead.py`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from harness import Row, least
from pyspark.sql import SparkSession
from watch_overhead import SETTINGS, _batches, _fastest, _noise

from headgate.usecases.context import open_context
from headgate.usecases.restore_points.list_points import list_points
from headgate.usecases.restore_points.make_point import make_point

WRITTEN = Path(__file__).parents[1] / "tests/golden/checkpoints/kafka_source/checkpoint"
GIGABYTES, PARTITIONS, VERSIONS = 10, 200, 10
TURNS = int(os.environ.get("HEADGATE_BENCH_TURNS", "6"))
BATCHES, SKIPPED, WARM_UP = 10, 3, 20
# The conditions of the goal.
SECONDS, DELAY = 5.0, 0.05
PROGRAM = """
import os, sys, time
from headgate.usecases.context import open_context
from headgate.usecases.restore_points.make_point import make_point
os.nice(10)
context = open_context(sys.argv[1])
while True:
    for name in ("query", "large"):
        make_point(context, name)
        print(name, flush=True)
    time.sleep(1)
"""


def rows() -> Iterator[Row]:
    """Yield the point's time beside a full copy's, and a batch's time with and without points."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        home = Path(folder)
        batch = _write(home / "large")
        (home / "headgate.toml").write_text(_toml(home))
        yield from _large(home, batch)
        yield from _delay(home)


def _toml(home: Path) -> str:
    tables = [
        f'[[pipeline]]\nname = "{name}"\nengine = "spark"\ncheckpoint = "{home / name}"'
        for name in ("large", "query")
    ]
    return "\n".join(['[restore_points]\nevery = "1h"\nmax_size = "1000 GB"', *tables])


def _write(checkpoint: Path) -> int:
    """Make the checkpoint with a chain of changes in each partition; return its newest batch."""
    shutil.copytree(WRITTEN, checkpoint)
    newest = max(int(p.name) for p in (checkpoint / "commits").iterdir() if p.name.isdecimal())
    while newest < VERSIONS - 1:
        for log in ("offsets", "commits"):
            shutil.copy(checkpoint / log / str(newest), checkpoint / log / str(newest + 1))
        newest += 1
    size = int(GIGABYTES * 1e9 / PARTITIONS / VERSIONS)
    for partition in range(PARTITIONS):
        folder = checkpoint / "state" / "0" / str(partition)
        folder.mkdir(parents=True)
        for version in range(1, newest + 2):
            with (folder / f"{version}.delta").open("wb") as stream:
                stream.truncate(size)
    os.sync()
    return newest


def _large(home: Path, batch: int) -> Iterator[Row]:
    context = open_context(str(home / "headgate.toml"))
    log, number = home / "large", batch

    def point() -> None:
        nonlocal number
        # The next batch has no new state here: its version is a link to the newest one's.
        for store in (log / "state/0").iterdir():
            os.link(store / f"{number + 1}.delta", store / f"{number + 2}.delta")
        for name in ("offsets", "commits"):
            shutil.copy(log / name / str(number), log / name / str(number + 1))
        number += 1
        begun, used = time.perf_counter(), time.process_time()
        made = make_point(context, "large")
        times.append(time.perf_counter() - begun)
        works.append(time.process_time() - used)
        assert made.batch == number and made.bytes > GIGABYTES * 1e9

    times: list[float] = []
    works: list[float] = []
    least(point, 5)
    held = list_points(context, "large").held_bytes
    assert held < 10e6, f"{held} bytes are held by points alone"
    files = f"{GIGABYTES} GB in {PARTITIONS * VERSIONS} sparse files"
    yield Row(
        subject=f"a restore point, {files}",
        ours=min(times),
        goal=f"under {SECONDS:g} s",
        met=min(times) < SECONDS,
    )
    yield Row(
        subject=f"processor time of a restore point, {files}",
        ours=min(works),
        goal="informs: what it takes where nothing else runs, beside the disk",
    )


def _delay(home: Path) -> Iterator[Row]:
    builder = SparkSession.builder.master("local[1]").config(
        "spark.sql.warehouse.dir", str(home / "warehouse")
    )
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield from _turns(spark, home)
    finally:
        spark.stop()


def _turns(spark: SparkSession, home: Path) -> Iterator[Row]:
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1000).load()
    counts = rate.selectExpr("value % 1000 AS key").groupBy("key").count()
    writer = counts.writeStream.format("noop").outputMode("update")
    query = writer.option("checkpointLocation", str(home / "query")).start()
    _batches(query, WARM_UP)
    times: dict[bool, list[float]] = {True: [], False: []}
    alone: list[list[float]] = []
    for turn in range(2 * TURNS):
        with_points = turn % 4 in (1, 2)
        with _points(home) if with_points else nullcontext():
            _batches(query, SKIPPED)
            found = _batches(query, BATCHES)
        times[with_points] += found
        alone += [] if with_points else [found]
    query.stop()
    context = open_context(str(home / "headgate.toml"))
    made = len(list_points(context, "query").points)
    assert made > TURNS, f"only {made} points were made of the running query"
    noise = _noise(alone)
    ours, plain = _fastest(times[True]), _fastest(times[False])
    yield Row(
        subject="a micro-batch while points are made each second",
        ours=ours,
        peer=plain,
        peer_is="the same query without points; the fastest quarter's mean",
        goal=f"at most 5 % more; turns without points differ by {noise:.1%} among themselves",
        met=ours <= plain * (1 + DELAY) if noise <= DELAY or ours <= plain * (1 + DELAY) else None,
    )
    yield Row(
        subject="the same, the median batch",
        ours=statistics.median(times[True]),
        peer=statistics.median(times[False]),
        peer_is="the same query without points",
        goal="informs: the machine's noise is in it",
    )


@contextmanager
def _points(home: Path) -> Iterator[None]:
    """Make points in a process of its own; it runs when this begins, and has ended at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(home / "headgate.toml")],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        assert process.poll() is None, "the process that makes points has died"
        process.kill()
        process.wait()
