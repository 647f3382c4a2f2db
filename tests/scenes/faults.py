"""The faults, each as a cell of the matrix: what happens, where, and how the run recovers.

A cell makes a scene of its own, lets the fault strike, recovers, and asserts that the world is as
the scene says: after the run, and again after its undo.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from headgate.gateway.broker import NAME as BROKER
from headgate.gateway.broker import start_broker
from headgate.gateway.supervise import Supervisor
from scenes.forked import Forks, Process
from scenes.points import Point
from scenes.scene import Scene
from scenes.trial import Trial

_SHORT_LOCK, _LONG_LOCK, _BUSY = 3.0, 6.0, 1.0
_OUTAGE = 4.0
_DISK = "16m"


class Kafka:
    """The broker of a matrix, which may be stopped and comes back with its data and address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._supervisor = Supervisor()
        self.address = start_broker(self._supervisor, folder)

    def stop(self) -> None:
        """Stop it, as for an upgrade."""
        self._supervisor.stop(BROKER)

    def start(self) -> None:
        """Start it where it was."""
        port = int(self.address.rpartition(":")[2])
        assert start_broker(self._supervisor, self._folder, port=port) == self.address

    def close(self) -> None:
        """End it for good."""
        self._supervisor.close()


@dataclass(frozen=True, slots=True)
class Lab:
    """What all cells share."""

    folder: Path
    kafka: Kafka
    forks: Forks

    @contextmanager
    def trial(self, kind: type[Scene], *, small_disk: bool = False) -> Iterator[Trial]:
        """Yield the scene at work in a new folder, whose `.headgate` may be a small disk."""
        folder = Path(tempfile.mkdtemp(prefix=f"{kind.name}-", dir=self.folder))
        with _small(folder / ".headgate") if small_disk else _nothing():
            trial = Trial(kind(folder, self.kafka.address), self.forks)
            try:
                trial.scene.prepare()
                yield trial
            finally:
                trial.close()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Survey:
    """The points that a run and its undo pass where nothing goes wrong."""

    run: tuple[Point, ...]
    undo: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A scene under one fault; `alone` says that no other may run beside it."""

    scene: type[Scene]
    fault: str
    where: str
    recovery: str
    check: Callable[[Lab], None]
    alone: bool = False


def survey(lab: Lab, kind: type[Scene]) -> Survey:
    """Run the scene and its undo without a fault; what they must lead to is asserted."""
    with lab.trial(kind) as trial:
        worker = trial.worker(at=None)
        run = trial.apply(trial.plan())
        trial.must_be_done(run)
        passed = tuple(trial.points)
        trial.scene.check_end()
        trial.must_be_done(trial.undo(run))
        trial.scene.check_undone()
        both = tuple(trial.points)
        trial.end(worker)
    return Survey(passed, both[len(passed) :])


def cells(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    """Yield every cell of a scene."""
    yield from _killed(kind, found)
    yield from _locked(kind, found)
    yield from _full(kind, found)
    yield from _raced(kind)
    yield from _outages(kind, found)


def _killed(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    for point, how in kills(found.run):
        where = f"{'inside' if how == 'inside' else point.side} {point.what}"
        where = f"step {point.position}: {where}"
        yield Cell(kind, "kill -9", where, "next worker", _kill(kind, point, how))
        if point.side == "after" or how == "inside":
            yield Cell(kind, "kill -9", where, "cancel, undo", _kill_and_undo(kind, point, how))
    begin = len(found.run)
    for point, how in kills(found.undo):
        where = f"{'inside' if how == 'inside' else point.side} {point.what}"
        where = f"undo's step {point.position}: {where}"
        check = _kill_the_undo(kind, point.number - begin, how)
        yield Cell(kind, "kill -9", where, "next worker", check)


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


def _kill(kind: type[Scene], point: Point, how: str) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            run = _struck(trial, point.number, how)
            trial.worker()
            trial.must_be_done(run)
            _end_and_back(trial, run)

    return check


def _kill_and_undo(kind: type[Scene], point: Point, how: str) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            run = _struck(trial, point.number, how)
            if trial.row(run).state.is_active:
                trial.cancel(run)
            trial.worker()
            trial.ended(run)
            trial.must_be_done(trial.undo(run))
            trial.scene.check_undone()

    return check


def _kill_the_undo(kind: type[Scene], number: int, how: str) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            first = trial.worker()
            run = trial.apply(trial.plan())
            trial.must_be_done(run)
            trial.scene.check_end()
            trial.end(first)
            struck = trial.worker(at=number, how=how)
            undo = trial.undo(run)
            trial.passed(struck)
            trial.worker()
            trial.must_be_done(undo)
            trial.scene.check_undone()

    return check


def _struck(trial: Trial, number: int, how: str) -> str:
    """Apply the plan with a worker that is killed; returns the run."""
    worker = trial.worker(at=number, how=how)
    run = trial.apply(trial.plan())
    trial.passed(worker)
    assert not worker.lives
    return run


def _end_and_back(trial: Trial, run: str) -> None:
    trial.scene.check_end()
    trial.must_be_done(trial.undo(run))
    trial.scene.check_undone()


def _begins(found: Survey) -> Iterator[Point]:
    """Yield the point of each step at which its effect is about to happen."""
    for point in found.run:
        if point.what == "begin" and point.side == "after":
            yield point


def _stopped(trial: Trial, point: Point, **fault: float) -> tuple[str, Process]:
    """Apply the plan with a worker that stands still at the point."""
    worker = trial.worker(at=point.number, how="stop", **fault)
    run = trial.apply(trial.plan())
    trial.passed(worker)
    assert worker.state == "T", f"{worker.state!r} {worker.code}\n{trial.said()}"
    return run, worker


def _see_to_a_worker(trial: Trial, worker: Process) -> None:
    if not worker.lives:
        trial.worker()


def _locked(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    for point, seconds in itertools.product(_begins(found), (_SHORT_LOCK, _LONG_LOCK)):
        how = "for a while" if seconds == _SHORT_LOCK else "for longer than one waits"
        check = _lock(kind, point, seconds)
        recovery = "the same worker" if seconds == _SHORT_LOCK else "resume"
        yield Cell(kind, f"store locked {how}", f"step {point.position}", recovery, check)


def _lock(kind: type[Scene], point: Point, seconds: float) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            fault = {"busy_seconds": _BUSY} if seconds == _LONG_LOCK else {}
            run, worker = _stopped(trial, point, **fault)
            store = trial.scene.folder / ".headgate" / "headgate.db"
            with closing(sqlite3.connect(store, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                worker.signal(signal.SIGCONT)
                time.sleep(seconds)
            _see_to_a_worker(trial, worker)
            if seconds == _SHORT_LOCK:
                trial.must_be_done(run)
            trial.finish(run)
            _end_and_back(trial, run)

    return check


def _full(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    for point in _begins(found):
        where = f"step {point.position}"
        yield Cell(kind, "disk full", where, "room, resume", _fill(kind, point))


def _fill(kind: type[Scene], point: Point) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind, small_disk=True) as trial:
            run, worker = _stopped(trial, point)
            filler = trial.scene.folder / ".headgate" / "filler"
            _fill_up(filler)
            worker.signal(signal.SIGCONT)
            deadline = time.monotonic() + 12
            while worker.lives and time.monotonic() < deadline:
                time.sleep(0.5)
            filler.unlink()
            _see_to_a_worker(trial, worker)
            trial.finish(run)
            _end_and_back(trial, run)

    return check


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


def _outages(kind: type[Scene], found: Survey) -> Iterator[Cell]:
    for point in _begins(found):
        where, check = f"step {point.position}", _outage(kind, point)
        yield Cell(kind, "broker down", where, "broker up, resume", check, alone=True)


def _outage(kind: type[Scene], point: Point) -> Callable[[Lab], None]:
    def check(lab: Lab) -> None:
        with lab.trial(kind) as trial:
            run, worker = _stopped(trial, point)
            lab.kafka.stop()
            try:
                worker.signal(signal.SIGCONT)
                time.sleep(_OUTAGE)
            finally:
                lab.kafka.start()
            _see_to_a_worker(trial, worker)
            trial.finish(run)
            _end_and_back(trial, run)

    return check


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _small(folder: Path) -> Iterator[None]:
    """Make the folder a file system of a few megabytes for a while."""
    folder.mkdir()
    options = ("-t", "tmpfs", "-o", f"size={_DISK}", "headgate-faults")
    subprocess.run(["mount", *options, str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def may_mount() -> bool:
    """Return whether this user may mount a small file system."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _small(Path(folder) / "disk"):
                return True
        except (subprocess.CalledProcessError, OSError):
            return False
