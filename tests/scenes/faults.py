"""The faults, each as a cell of the matrix: what happens, where, and how the run recovers.

Of each cell it is asserted that the world is as the scene says: after the run that recovered, and
again after its undo.
"""

from __future__ import annotations

import errno
import itertools
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from scenes import spark_programs
from scenes.forked import Process
from scenes.lab import Lab
from scenes.points import Point, Target, targets
from scenes.scene import Scene
from scenes.trial import Trial
from support.waiting import until

_SHORT_LOCK, _LONG_LOCK, _BUSY = 3.0, 6.0, 1.0
_OUTAGE = 4.0
LOCKED, LOCKED_LONG = "store locked for a while", "store locked for longer than one waits"
KILLED, FULL, DOWN = "kill -9", "disk full", "broker down"
# These befall a Spark program in the midst of its work; Python's process and Java's are one driver.
DRIVER, PYTHON = "kill -9 of the driver's Java", "kill -9 of the driver's Python"
EXECUTOR, BROKER = "kill -9 of an executor", "kill -9 of the broker"
OUTAGES = (DOWN, BROKER)
# What strikes one run, by the fault that says how: see `chains`.
TOGETHER = {DRIVER: KILLED, PYTHON: KILLED, BROKER: DOWN}
_PROGRAM_RECOVERIES = {
    DRIVER: "resume",
    PYTHON: "resume",
    EXECUTOR: "Spark itself",
    BROKER: "broker up, resume",
}
_RECOVERIES = {
    LOCKED: "the same worker",
    LOCKED_LONG: "resume",
    FULL: "room, resume",
    DOWN: "broker up, resume",
}
# A step may need no room for a while; what SQLite says when it finds none.
_FILLED, _MORE_FILLED, _NO_ROOM = 12.0, 2.0, "disk is full"


@dataclass(frozen=True, slots=True)
class Survey:
    """The points that a run and its undo pass where nothing goes wrong."""

    run: tuple[Point, ...]
    undo: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A scene under one fault.

    One with a `target` (of the undo, where `in_undo`) is a place that a run comes by: see `chains`,
    by which it is struck alone or together with others. Any other one has its own `check`.
    """

    scene: type[Scene]
    fault: str
    location: str
    recovery: str
    check: Callable[[Lab], None] | None = None
    target: Target | None = None
    in_undo: bool = False


def survey(lab: Lab, kind: type[Scene]) -> Survey:
    """Run the scene and its undo without a fault; what they must lead to is asserted."""
    with lab.trial(kind) as trial:
        worker = trial.worker(at=None)
        run = trial.apply(trial.plan())
        trial.must_be_done(run)
        passed = tuple(trial.points)
        trial.scene.check_end()
        trial.go_back(run)
        both = tuple(trial.points)
        trial.end(worker)
    return Survey(passed, both[len(passed) :])


def cells(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    """Yield every cell of a scene."""
    yield from _killed(kind, found)
    yield from _befallen(kind, found)
    yield from _raced(kind)


def _killed(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    named = targets(found.run)
    for point, how in kills(found.run):
        location = f"{'inside' if how == 'inside' else point.side} {point.what}"
        location = f"step {point.position}: {location}"
        target = replace(named[point.number], how=how)
        yield Cell(kind, KILLED, location, "next worker", target=target)
        if point.side == "after" or how == "inside":
            yield Cell(kind, KILLED, location, "cancel, undo", _kill_and_undo(kind, target))
    named = targets(found.undo)
    for point, how in kills(found.undo):
        location = f"{'inside' if how == 'inside' else point.side} {point.what}"
        location = f"undo's step {point.position}: {location}"
        target = replace(named[point.number], how=how)
        yield Cell(kind, KILLED, location, "next worker", target=target, in_undo=True)


def kills(points: tuple[Point, ...]) -> Iterator[tuple[Point, str]]:
    """Yield where to kill: before, in the midst of, and after each entry and each effect.

    Of two points with nothing between them one is enough.
    """
    for position, group in itertools.groupby(points, key=lambda p: p.position):
        for point in group:
            if point.is_entry:
                after_all = point.what == "done" and point.side == "after"
                if not after_all or position == points[-1].position:
                    yield point, "kill"
            else:
                yield point, "inside" if point.side == "before" else "kill"


def _kill_and_undo(kind: type[Scene], target: Target) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            run = _struck(trial, target)
            if trial.row(run).state.is_active:
                trial.cancel(run)
            trial.worker()
            trial.ended(run)
            trial.remove_batches_after(run)

    return check


def _struck(trial: Trial, target: Target) -> str:
    """Apply the plan with a worker that is killed; returns the run."""
    worker = trial.worker(targets=[astuple(target)])
    run = trial.apply(trial.plan())
    trial.passed(worker)
    assert not worker.lives
    return run


def _end_and_back(trial: Trial, run: str) -> None:
    trial.scene.check_end()
    trial.go_back(run)


def _begins(found: Survey) -> Iterator[Target]:
    """Yield the point of each step at which its effect is about to happen."""
    named = targets(found.run)
    for point in found.run:
        if point.what == "begin" and point.side == "after":
            yield replace(named[point.number], how="stop")


def _befallen(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    for fault, recovery in _RECOVERIES.items():
        for target in _begins(found):
            yield Cell(kind, fault, f"step {target.position}", recovery, target=target)
    for fault, recovery in _PROGRAM_RECOVERIES.items():
        for target in _programs(found) if fault != EXECUTOR or kind.on_cluster else ():
            location = f"step {target.position}: inside {target.what}"
            yield Cell(kind, fault, location, recovery, target=target)


def _programs(found: Survey) -> Iterator[Target]:
    """Yield the midst of each effect that has Spark process data."""
    named = targets(found.run)
    for point in found.run:
        target = replace(named[point.number], how="stop inside")
        if target.jobs and point.side == "before":
            yield target


def waits(fault: str) -> dict[str, float]:
    """Return how long a worker under that fault waits for the store, where not as usual."""
    return {"busy_seconds": _BUSY} if fault == LOCKED_LONG else {}


def _lock_for(seconds: float) -> Callable[[Trial, Process], None]:
    """Return what holds the store's lock for so long, while the worker goes on."""

    def befall(trial: Trial, worker: Process) -> None:
        store = trial.scene.folder / ".headgate" / "headgate.db"
        with closing(sqlite3.connect(store, isolation_level=None, timeout=30)) as other:
            _lock_out(other, worker)
            worker.signal(signal.SIGCONT)
            time.sleep(seconds)

    return befall


