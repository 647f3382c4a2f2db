"""The worker: `python -m headgate.worker.main --config FILE` executes queued runs until it ends."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from headgate.errors import HeadgateError, RefusedError, UnreachableError, with_next_step
from headgate.gateway.process.stop_signals import when_asked_to_end
from headgate.store import Store, open_store
from headgate.store.rows import RunFilter, RunState
from headgate.store.worker_slots import Slot
from headgate.text.numbers import size
from headgate.usecases.activity.check_pipelines import check_pipelines
from headgate.usecases.context import Context, open_context
from headgate.usecases.evidence.refresh_versions import refresh_versions
from headgate.usecases.restore_points.due_points import check_due_points, make_due_points
from headgate.usecases.runs.clean_runs import clean_between_runs
from headgate.usecases.schedules.run_due import Scheduler
from headgate.worker.runner import Runner

LOG = logging.getLogger("headgate.worker")
# Who waits at a shell feels it. Where the store tells that nobody wrote, a look costs nearly
# nothing; else it is two reads.
_POLL_SECONDS, _READ_SECONDS = 0.01, 0.05
_TAKE_SECONDS = 0.3
_REFRESH_SECONDS = 60.0
# In the worker's first minute: pipelines that start with it have nothing to read at first.
_FIRST_REFRESH_SECONDS = 10.0
# A look at files is cheap; a status command is somebody's program, so it is asked less often.
_LOOK_AT_SECONDS = 10.0
_COMMANDS_EVERY = 6
# Snapshots are kept for days: it does not matter when within an hour they go.
_FIRST_CLEAN_SECONDS, _CLEAN_SECONDS = 60.0, 3600.0
# What is due is seen within this time; a look costs a few rows of the store.
_POINT_SECONDS, _CHECK_SECONDS = 5.0, 10.0
_SCHEDULE_SECONDS = 1.0
_NICE = 10
_GRACE_SECONDS = 30.0
# What a worker needs to end beyond that: it closes connections and joins threads.
_CLOSE_SECONDS = 15.0
_LOOK_SECONDS = 5.0
_TRIES = 5
_NEW_OBJECTS = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the worker; 0: ended as asked, 3: another one holds the slot, 4: the slot was lost."""
    options = _options(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return _serve(options)
    except HeadgateError as error:
        print(f"Error: {with_next_step(error)}", file=sys.stderr)
        return error.exit_code


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="headgate.worker", description=__doc__)
    parser.add_argument("--config", help="Path of headgate.toml.")
    parser.add_argument(
        "--slot", type=int, default=0, help="Number of the worker's slot (default 0)."
    )
    parser.add_argument(
        "--idle-exit",
        type=float,
        help="Idle time in seconds after which the worker ends (default: never).",
        metavar="SECONDS",
    )
    return parser.parse_args(argv)


def _serve(options: argparse.Namespace) -> int:
    context = open_context(options.config)
    store = open_store(context.store_url)
    slot = Slot(store.database, options.slot)
    if not _take(slot):
        raise RefusedError(
            f"another worker already holds {slot.name} of the store {store.database.url}. Stop "
            "that worker, or choose another slot with --slot"
        )
    worker = Worker(options.config, store, slot, idle_exit=options.idle_exit)
    when_asked_to_end(worker.stop, signal.SIGTERM, signal.SIGINT)
    return worker.serve()


def _collect_cycles_seldom() -> None:
    """Exclude what was imported from garbage collection, and collect after many new objects.

    A reading of 5,000 partitions makes some 50,000 of them and no cycle; with Python's 700 half of
    its time went into collecting.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def _take(slot: Slot) -> bool:
    """Take the slot; a command that only looks whether it is free holds it for a moment."""
    for _ in range(_TRIES):
        if slot.take():
            return True
        time.sleep(_TAKE_SECONDS)
    return False


def _step_back() -> None:
    """Let queries on this machine go first: of this thread, and of the programs that it starts."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


