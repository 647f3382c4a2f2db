"""Rewind a large checkpoint on a local file system: a copy by links, swapped in, swapped out.

The checkpoint is one that Spark wrote, with 10 GB of state files of real bytes beside it (no holes;
HEADGATE_BENCH_GB says another size, and the row says which it was). The peer copies it whole, or
the part of it that HEADGATE_BENCH_COPY_GB says, if the disk has no space for two of them.

Spark's state reader checks the state before the start; this isn't measured here.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from harness import Row, least

from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.replace import ReplaceCheckpoint, SnapshotCheckpoint
from headgate.reprocess.steps.checkpoint.rewind import CopyToBatch, SwapCheckpoint

WRITTEN = Path(__file__).parents[1] / "tests/golden/checkpoints/kafka_source/checkpoint"
GIGABYTES = float(os.environ.get("HEADGATE_BENCH_GB", "10"))
COPIED = min(GIGABYTES, float(os.environ.get("HEADGATE_BENCH_COPY_GB", GIGABYTES)))
PARTITIONS, VERSIONS = 200, 2
TIMES = 3
_BLOCK = os.urandom(1 << 20)


def rows() -> Iterator[Row]:
    """Yield a start from scratch and a rewind, both with their rollback, beside a full copy."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-", dir=_large_enough()) as folder:
        home = Path(folder)
        checkpoint = home / "checkpoint"
        _write(checkpoint)
        copied = _copied(checkpoint, home / "copy")
        yield _row("snapshot and fresh checkpoint, and back", _scratch(home, checkpoint), copied)
        yield _row("rewind by a batch, and back", _rewound(home, checkpoint), copied)


def _large_enough() -> str | None:
    """Return a folder with disk space for it and the peer's copy: the temporary one, or here."""
    needed = 1.1 * (GIGABYTES + COPIED) * 1e9
    for folder in (tempfile.gettempdir(), str(Path(__file__).parent)):
        if shutil.disk_usage(folder).free > needed:
            return folder
    raise SystemExit(f"no room for {needed / 1e9:.0f} GB: set HEADGATE_BENCH_GB to less")


def _write(checkpoint: Path) -> None:
    """Make the checkpoint, its state spread over the files of so many partitions and versions."""
    shutil.copytree(WRITTEN, checkpoint)
    blocks = int(GIGABYTES * 1e9 / PARTITIONS / VERSIONS / len(_BLOCK)) + 1
    for partition in range(PARTITIONS):
        folder = checkpoint / "state" / "0" / str(partition)
        folder.mkdir(parents=True)
        for version in range(1, VERSIONS + 1):
            with (folder / f"{version}.delta").open("wb") as stream:
                for _ in range(blocks):
                    stream.write(_BLOCK)
    os.sync()


def _copied(checkpoint: Path, to: Path) -> float:
    """Return how long the peer's copy takes that is on disk at its end, in seconds."""
    left_out = {str(n) for n in range(round(PARTITIONS * COPIED / GIGABYTES), PARTITIONS)}

    def others(folder: str, names: list[str]) -> set[str]:
        return left_out & set(names) if folder.endswith("/state/0") else set()

    def copy() -> None:
        shutil.copytree(checkpoint, to, ignore=others)
        os.sync()
        shutil.rmtree(to)

    return least(copy, 1)


def _row(what: str, work: Callable[[], object], copied: float) -> Row:
    best = least(work, TIMES)
    return Row(
        subject=f"{what}, {GIGABYTES:g} GB",
        ours=best,
        peer=copied,
        peer_is="a full copy" if COPIED == GIGABYTES else f"a copy of {COPIED:g} GB of it",
        goal="seconds, no full copy",
        met=best < 10 and best < copied / 2,
    )


def _effects(home: Path, checkpoint: Path, run: str) -> LiveApplier:
    pipeline = Pipeline(
        name="bench",
        engine=Engine.SPARK,
        checkpoint=str(checkpoint),
        commands=Commands(status="exit 3"),
    )
    registry = Registry(path=str(home / "headgate.toml"), pipelines=(pipeline,))
    return LiveApplier(
        RunContext(
            registry=registry,
            home=home / ".headgate",
            run=run,
        )
    )


def _do(steps: Iterable[Step], applier: LiveApplier) -> None:
    """Carry out steps as a run does, and then their undo, newest first."""
    done = []
    for step in steps:
        was = step.bind(applier)
        step.apply(applier, was)
        step.verify(applier, was)
        done.append((step, was))
    for step, was in reversed(done):
        for back in step.undo(was):
            bound = back.bind(applier)
            back.apply(applier, bound)
            back.verify(applier, bound)


def _scratch(home: Path, checkpoint: Path) -> Callable[[], object]:
    applier = _effects(home, checkpoint, "20261122-000000-abcdef")
    facts: dict[str, Any] = {
        "pipeline": "bench",
        "checkpoint": str(checkpoint),
        "query_id": _query(checkpoint),
    }
    steps = (SnapshotCheckpoint(**facts), ReplaceCheckpoint(**facts))

    def work() -> None:
        _do(steps, applier)
        _tidy(home)

    return work


def _rewound(home: Path, checkpoint: Path) -> Callable[[], object]:
    applier = _effects(home, checkpoint, "20261122-000001-abcdef")
    facts: dict[str, Any] = {
        "pipeline": "bench",
        "checkpoint": str(checkpoint),
        "query_id": _query(checkpoint),
    }
    steps = (CopyToBatch(**facts, batch=0), SwapCheckpoint(**facts, batch=0))

    def work() -> None:
        _do(steps, applier)
        _tidy(home)

    return work


def _query(checkpoint: Path) -> str:
    return str(json.loads((checkpoint / "metadata").read_text())["id"])


def _tidy(home: Path) -> None:
    """Remove what an undo leaves on purpose: the checkpoint that replaced the old one."""
    for left in home.glob(".checkpoint.after-*"):
        shutil.rmtree(left)
