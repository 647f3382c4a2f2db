"""How long a twin run of one aggregation takes, and how much memory both versions need.

The peer is the bare start of the same query: one Spark that reads two files and ends. A twin run
starts two Sparks, builds each query twice, runs four queries and reads the state.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from harness import Row, least

from headgate.gateway.spark.run_job import Checkout
from headgate.gateway.spark.twin_version import TwinProcess
from headgate.usecases.rehearsal.twin_spark import TwinOptions, run_twin

QUERIES = Checkout((Path(__file__).parents[1] / "tests" / "integration" / "rehearsal",))
PAIR = ("twin_queries:base", "twin_queries:swapped")
COLD, WARM, MOST_GIB = 25.0, 10.0, 2.0
BARE = """
import json, pathlib, sys
from pyspark.sql import SparkSession, functions as F
root = pathlib.Path(sys.argv[1])
(root / "in").mkdir()
for n in range(2):
    rows = ({"k": f"k{i % 40}", "v": i, "w": i, "note": "x"} for i in range(200))
    (root / "in" / f"{n}.json").write_text("".join(json.dumps(r) + chr(10) for r in rows))
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = spark.config("spark.sql.shuffle.partitions", "2").getOrCreate()
rows = spark.readStream.schema("k string, v int, w int, note string")
rows = rows.option("maxFilesPerTrigger", 1).json(str(root / "in")).where("note <> 'test'")
sums = rows.groupBy("k").agg(F.sum("v"), F.sum("w")).writeStream.outputMode("update")
sums = sums.format("noop").option("checkpointLocation", str(root / "ck"))
sums.trigger(availableNow=True).start().awaitTermination()
"""


def rows() -> Iterator[Row]:
    """Yield the first twin run of new processes, a later one, and the memory of both."""
    bare = least(_bare, 1)
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder, _sparks(folder) as both:
        peak = _Peak(both)
        begun = time.perf_counter()
        _twin(both)
        cold = time.perf_counter() - begun
        warm = least(lambda: _twin(both), 2)
        gib = peak.stop()
    started = "bare start of the same query"
    yield _row("twin run, cold", cold, bare, COLD, started)
    yield _row("twin run, warm", warm, bare, WARM, started)
    yield Row(
        subject="memory of both versions",
        ours=gib,
        goal=f"at most {MOST_GIB:g} GiB",
        met=gib <= MOST_GIB,
        unit="GiB",
    )


def _row(subject: str, ours: float, peer: float, goal: float, peer_is: str) -> Row:
    text = f"at most {goal:.0f} s"
    return Row(subject=subject, ours=ours, peer=peer, goal=text, met=ours <= goal, peer_is=peer_is)


@contextlib.contextmanager
def _sparks(folder: str) -> Iterator[tuple[TwinProcess, TwinProcess]]:
    root = Path(folder)
    with TwinProcess(root / "old", QUERIES) as old, TwinProcess(root / "new", QUERIES) as new:
        yield old, new


def _twin(both: tuple[TwinProcess, TwinProcess]) -> None:
    found = run_twin(*PAIR, options=TwinOptions(seconds=240), processes=both)
    assert found.verdict.outcome == "silently_wrong"


def _bare() -> None:
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        command = [sys.executable, "-c", BARE, folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class _Peak:
    """The most memory, in GiB, that the process groups of two versions had at one time."""

    def __init__(self, both: tuple[TwinProcess, TwinProcess]) -> None:
        self._groups = {process.pid for process in both}
        self._most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """End watching and return it."""
        self._ended.set()
        self._thread.join()
        return self._most / 2**30

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self._most = max(self._most, sum(_resident(group) for group in self._groups))


def _resident(group: int) -> int:
    """Return the resident bytes of a process group, shared pages only once for each process."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*"):
        # A process may end meanwhile, and one that has ended has no memory.
        with contextlib.suppress(OSError, ValueError, StopIteration):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                lines = (entry / "status").read_text().splitlines()
                kib = next(line.split()[1] for line in lines if line.startswith("VmRSS"))
                found += int(kib) * 1024
    return found
