"""What a pull request waits for: `headgate gate` over 50 pipelines, 3 of them changed.

The peer compares the same three pairs one by one with `headgate diff`, each pair of functions in
two Sparks of its own, and is given what it needs: which three changed, and the old code beside the
new. So the row shows what the search costs, and what it saves that one Spark a side serves all.
What starts Spark is measured once, because it takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Row, least_of

COMMAND = str(Path(sys.executable).with_name("headgate"))
PIPELINES, CHANGED = 50, 3
MOST_S = 90.0
SHARED = """
from pyspark.sql import functions as F

def sums(spark, name, *columns):
    rows = spark.readStream.schema("k string, v int, w int").json(f"/data/{name}")
    found = rows.groupBy("k").agg(*(F.sum(c).alias(f"s{n}") for n, c in enumerate(columns)))
    return found.writeStream.outputMode("update").format("console")
"""
JOB = """
from jobs.shared import sums

def build(spark):
    return sums(spark, {name!r}, {columns})
"""
TABLE = """
[[pipeline]]
name = "{name}"
engine = "spark"
checkpoint = "/data/checkpoints/{name}"
entry_point = "jobs.{name}:build"
"""


def rows() -> Iterator[Row]:
    """Yield only the rules beside the peer, then the check with its twin runs, and no change."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        clone = Path(folder)
        _repository(clone)
        idle = _gate(clone, "auto")
        (nothing,) = least_of((idle,), 2)
        yield Row(
            subject=f"headgate gate of {PIPELINES} pipelines, none changed",
            ours=nothing,
            goal="under 5 s, no Spark",
            met=nothing < 5,
        )
        _change(clone)
        ours, peer = least_of((_gate(clone, "never"), _pairs(clone)), 1)
        yield Row(
            subject=f"headgate gate of {PIPELINES} pipelines, {CHANGED} changed, only rules",
            ours=ours,
            peer=peer,
            goal=f"under {MOST_S:.0f} s, and no slower than the peer",
            met=ours < MOST_S and ours <= peer,
            peer_is=f"{CHANGED} x headgate diff of the two functions",
        )
        (twins,) = least_of((_gate(clone, "auto"),), 1)
        yield Row(
            subject=f"the same with {CHANGED} twin runs",
            ours=twins,
            goal=f"under {MOST_S:.0f} s",
            met=twins < MOST_S,
        )


def _names() -> list[str]:
    return [f"job{n:02}" for n in range(PIPELINES)]


def _repository(clone: Path) -> None:
    (clone / "jobs").mkdir()
    (clone / "jobs" / "__init__.py").touch()
    (clone / "jobs" / "shared.py").write_text(SHARED)
    for name in _names():
        (clone / "jobs" / f"{name}.py").write_text(JOB.format(name=name, columns="'v', 'w'"))
    tables = "".join(TABLE.format(name=name) for name in _names())
    (clone / "headgate.toml").write_text(tables)
    git = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "base")):
        subprocess.run((*git, *arguments), cwd=clone, check=True)


def _change(clone: Path) -> None:
    """Change three pipelines; the old code stays beside the new for the peer, which git ignores."""
    (clone / ".git" / "info" / "exclude").write_text("*_old.py\n")
    for name in _names()[:CHANGED]:
        job = clone / "jobs" / f"{name}.py"
        job.with_name(f"{name}_old.py").write_text(job.read_text())
        job.write_text(JOB.format(name=name, columns="'w', 'v'"))


def _gate(clone: Path, twin: str) -> Callable[[], None]:
    return lambda: _run(clone, "gate", "--base", "main", "--twin", twin)


def _pairs(clone: Path) -> Callable[[], None]:
    def work() -> None:
        for name in _names()[:CHANGED]:
            sides = ("--before", f"jobs.{name}_old:build", "--after", f"jobs.{name}:build")
            _run(clone, "diff", *sides)

    return work


def _run(clone: Path, command: str, *arguments: str) -> None:
    subprocess.run(
        (COMMAND, command, *arguments, "--fail-on", "none"),
        cwd=clone,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )
