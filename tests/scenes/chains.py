"""One run that is struck again and again: many cells for the price of one pipeline.

A worker is killed at the first of the points that are left, the next one recovers and is killed at
the next, until a worker comes to the end; then the same through the run's undo, and then the end is
asserted as for a single cell. What a recovery has no need to do again (an effect that had happened
when it was killed) passes fewer points: the ones that were not come to are struck in a further
pipeline. The other faults befall a run at each of its steps in turn.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from headgate.store.rows import RunState
from scenes import spark_programs
from scenes.faults import (
    BEFALL,
    EXECUTOR,
    FULL,
    KILLED,
    LOCKED,
    OUTAGES,
    TOGETHER,
    Cell,
    go_on_without_a_broker,
    waits,
)
from scenes.forked import Process
from scenes.lab import Lab
from scenes.points import Point, Target
from scenes.scene import Scene
from scenes.trial import Trial

# Fewer than `worker.engine` lets one run outlive.
_MOST = 80
# An effect that ended sooner than the kill in its midst came is tried so often again.
_MISSES = 2
# One of less than 10 ms, half of which this is, is not tried again: no kill would come in time.
_SHORTEST = 0.005
# What a run must survive without being resumed.
_UNRESUMED = (LOCKED, EXECUTOR)


@dataclass(slots=True)
class Chain:
    """Cells of one scene and fault; `struck` are those that came about, in their order.

    `kills` counts the ones that missed the midst of an effect, too: these are still `left`.
    """

    scene: type[Scene]
    fault: str
    left: list[Cell]
    struck: list[Cell] = field(default_factory=list)
    seconds: float = 0.0
    missed: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    kills: int = 0

    @property
    def outage(self) -> bool:
        """Whether its run is a generator that wants the broker gone and back, in turns."""
        return self.fault in OUTAGES

    @property
    def befalls(self) -> str:
        """The fault of the cell that was struck last."""
        return self.struck[-1].fault

    def run(self, lab: Lab) -> Iterator[None]:
        """Strike as many of the cells as come about in one pipeline, and assert its end."""
        begun = time.monotonic()
        self.struck, self.kills = [], 0
        try:
            with lab.trial(
                self.scene, small_disk=self.fault == FULL, on_cluster=self.fault == EXECUTOR
            ) as trial:
                yield from self._run(trial)
        finally:
            self.seconds = time.monotonic() - begun

    def _run(self, trial: Trial) -> Iterator[None]:
        run = yield from self._carried_out(trial, lambda: trial.apply(trial.plan()), in_undo=False)
        trial.scene.check_end()
        if trial.scene.no_rollback:
            trial.go_back(run)
        else:
            yield from self._carried_out(trial, lambda: trial.undo(run), in_undo=True)
            trial.scene.check_undone()

    def _carried_out(
        self, trial: Trial, begin: Callable[[], str], *, in_undo: bool
    ) -> Generator[None, None, str]:
        """Carry out what `begin` queues, struck again and again; returns the run."""
        its = [c for c in self.left if c.in_undo == in_undo][:_MOST]
        worker = self._worker(trial, its)
        run = begin()
        # Each fault may end a worker, and a run, once.
        for _ in range(3 * len(its) + 1):
            self._comes_to_stand(trial, worker, run)
            if worker.state == "T":
                cell = self._was_struck(trial, its)
                yield from self._befall(trial, worker, cell)
            elif not worker.lives:
                if self.fault == KILLED:
                    self._was_struck(trial, its)
                worker = self._worker(trial, its)
            elif trial.row(run).state in (RunState.FAILED, RunState.CANCELLED):
                assert self.struck, f"it failed by itself\n{trial.said()}"
                fault = self.struck[-1].fault
                assert fault not in _UNRESUMED, f"it needs a resume\n{trial.said()}"
                trial.resume(run)
            else:
                break
        trial.must_be_done(run)
        trial.end(worker)
        return run

    def _worker(self, trial: Trial, cells: Sequence[Cell]) -> Process:
        goals = [astuple(c.target) for c in cells if c.target is not None]
        patience: dict[str, Any] = waits(self.fault)
        return trial.worker(wait=False, targets=goals, **patience)

    @staticmethod
    def _comes_to_stand(trial: Trial, worker: Process, run: str) -> None:
        """Wait until the worker is gone or stopped, or the run is over."""
        with trial.store() as store:
            trial.wait(lambda: worker.state in ("", "T") or not store.runs.get(run).state.is_active)
        if any(not target.how.startswith("stop") for target in trial.struck):
            # Killed in the midst of its last effect, it may have come to the run's end before.
            trial.passed(worker)

    def _was_struck(self, trial: Trial, cells: list[Cell]) -> Cell | None:
        """Take the cell at which the last worker was struck from those that are left, return it.

        None where that was to be in the midst of an effect that was over, and is tried again, and
        where the same worker was struck there before.
        """
        at = trial.struck
        assert at, f"a worker ended by itself\n{trial.said()}"
        cell = next((c for c in cells if c.target == at[-1]), None)
        if cell is None:
            # A program that failed for an outage is started again, and comes by the same place.
            return None
        cells.remove(cell)
        self.left.remove(cell)
        self.kills += 1
        if _was_over(at[-1], trial.points):
            place = (cell.fault, cell.location, at[-1].nth)
            self.missed[place] += 1
            is_tried = self.missed[place] <= _MISSES and at[-1].after >= _SHORTEST
            if is_tried:
                self.left.append(_sooner(cell))
            # Who came behind it kills a worker all the same, but finds no Spark program.
            if is_tried or at[-1].how != "inside":
                return None
        self.struck.append(cell)
        return cell

    def _befall(self, trial: Trial, worker: Process, cell: Cell | None) -> Iterator[None]:
        if cell is None:
            spark_programs.resume(worker.pid)
        elif cell.fault in OUTAGES:
            yield
            go_on_without_a_broker(worker)
            yield
        else:
            BEFALL[cell.fault](trial, worker)


def _was_over(target: Target, points: Sequence[Point]) -> bool:
    """Return whether an effect had ended before the kill that was to be in its midst."""
    its = [p for p in points if (p.position, p.what) == (target.position, target.what)]
    return target.how.endswith("inside") and its[-1].side == "after"


def _sooner(cell: Cell) -> Cell:
    assert cell.target is not None
    after, jobs = max(cell.target.after / 4, _SHORTEST), (cell.target.jobs + 1) // 2
    return replace(cell, target=replace(cell.target, after=after, jobs=jobs))


def chains(cells: Iterable[Cell], *, alone: bool = False) -> tuple[list[Chain], list[Cell]]:
    """Return the chains of these cells, and those that can't be chained; `alone`: one cell each."""

    def key(cell: Cell) -> tuple[str, str]:
        # One pipeline is enough for faults that need nothing of their own.
        return cell.scene.name, TOGETHER.get(cell.fault, cell.fault)

    every = list(cells)
    chained = [c for c in every if c.target is not None]
    groups = [[c] for c in chained]
    if not alone:
        groups = [list(g) for _, g in itertools.groupby(sorted(chained, key=key), key=key)]
    made = [Chain(group[0].scene, key(group[0])[1], group) for group in groups]
    return made, [c for c in every if c.target is None]
