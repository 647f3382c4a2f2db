"""Queue a run and show its progress until it ends; start a worker if none is running."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headgate.cli.shared.options import emit_json, progress_console
from headgate.cli.shared.terminal import say
from headgate.errors import DifferenceError, RefusedError, StepError
from headgate.reprocess.plan import Plan, load_plan
from headgate.store.rows import RunState, StepProgress
from headgate.store.sqlite_reader import open_soonest
from headgate.store.step_records import step_records
from headgate.store.worker_slots import Slot, serving_slot
from headgate.text.private_files import log_file
from headgate.usecases.context import Context
from headgate.usecases.runs.read_run import (
    RunDetail,
    RunOutcome,
    read_run,
    run_outcome,
    step_views,
)
from headgate.views.words.progress import count_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_EVERY_SECONDS = 5.0


class CountLines:
    """Shows the newest counts; into a file or a pipe only some of them, and always the last."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._said: dict[tuple[int, str], tuple[str, float]] = {}

    def show(self, counts: Iterable[StepProgress]) -> None:
        """Show those that changed."""
        for count in counts:
            before, at = self._said.get((count.position, count.unit), ("", float("-inf")))
            is_last = count.total is not None and count.done >= count.total
            is_due = self._console.is_terminal or time.monotonic() - at >= _EVERY_SECONDS
            words = count_words(count)
            if words != before and (is_last or is_due):
                self._said[count.position, count.unit] = words, time.monotonic()
                self._say(words, is_last=is_last)

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _say(self, words: str, *, is_last: bool) -> None:
        if is_last or not self._console.is_terminal:
            self.end()
            self._console.print(f"          {words}", markup=False, soft_wrap=True)
        elif self._status is None:
            self._status = self._console.status(words)
            self._status.start()
        else:
            self._status.update(words)


if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

EXIT = {RunState.DONE: 0, RunState.REFUSED: 3, RunState.FAILED: 5, RunState.CANCELLED: 5}
# Where the store tells that nobody wrote, a look costs nearly nothing; else it is three reads.
_POLL_SECONDS, _READ_SECONDS = 0.01, 0.05
_IDLE_EXIT_SECONDS = 5
# On a machine that is short of processors, Python alone takes most of a minute to start.
_WORKER_SECONDS = 300.0
_MOST_WORKERS = 3


def queue_and_follow(
    context: Context,
    queue: Callable[[Context], str],
    *,
    refused: Callable[[str], Mapping[str, Any]] | None = None,
    output: str,
    detach: bool,
) -> int:
    """Queue a run, see it to its end, print it, and return the exit code.

    Until the run is queued, Ctrl-C ends the command; then it leaves the run running. `refused`
    returns the JSON of a RefusedError's message; the error is raised in any case.
    """
    ctrl_c = _CtrlC()
    with ctrl_c.handled():
        try:
            run = queue(replace(context, before_queueing=ctrl_c.detach_from_now))
        except RefusedError as error:
            if refused is not None and output == "json":
                emit_json(refused(str(error)))
            raise
        found = _see(context, run, to_the_end=not detach, has_left=lambda: ctrl_c.is_asked)
        if ctrl_c.is_asked and found.row.state.is_active:
            words = f"\nDetached: run {run} continues; see `headgate runs {run}`"
            progress_console().print(words, soft_wrap=True)
        show(found, output=output)
    return _exit_code(found)


def _exit_code(found: RunOutcome) -> int:
    state, failed = found.row.state, {s.code for s in found.steps if s.state == "failed"}
    if state is RunState.FAILED and DifferenceError.exit_code in failed:
        return DifferenceError.exit_code
    return EXIT.get(state, 0)


def until_ended(context: Context, run: str) -> RunDetail:
    """See the run to its end and return it."""
    _see(context, run, to_the_end=True)
    return read_run(context, run)


def _see(
    context: Context, run: str, *, to_the_end: bool, has_left: Callable[[], bool] = lambda: False
) -> RunOutcome:
    with closing(open_soonest(context.store_url)) as store:
        watch = _Watch(context, store, run)
        watch.see_to_a_worker()
        if to_the_end:
            watch.until_the_end(has_left)
        return run_outcome(store, run)


