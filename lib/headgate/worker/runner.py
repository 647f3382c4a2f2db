"""What a worker does with one run: check, carry out its steps, record its end.

Each public method is one step of the DBOS workflow: called again after a crash, it continues
where the journal says that it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from headgate.errors import HeadgateError, RefusedError, RunCancelledError, StoreError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.reprocess.execution.execute import Executor, Record
from headgate.reprocess.execution.relied_topics import relied_topics
from headgate.reprocess.execution.suspended_restarts import find_suspensions, may_reenable
from headgate.reprocess.plan import Plan, load_plan
from headgate.reprocess.steps.base.step import Step, pipeline_of
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.store import Store
from headgate.store.rows import Event, RunRow, RunState
from headgate.store.step_records import step_records
from headgate.text.secrets import mask_text
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import approved_now
from headgate.usecases.reprocess.reset_registry import registry_of
from headgate.usecases.schedules.plan_tick import refuse_beyond_limit
from headgate.worker.run_journal import DocumentWriter, ProgressWriter, RunJournal, of_undo

_LOOK_SECONDS = 0.2
_ASK_SECONDS = 1.0


class Runner:
    """Executes runs over one store; `stopping` is set when the worker is to end.

    `context` is called at each step: the registry may be edited while a worker runs.
    """

    def __init__(self, context: Callable[[], Context], store: Store) -> None:
        self.stopping = threading.Event()
        self._context = context
        self._store = store
        self._lock = threading.Lock()
        self._busy = 0

    @property
    def is_busy(self) -> bool:
        """Whether a step is at work, not merely blocked at a safe point."""
        return self._busy > 0

    def prepare(self, run: str, attempt: int) -> tuple[RunState | None, str | None, int]:
        """Check the plan against the cluster state, unless a step has already started.

        Returns (None, None, number of steps), or how and why the run ends here, with 0.
        """
        with self._working():
            try:
                return None, None, self._prepare(run, attempt)
            except HeadgateError as error:
                return _end(error, first=attempt == 1), str(error), 0

    def _prepare(self, run: str, attempt: int) -> int:
        row = self._mine(run, attempt)
        plan = load_plan(row.plan, source=f"run {run}")
        if not self._store.journal.entries(run):
            with closing(self._effects(row, plan, -1)) as applier:
                applier.pause(0)
                now = approved_now(self._store, applier, plan, but=run)
            refuse_beyond_limit(self._store, run, now)
        elif attempt > 1:
            self._suspend_again(row, plan)
        return len(plan.steps)

    def _suspend_again(self, row: RunRow, plan: Plan) -> None:
        """Suspend what the run left suspended: somebody may have re-enabled it by hand since."""
        for left in find_suspensions(plan.steps, self._records(row.id)):
            registered = self._context().registry.pipeline(left.pipeline)
            if registered is None or registered.commands.suspend is None:
                continue
            with closing(self._effects(row, plan, -1)) as applier:
                applier.processes.command(left.pipeline, "suspend")

    def _reenable_restarts(self, row: RunRow, plan: Plan, position: int) -> str:
        """Re-enable restarts if a cancelled run only stopped the pipeline; returns what failed.

        Those of an undo stay suspended: its effect may be there in part.
        """
        if row.undo_of is not None or not may_reenable(plan.steps, self._records(row.id), position):
            return ""
        step = self._step(row, plan, position)
        assert isinstance(step, StopPipeline)
        try:
            with closing(self._effects(row, plan, position, cancellable=False)) as applier:
                applier.processes.command(step.pipeline, "reenable")
        except HeadgateError as error:
            return f". Restarts are still suspended: {error}"
        said = {"error": "the run was cancelled", "reenabled": True}
        self._store.journal.add(row.id, position, Event.FAILED, said)
        return ". The pipeline was not stopped yet, so restarts are re-enabled"

    def _records(self, run: str) -> dict[int, Record]:
        found = step_records(self._store.journal.entries(run))
        return {position: record.as_record() for position, record in found.items()}

    def apply_step(
        self, run: str, attempt: int, position: int
    ) -> tuple[RunState | None, str | None]:
        """Carry out one step; returns (None, None) or how and why the run ends here."""
        with self._working():
            row = self._mine(run, attempt)
            plan = load_plan(row.plan, source=f"run {run}")
            try:
                with closing(self._effects(row, plan, position)) as applier:
                    step = self._step(row, plan, position)
                    topics = relied_topics(plan, position)
                    self._executor(row, plan, applier, topics).apply(position, step)
            except RunCancelledError as error:
                return RunState.CANCELLED, f"{error}{self._reenable_restarts(row, plan, position)}"
            except HeadgateError as error:
                return _end(error, first=self._can_roll_back(row, plan)), str(error)
            return None, None

    def _mine(self, run: str, attempt: int) -> RunRow:
        """Return the run's row; StoreError where a forgotten workflow wakes after its end."""
        row = self._store.runs.get(run)
        if row.state is not RunState.RUNNING or row.attempt != attempt:
            raise StoreError(
                f"this worker no longer executes attempt {attempt} of run {run}: the run is "
                f"{row.state} at attempt {row.attempt}"
            )
        return row

    def _can_roll_back(self, row: RunRow, plan: Plan) -> bool:
        """Whether a refusal may take everything back: not of what was resumed, nor of an undo."""
        begun = step_records(self._store.journal.entries(row.id))
        return row.attempt == 1 and all(
            plan.steps[position].undoable for position, record in begun.items() if record.begun
        )

    def _step(self, row: RunRow, plan: Plan, position: int) -> Step:
        step = plan.steps[position]
        name = pipeline_of(step, plan.pipeline)
        pipeline = self._context().registry.pipeline(name) if name else None
        # Who resumes a run wants the commands of now: a broken one is what made it fail.
        return step.rebind(pipeline.commands) if row.attempt > 1 and pipeline else step

    def roll_back(self, run: str, attempt: int) -> tuple[RunState | None, str | None]:
        """Take a refused run's steps back.

        Returns (None, None), or how the run ends instead, and why, where that didn't come to its
        end: it failed, or somebody cancelled it, as where it waits for a person.
        """
        with self._working():
            try:
                row = self._mine(run, attempt)
                plan = load_plan(row.plan, source=f"run {run}")
                self._store.runs.begin_roll_back(run)
                with closing(self._effects(row, plan, -1)) as applier:
                    self._executor(row, plan, applier).roll_back(plan.steps)
            except RunCancelledError:
                return RunState.CANCELLED, "the rollback of the run was cancelled"
            except HeadgateError as error:
                return RunState.FAILED, f"the rollback of the run failed: {error}"
            return None, None

    def finish(self, run: str, attempt: int, state: RunState, error: str | None) -> None:
        """Record the run's end; of a run that has ended already nothing is changed."""
        row = self._store.runs.get(run)
        if row.state is not RunState.RUNNING or row.attempt != attempt:
            return
        if state is RunState.DONE and row.undo_of is not None:
            plan = load_plan(row.plan, source=f"run {run}")
            RunJournal(self._store, run, plan, undo_of=row.undo_of).close_undone()
        said = of_undo(mask_text(error), row.undo_of) if error else None
        self._store.runs.finish(run, state, error=said)

    def _executor(
        self,
        row: RunRow,
        plan: Plan,
        applier: LiveApplier,
        topics: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Executor:
        journal = RunJournal(self._store, row.id, plan, undo_of=row.undo_of)
        return Executor(applier, journal, topics)

    def _effects(
        self, row: RunRow, plan: Plan, position: int, *, cancellable: bool = True
    ) -> LiveApplier:
        context = self._context()
        given = RunContext(
            registry=registry_of(context.registry, self._store, plan),
            home=context.home,
            run=row.id,
            pause=self._pause_for(row.id, cancellable=cancellable),
            note=lambda message: self._store.journal.note(row.id, position, message),
            ask=lambda word, request: (
                self._store.questions.ask(row.id, position, row.attempt, word, request).by
            ),
            progress=ProgressWriter(self._store, row.id, position).write,
            switch_checkpoint=lambda pipeline, declared, location: (
                self._store.checkpoint_locations.switch_checkpoint(
                    pipeline, declared=declared, location=location, run=row.id
                )
            ),
            keep=DocumentWriter(self._store, row.id, position, row.attempt).write,
            schedules=self._store.schedules,
        )
        return with_judge(LiveApplier(given), context)

    def _pause_for(self, run: str, *, cancellable: bool) -> Callable[[float], None]:
        """Return the wait; what a cancel itself does is not cancellable."""
        asked = 0.0

        def pause(seconds: float) -> None:
            nonlocal asked
            deadline = time.monotonic() + seconds
            while True:
                self._block_if_stopping()
                if cancellable and (time.monotonic() - asked >= _ASK_SECONDS or seconds == 0):
                    asked = time.monotonic()
                    self._stop_if_cancelled(run)
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                time.sleep(min(left, _LOOK_SECONDS))

        return pause

    def _stop_if_cancelled(self, run: str) -> None:
        if self._store.runs.get(run).cancel_requested:
            raise RunCancelledError("the run was cancelled")

    def _block_if_stopping(self) -> None:
        """Block here for good once the worker ends: the next one resumes from the journal."""
        if not self.stopping.is_set():
            return
        with self._lock:
            self._busy -= 1
        threading.Event().wait()

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def _enter(self) -> None:
        with self._lock:
            self._busy += 1
        self._block_if_stopping()


def _end(error: HeadgateError, *, first: bool) -> RunState:
    """Return how a run ends with an error; only a run that is rolled back may say `refused`."""
    if isinstance(error, RunCancelledError):
        return RunState.CANCELLED
    return RunState.REFUSED if first and isinstance(error, RefusedError) else RunState.FAILED