def _lock_out(other: sqlite3.Connection, worker: Process) -> None:
    """Take the store's lock, which another thread of the standing worker may hold."""
    for wait in ("PRAGMA busy_timeout=500", "PRAGMA busy_timeout=30000"):
        other.execute(wait)
        with suppress(sqlite3.OperationalError):
            other.execute("BEGIN EXCLUSIVE")
            return
        worker.signal(signal.SIGCONT)
    raise AssertionError("the worker does not let go of the store")


def _fill_for_a_while(trial: Trial, worker: Process) -> None:
    """Leave no room until the worker has said so, or has gone on for a while without any."""
    filler = trial.scene.folder / ".headgate" / "filler"
    said = trial.said().count(_NO_ROOM)
    _fill_up(filler)
    worker.signal(signal.SIGCONT)
    with suppress(AssertionError):
        until(lambda: not worker.lives or trial.said().count(_NO_ROOM) > said, seconds=_FILLED)
        time.sleep(_MORE_FILLED)
    filler.unlink()


def _fill_up(file: Path) -> None:
    with file.open("wb", buffering=0) as stream:
        for size in (1 << 16, 1):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC, error


def _raced(kind: type[Scene]) -> Iterator[Cell]:
    yield Cell(kind, "two workers", "of one slot", "one refuses", _race_for_a_slot(kind))
    yield Cell(kind, "two workers", "of two slots", "one runs it", _race_for_a_run(kind))


def _race_for_a_slot(kind: type[Scene]) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            pair = [trial.worker(wait=False) for _ in range(2)]
            trial.wait(lambda: sum(p.lives for p in pair) == 1, "both hold the slot")
            (refused,) = (p for p in pair if not p.lives)
            assert refused.code == 3, refused.code
            run = trial.apply(trial.plan())
            trial.must_be_done(run)
            _end_and_back(trial, run)

    return check


def _race_for_a_run(kind: type[Scene]) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            workers = [trial.worker(slot=slot) for slot in range(2)]
            run = trial.apply(trial.plan())
            trial.must_be_done(run)
            _end_and_back(trial, run)
            assert all(w.lives for w in workers)

    return check


def _kill_driver(find: Callable[[int], list[int]]) -> Callable[[Trial, Process], None]:
    """Return what kills a driver's processes while the worker stands still."""

    def befall(_trial: Trial, worker: Process) -> None:
        spark_programs.kill(find(worker.pid))
        spark_programs.resume(worker.pid)

    return befall


def _kill_executor(trial: Trial, worker: Process) -> None:
    """Kill one of the two executors that work for the program."""
    assert trial.scene.cluster is not None
    spark_programs.kill(trial.scene.cluster.executors()[:1])
    spark_programs.resume(worker.pid)


def go_on_without_a_broker(worker: Process) -> None:
    """Let the worker, and its Spark programs, come upon the broker's absence."""
    spark_programs.resume(worker.pid)
    time.sleep(_OUTAGE)


BEFALL: dict[str, Callable[[Trial, Process], None]] = {
    LOCKED: _lock_for(_SHORT_LOCK),
    LOCKED_LONG: _lock_for(_LONG_LOCK),
    FULL: _fill_for_a_while,
    DRIVER: _kill_driver(spark_programs.drivers),
    PYTHON: _kill_driver(spark_programs.programs),
    EXECUTOR: _kill_executor,
}