class _CtrlC:
    """Ctrl-C before a run is queued, and after.

    It interrupts. From `detach_from_now` on it sets `is_asked`, and only a second one interrupts.
    """

    def __init__(self) -> None:
        # No Event: its lock may be held where the signal's handler interrupts.
        self.is_asked = False
        self._detaches = False

    def detach_from_now(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C came before: a library's clean-up may have lost it."""
        self._detaches = True
        if self.is_asked:
            raise KeyboardInterrupt

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle Ctrl-C. If it was switched off, as by `nohup ... &`, it stays so."""
        before = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or before is signal.SIG_IGN:
            yield
            return
        signal.signal(signal.SIGINT, self._ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _ask(self, *_: object) -> None:
        was_asked, self.is_asked = self.is_asked, True
        if was_asked or not self._detaches:
            raise KeyboardInterrupt


class _Watch:
    """Follows one run: prints each step and message once, replaces a worker that ended."""

    def __init__(self, context: Context, store: Store | SqliteReader, run: str) -> None:
        self._context = context
        self._store = store
        self._run = run
        self._console = progress_console()
        self._shown: dict[int, str] = {}
        self._notes = 0
        self._newest: tuple[object, ...] = ()
        self._state = RunState.QUEUED
        self._stamp: int | None = None
        self._looked = time.monotonic()
        self._counts = CountLines(self._console)
        self._workers: list[tuple[subprocess.Popen[bytes], float]] = []

    def see_to_a_worker(self) -> None:
        """Start a worker where no process holds the slot; it takes the lock and ends when idle."""
        number = serving_slot(self._store.runs.get(self._run))
        if not Slot(self._store.database, number).is_free():
            return
        if self._workers and self._is_starting():
            return
        if len(self._workers) >= _MOST_WORKERS:
            raise self._without_worker(f"{_MOST_WORKERS} workers exited before they served it")
        self._workers.append((start_worker(self._context, number), time.monotonic()))

    def _is_starting(self) -> bool:
        """Return whether the newest worker's process lives: it has not taken the lock yet."""
        process, since = self._workers[-1]
        if process.poll() is not None:
            return False
        if time.monotonic() - since > _WORKER_SECONDS:
            raise self._without_worker(
                f"the worker (process {process.pid}) is still starting after "
                f"{_WORKER_SECONDS:.0f} s"
            )
        return True

    def _without_worker(self, why: str) -> StepError:
        log = self._context.home / "logs" / "worker.log"
        return StepError(
            f"run {self._run} waits for a worker, and {why}: see the worker's log, {log}. Fix the "
            f"cause, then run `headgate resume {self._run}`"
        )

    def until_the_end(self, has_left: Callable[[], bool]) -> None:
        """Return when the run has ended or whoever waited has left; a terminal stays as it was."""
        try:
            while self._look().is_active and not has_left():
                time.sleep(_READ_SECONDS if self._stamp is None else _POLL_SECONDS)
        finally:
            self._counts.end()

    def _look(self) -> RunState:
        if time.monotonic() - self._looked > 1:
            self._looked = time.monotonic()
            self.see_to_a_worker()
        stamp = self._store.database.stamp()
        if stamp is None or stamp != self._stamp:
            self._state, self._stamp = self._read(), stamp
        return self._state

    def _read(self) -> RunState:
        state = self._store.runs.state(self._run)
        newest = (state, *self._store.journal.newest(self._run))
        if newest != self._newest:
            self._newest = newest
            self._print_progress(ended=not state.is_active)
        self._counts.show(self._store.progress.of(self._run))
        return state

    def _print_progress(self, *, ended: bool) -> None:
        records = step_records(self._store.journal.entries(self._run))
        for number, step in enumerate(step_views(self._plan, records, ended=ended)):
            if step.state not in ("waiting", "skipped", self._shown.get(number)):
                self._shown[number] = step.state
                self._console.print(
                    f"{step.state:>8}  {step.describe}", markup=False, soft_wrap=True
                )
        notes = self._store.journal.notes(self._run)
        for note in notes[self._notes :]:
            self._console.print(f"          {note.message}", markup=False, soft_wrap=True)
        self._notes = len(notes)

    @cached_property
    def _plan(self) -> Plan:
        """The run's plan, which stays as it is: reading a long one takes a while."""
        row = self._store.runs.get(self._run)
        return load_plan(row.plan, source=f"run {self._run}")


def start_worker(context: Context, slot: int) -> subprocess.Popen[bytes]:
    """Start a worker for the context's store that outlives this command and ends when idle."""
    log = context.home / "logs" / "worker.log"
    named = ["--config", context.registry.path] if context.registry.path else []
    argv = [sys.executable, "-m", "headgate.worker.main", *named]
    with log_file(log) as output:
        return subprocess.Popen(
            [*argv, "--slot", str(slot), "--idle-exit", str(_IDLE_EXIT_SECONDS)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A session of its own: Ctrl-C here must not reach it.
            start_new_session=True,
        )


def show(detail: RunOutcome, *, output: str) -> None:
    """Print a run as the contract's `apply` JSON, or as text."""
    if output == "json":
        emit_json(as_json(detail))
        return
    row = detail.row
    say(f"run {row.id}: {row.state}{f': {row.error}' if row.error else ''}")
    for step in detail.steps:
        say(f"  {step.state:<8} {step.describe}{f': {step.error}' if step.error else ''}")
    for sentence in detail.state_after:
        say(sentence)


def as_json(detail: RunOutcome) -> dict[str, Any]:
    """Return a run as the contract's `apply` JSON."""
    steps = [
        {"action": s.action, "state": s.state, "describe": s.describe, "error": s.error}
        for s in detail.steps
    ]
    return {
        "run": detail.row.id,
        "state": detail.row.state.value,
        "steps": steps,
        "error": detail.row.error,
        "undo_of": detail.undo_of,
        "state_after": list(detail.state_after),
    }


def blocked_json(plan: Plan, reason: str) -> Mapping[str, Any]:
    """Return the `apply` JSON of a plan that was blocked before there was a run."""
    steps = [
        {"action": s.action, "state": "skipped", "describe": s.describe(), "error": None}
        for s in plan.steps
    ]
    return {"run": "", "state": "refused", "steps": steps, "error": reason}