class Worker:
    """Holds a slot, starts the workflows of queued runs, re-reads the pipelines' versions."""

    def __init__(
        self, config: str | None, store: Store, slot: Slot, *, idle_exit: float | None
    ) -> None:
        self._config = config
        self._store = store
        self._slot = slot
        self._idle_exit = idle_exit
        self._ending = threading.Event()
        self._lost = False
        self._stamp: int | None = None
        self._has_run = False
        self._failed: dict[str, str] = {}
        # What the log has said last of the versions and of the activities of the pipelines.
        self._changes, self._activities, self._looks = frozenset[str](), "", 0
        self._scheduler = Scheduler()
        self._runner = Runner(self._open_context, store)

    def _open_context(self) -> Context:
        return open_context(self._config)

    def stop(self) -> None:
        """End the worker: steps stop at their next safe point."""
        self._ending.set()
        self._runner.stopping.set()

    def serve(self) -> int:
        """Work until asked to end, or idle for as long as was said."""
        # Imported here, with the slot's lock held: DBOS takes a second.
        from headgate.worker import dbos_engine

        self._engine = dbos_engine
        with self._store.database.guarded():
            dbos_engine.launch(self._store.database.url, self._slot.name, self._runner)
        LOG.info("%s serves %s", self._slot.name, self._store.database.url)
        _collect_cycles_seldom()
        threading.Thread(target=self._end_in_time, daemon=True).start()
        self._take_up()
        if self._idle_exit is None:
            threading.Thread(target=self._refresh, daemon=True).start()
            threading.Thread(target=self._check_activity, daemon=True).start()
            threading.Thread(target=self._clean, daemon=True).start()
            threading.Thread(target=self._keep_points, daemon=True).start()
            threading.Thread(target=self._check_points, daemon=True).start()
            threading.Thread(target=self._keep_schedules, daemon=True).start()
        self._loop()
        return self._end()

    def _take_up(self) -> None:
        """See to runs that have no workflow: of the slot's last worker, or after a defect."""
        for row in self._store.runs.running(self._slot.name):
            if not self._engine.is_known(row):
                LOG.warning("run %s was claimed but never started: starting the run", row.id)
                self._engine.start(row)
            elif not self._engine.is_live(row):
                error = self._engine.why_ended(row)
                self._store.runs.finish(row.id, RunState.FAILED, error=error)
            elif self._engine.has_died(row):
                LOG.warning("no thread executes run %s: resuming the run", row.id)
                self._engine.resume_workflow(row)

    def _loop(self) -> None:
        idle_since = looked = time.monotonic()
        while not self._ending.is_set():
            if time.monotonic() - looked > _LOOK_SECONDS:
                looked = time.monotonic()
                if not self._slot.is_held():
                    self._lost = True
                    return
                self._guarded(self._take_up)
            if self._step():
                idle_since = time.monotonic()
            elif self._idle_exit is not None and time.monotonic() - idle_since > self._idle_exit:
                return
            self._ending.wait(_READ_SECONDS if self._stamp is None else _POLL_SECONDS)

    def _step(self) -> bool:
        """Start what is queued; returns whether there is a run."""
        return bool(self._guarded(self._start_next))

    def _start_next(self) -> bool:
        # Asked first: what is written while the rest is read is seen the next time.
        stamp = self._store.database.stamp()
        if stamp is None or stamp != self._stamp:
            self._stamp = None
            self._has_run = self._claim_next()
            self._stamp = stamp
        return self._has_run

    def _claim_next(self) -> bool:
        row = self._store.runs.claim(self._slot.name)
        if row is not None:
            LOG.info("run %s: %s %s", row.id, row.scenario, row.pipeline)
            self._engine.start(row)
        return self._store.runs.is_busy(self._slot.name)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Call and log what goes wrong: no error of a run or of the store ends the worker.

        The same known error, such as a broken headgate.toml, is logged once until the call works.
        """
        name = call.__name__.strip("_")
        try:
            result = call()
        except HeadgateError as error:
            if self._failed.get(name) != str(error):
                LOG.error("%s failed: %s", name, with_next_step(error))
            self._failed[name] = str(error)
            return None
        except Exception:
            LOG.exception("%s failed", name)
            return None
        self._failed.pop(name, None)
        return result

    def _refresh(self) -> None:
        begun = time.monotonic()
        while not self._ending.is_set():
            self._guarded(self._read_pipelines)
            early = time.monotonic() - begun < _REFRESH_SECONDS
            self._ending.wait(_FIRST_REFRESH_SECONDS if early else _REFRESH_SECONDS)

    def _read_pipelines(self) -> None:
        changes = [str(c) for c in refresh_versions(self._open_context())]
        for change in changes:
            if change not in self._changes:
                LOG.info("%s", change)
        self._changes = frozenset(changes)

    def _check_activity(self) -> None:
        """Look whether the pipelines run, again and again."""
        while not self._ending.is_set():
            self._guarded(self._check_pipelines)
            self._looks += 1
            self._ending.wait(_LOOK_AT_SECONDS)

    def _check_pipelines(self) -> None:
        found = check_pipelines(
            self._open_context(), ask_commands=self._looks % _COMMANDS_EVERY == 0
        )
        now = ", ".join(f"{name} {a.state.value}" for name, a in found.items())
        if now != self._activities:
            LOG.info("%s", now)
        self._activities = now

    def _clean(self) -> None:
        """Remove old backups of runs, now and then, while no run is under way."""
        seconds = _FIRST_CLEAN_SECONDS
        while not self._ending.wait(seconds):
            self._guarded(self._clean_now)
            seconds = _CLEAN_SECONDS

    def _clean_now(self) -> None:
        for found in clean_between_runs(self._open_context(), by=self._slot.name):
            LOG.info("run %s: removed %s, %s", found.run, found.path, size(found.bytes))

    def _keep_points(self) -> None:
        """Make restore points that are due."""
        _step_back()
        while not self._ending.wait(_POINT_SECONDS):
            self._guarded(self._make_points)

    def _make_points(self) -> None:
        for said in make_due_points(self._open_context()):
            LOG.info("%s", said)

    def _check_points(self) -> None:
        """Have Spark read the state of new points, one after the other."""
        _step_back()
        while not self._ending.wait(_CHECK_SECONDS):
            self._guarded(self._check_new_points)

    def _check_new_points(self) -> None:
        for said in check_due_points(self._open_context()):
            LOG.info("%s", said)

    def _keep_schedules(self) -> None:
        """Decide the ticks of schedules that are due."""
        while not self._ending.wait(_SCHEDULE_SECONDS):
            self._guarded(self._run_due_ticks)

    def _run_due_ticks(self) -> None:
        for said in self._scheduler.look(self._open_context(), self._store):
            LOG.info("%s", said)

    def _end(self) -> int:
        self._runner.stopping.set()
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._runner.is_busy and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._lost:
            # Another worker may have it by now, and goes on from the journal.
            LOG.error("worker slot %s was lost: this worker ends", self._slot.name)
            logging.shutdown()
            os._exit(UnreachableError.exit_code)
        LOG.info("%s ends", self._slot.name)
        under_way = self._store.runs.running(self._slot.name)
        if under_way:
            # Parked threads never end. What they were at is journalled: the next worker goes on.
            logging.shutdown()
            os._exit(0)
        # DBOS first: without the slot nothing of ours may look for workflows.
        self._engine.destroy()
        self._slot.release()
        self._restart_if_queued()
        return 0

    def _end_in_time(self) -> None:
        """End the process where it was asked to end and does not, and log what its threads do.

        A library's thread may wait for a server for as long as it likes, and Python joins those of
        a pool before it exits. Whatever is under way is journalled: the next worker resumes it.
        """
        self._ending.wait()
        time.sleep(_GRACE_SECONDS + _CLOSE_SECONDS)
        LOG.error("%s must stop, but some threads are still running: exiting", self._slot.name)
        faulthandler.dump_traceback(sys.stderr)
        logging.shutdown()
        os._exit(0)

    def _restart_if_queued(self) -> None:
        """Restart if a run was queued while an idle worker ended.

        Whoever enqueues checks the slot afterwards: either they see it free, or we see their run.
        """
        queued = self._store.runs.count(RunFilter(states=(RunState.QUEUED,)))
        if queued and not self._ending.is_set():
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
