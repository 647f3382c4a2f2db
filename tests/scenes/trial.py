"""A scene under trial: its commands, its workers, and what is true after a recovery."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from headgate.errors import UnreachableError
from headgate.store import Store, open_store
from headgate.store.rows import Event, RunRow, RunState
from headgate.store.worker_slots import Slot
from headgate.usecases.context import open_context
from scenes.forked import Forks, Process, kill_all_below
from scenes.points import Point, Target, read_struck, read_trace
from scenes.scene import Scene
from support.waiting import PATIENCE, until

_OPENING = Lock()


class Trial:
    """Runs the scene's plan by the real commands and workers, forked from `forks`."""

    def __init__(self, scene: Scene, forks: Forks) -> None:
        self.scene = scene
        self._forks = forks
        self._count = 0
        self._workers: list[Process] = []

    @property
    def trace(self) -> Path:
        """Where the last faulty worker wrote which points it passed."""
        return self.scene.folder / f"trace-{len(self._workers)}"

    @property
    def points(self) -> list[Point]:
        """What the last faulty worker passed."""
        return read_trace(self.trace)

    @property
    def struck(self) -> list[Target]:
        """The targets at which the last faulty worker was struck."""
        return read_struck(self.trace)

    def command(self, *args: str, codes: Sequence[int] = (0,)) -> dict[str, Any]:
        """Run a command of headgate's with `--format json`; AssertionError on another exit.

        Where Kafka does not answer it in time, it is asked again, as its exit code says one may.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            found, said, errors = self._command(*args)
            if found != UnreachableError.exit_code or time.monotonic() > deadline:
                break
            time.sleep(1)
        assert found in codes, f"{' '.join(args)}: exit {found}\n{said}\n{errors}"
        return json.loads(said or "{}")

    def _command(self, *args: str) -> tuple[int | None, str, str]:
        """Run a command; returns its exit code and what it wrote to its two outputs."""
        self._count += 1
        output = self.scene.folder / f"command-{self._count}.json"
        argv = ("--config", str(self.scene.config), *args, "--format", "json")
        process = self._forks.start(*argv, folder=self.scene.folder, output=output)
        found = process.wait()
        errors = output.with_name(output.name + ".err").read_text()
        return found, output.read_text(), errors

    def worker(self, *, slot: int = 0, wait: bool = True, **fault: Any) -> Process:
        """Start a worker, which holds its slot when this returns; `fault` is for `points`."""
        number = len(self._workers) + 1
        output = self.scene.folder / f"worker-{number}.log"
        given = {**fault, "trace": str(self.scene.folder / f"trace-{number}")} if fault else None
        argv = ("worker", "--config", str(self.scene.config), "--slot", str(slot))
        process = self._forks.start(*argv, folder=self.scene.folder, output=output, fault=given)
        self._workers.append(process)
        if wait:
            with self.store() as store:
                self.wait(lambda: not process.lives or not Slot(store.database, slot).is_free())
            assert process.lives, output.with_name(output.name + ".err").read_text()
        return process

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the scene's store."""
        # Migrations of two databases can't be under way in one process: Alembic's are global.
        with _OPENING:
            opened = open_store(open_context(str(self.scene.config)).store_url)
        try:
            yield opened
        finally:
            opened.close()

    def plan(self) -> str:
        """Plan the scenario and return the plan's file."""
        scene, file = self.scene, str(self.scene.folder / "plan.json")
        made = self.command("plan", scene.scenario, scene.pipeline, *scene.arguments, "-o", file)
        assert made["can_apply"], made["blockers"]
        return file

    def apply(self, file: str) -> str:
        """Queue the plan and return the run."""
        return str(self.command("apply", file, "--detach")["run"])

    def undo(self, run: str) -> str:
        """Queue the undo of a run and return its own run."""
        return str(self.command("undo", run, "--detach")["run"])

    def go_back(self, run: str) -> None:
        """Undo a run that is done; where no way leads back, that is said and nothing happens."""
        if not self.scene.no_rollback:
            self.must_be_done(self.undo(run))
            self.scene.check_undone()
            return
        said = self.command("undo", run, "--detach", codes=(3,))["error"]
        assert self.scene.no_rollback in said, said
        self.scene.check_end()

    def remove_batches_after(self, run: str) -> None:
        """Undo a run that was cancelled somewhere, and assert how things are then.

        It may have come to nothing, or so far that it must be seen through: `headgate undo` says
        so.
        """
        said = self.command("undo", run, "--detach", codes=(0, 3))
        if said["run"]:
            self.must_be_done(said["run"])
        elif self.scene.no_rollback and self.scene.no_rollback in said["error"]:
            self.finish(run)
            self.scene.check_end()
            return
        else:
            assert "there is nothing to restore" in said["error"], said["error"]
        self.scene.check_undone()

    def resume(self, run: str) -> None:
        """Queue the run once more."""
        self.command("resume", run, "--detach")

    def cancel(self, run: str) -> None:
        """Ask for the run's stop at the next safe point."""
        self.command("cancel", run)

    def row(self, run: str) -> RunRow:
        """Return the run's row."""
        with self.store() as store:
            return store.runs.get(run)

    def ended(self, run: str) -> RunRow:
        """Wait for the run's end."""
        with self.store() as store:
            self.wait(lambda: not self._is_under_way(store, run), f"run {run} does not end")
            return store.runs.get(run)

    def _is_under_way(self, store: Store, run: str) -> bool:
        under_way = store.runs.get(run).state.is_active
        assert not under_way or any(w.lives for w in self._workers), f"no worker: {self.said()}"
        return under_way

    def passed(self, process: Process) -> None:
        """Wait until the worker was struck: it is gone, or stands still."""
        self.wait(lambda: process.state in ("", "T"), "the worker did not come to the point")

    def wait(self, condition: Callable[[], Any], else_: str = "it came too late") -> None:
        """Wait for what is on its way; AssertionError where it has not come by then."""
        said, seconds = lambda: f"{else_}\n{self.said()}", self.scene.run_seconds
        until(condition, said, every=0.1, seconds=seconds)

    def said(self) -> str:
        """Return the end of what each worker wrote to its log."""
        return "\n".join(text[-8000:] for text in self.logs())

    def logs(self) -> list[str]:
        """Return what each worker wrote to its log."""
        texts = [p.output.with_name(p.output.name + ".err") for p in self._workers]
        return [t.read_text() for t in texts if t.exists()]

    def must_be_done(self, run: str) -> None:
        """Assert that the run is done, and that each of its steps was marked so exactly once."""
        row = self.ended(run)
        assert row.state is RunState.DONE, f"{row.state}: {row.error}\n{self.said()}"
        with self.store() as store:
            entries = store.journal.entries(run)
        done = [e.position for e in entries if e.event is Event.DONE]
        assert done == sorted(set(done)), f"steps done twice: {done}"

    def finish(self, run: str) -> None:
        """Bring a run to its end, by `headgate resume` where it stopped part-way."""
        if self.ended(run).state in (RunState.FAILED, RunState.CANCELLED):
            self.resume(run)
        self.must_be_done(run)

    def end(self, process: Process) -> None:
        """Ask a worker to end, and wait."""
        process.signal(signal.SIGTERM)
        process.wait()

    def close(self) -> None:
        """End everything that works in the scene's folder."""
        for process in self._workers:
            process.signal(signal.SIGKILL)
        self.scene.close()
        kill_all_below(self.scene.folder)
