"""Whose restarts a stopped run left suspended, who re-enables them, and that an undo suspends."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from headgate.errors import RunCancelledError
from headgate.gateway.adapters.run_context import RunContext
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.suspended_restarts import find_suspensions, may_reenable
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.process.reenable_restarts import ReenableRestarts
from headgate.reprocess.steps.process.stop_start import StartPipeline, StopPipeline
from headgate.store.rows import RunState
from headgate.store.step_records import step_records
from headgate.usecases.runs.read_run import run_detail
from headgate.worker.runner import Runner
from support.crashing import COMMANDS, QUERY_ID, CrashingApplier, QuickProcesses

SUSPENDED = replace(COMMANDS, suspend="touch suspended", reenable="rm -f suspended")
WORDS = {"pipeline": "q", "has_status": True, "suspend": "f", "reenable": "u"}
STOP = StopPipeline(command="stop", start="start", **WORDS)
START = StartPipeline(command="start", stop="stop", **WORDS)
STEPS = (STOP, RecordOffsets(group="g"), START)
DONE, FAILED, WAITING = StepState.DONE, StepState.FAILED, StepState.WAITING


def records(*states, reenabled=False):
    return {
        n: Record(state=state, begun=state is not WAITING, reenabled=reenabled and n == 0)
        for n, state in enumerate(states)
    }


@pytest.mark.parametrize(
    ("found", "is_up"),
    [
        (records(WAITING, WAITING, WAITING), False),
        (records(FAILED, WAITING, WAITING), True),
        (records(DONE, FAILED, WAITING), True),
        (records(DONE, DONE, FAILED), True),
        (records(DONE, DONE, DONE), False),
        (records(StepState.UNDONE, StepState.UNDONE, WAITING), False),
        (records(FAILED, WAITING, WAITING, reenabled=True), False),
    ],
)
def test_restarts_are_suspended_from_the_stop_to_a_start_that_is_done(found, is_up):
    assert find_suspensions(STEPS, found) == ((STOP,) if is_up else ())


def test_reenabled_restarts_alone_count_too():
    steps = (STOP, ReenableRestarts(pipeline="q", command="u", suspend="f"))
    assert find_suspensions(steps, records(DONE, DONE)) == ()
    assert find_suspensions(steps, records(DONE, FAILED)) == (STOP,)


def test_it_is_lifted_only_where_nothing_but_the_stop_was_begun():
    assert may_reenable(STEPS, records(FAILED), 0)
    assert not may_reenable(STEPS, records(WAITING), 0)
    assert not may_reenable(STEPS, records(DONE, FAILED), 1)
    assert not may_reenable((RecordOffsets(group="g"), STOP), records(DONE, FAILED), 1)
    assert not may_reenable((replace(STOP, suspend=None, reenable=None),), records(FAILED), 0)


@pytest.fixture
def runner(lab, monkeypatch):
    """Makes a runner over a lab whose run is cancelled at the n-th wait of the step `at`."""

    def make(here, at, wait=1):
        runner = Runner(lambda: SimpleNamespace(registry=here.registry, home=here.home), here.store)

        def effects_of(row, _plan, position, *, cancellable=True):
            applier = here.applier(row.id)
            count = itertools.count(1)

            def pause(_seconds):
                if cancellable and position == at and next(count) >= wait:
                    raise RunCancelledError("the run was cancelled")

            applier.context.pause = pause
            return applier

        monkeypatch.setattr(runner, "_effects", effects_of)
        return runner

    return make


def begin(here):
    plan = build_plan("from-scratch", "q", here.applier())
    run = here.enqueue(plan)
    here.store.runs.claim("slot-0")
    return plan, run


def stands(here, run):
    return " ".join(run_detail(here.store, run).state_after)


def test_cancelled_at_the_stop_it_reenables_restarts_and_a_resume_suspends_again(lab, runner):
    here = lab(replace(SUSPENDED, stop="true"))
    _plan, run = begin(here)
    # The first pause stands before the step, the second waits for its proof.
    state, error = runner(here, 0, wait=2).apply_step(run, 1, 0)
    assert state is RunState.CANCELLED and "restarts are re-enabled" in error
    assert not (here.folder / "suspended").exists()
    here.store.runs.finish(run, state, error=error)
    assert "Restarts of q" not in stands(here, run)
    assert "q may or may not be stopped" in stands(here, run)
    here.registry = replace(
        here.registry, pipelines=(replace(here.registry.pipelines[0], commands=SUSPENDED),)
    )
    here.store.runs.requeue(run, by="ann")
    here.store.runs.claim("slot-0")
    assert runner(here, 9).prepare(run, 2)[0] is None
    assert runner(here, 9).apply_step(run, 2, 0) == (None, None)
    assert (here.folder / "suspended").exists()


def test_restarts_that_stay_suspended_are_reported(lab, runner):
    here = lab(replace(SUSPENDED, stop="true", reenable="exit 7"))
    _, run = begin(here)
    state, error = runner(here, 0, wait=2).apply_step(run, 1, 0)
    assert "Restarts are still suspended: the reenable command of q exited with code 7" in error
    here.store.runs.finish(run, state, error=error)
    # The journal alone can't tell whether restarts were suspended when the step failed.
    assert "Restarts of q may be suspended (`touch suspended`)" in stands(here, run)


def test_cancelled_later_restarts_stay_suspended_and_a_resume_suspends_again(lab, runner):
    here = lab(SUSPENDED)
    plan, run = begin(here)
    cancelled = runner(here, 1)
    assert cancelled.apply_step(run, 1, 0) == (None, None)
    state, error = cancelled.apply_step(run, 1, 1)
    assert (state, error) == (RunState.CANCELLED, "the run was cancelled")
    here.store.runs.finish(run, state, error=error)
    assert (here.folder / "suspended").exists()
    said = stands(here, run)
    assert "q was stopped before or during the run" in said
    assert (
        "Restarts of q are suspended (`touch suspended`). No orchestrator starts q until"
        f" `headgate resume {run}` or `headgate undo {run}` or `rm -f suspended`"
        " re-enables restarts."
    ) in said
    (here.folder / "suspended").unlink()
    assert [s.state for s in run_detail(here.store, run).steps][:3] == ["done", "failed", "skipped"]
    here.store.runs.requeue(run, by="ann")
    here.store.runs.claim("slot-0")
    # What it stopped at is under way again, and no failure any more.
    again = run_detail(here.store, run).steps
    assert [s.state for s in again][:3] == ["done", "running", "waiting"]
    assert again[1].error is None
    resumed = runner(here, 9)
    assert resumed.prepare(run, 2) == (None, None, len(plan.steps))
    assert (here.folder / "suspended").exists()
    for position in range(len(plan.steps)):
        assert resumed.apply_step(run, 2, position) == (None, None)
    assert (here.folder / "running").exists() and not (here.folder / "suspended").exists()


class Orchestrated(QuickProcesses):
    """An orchestrator starts the query whenever it finds it stopped and not suspended."""

    def status(self, pipeline):
        found = super().status(pipeline)
        folder = self._context.home.parent
        if found is Status.STOPPED and not (folder / "suspended").exists():
            (folder / "running").touch()
        return found


def moved(lab, commands):
    """A run without suspended restarts that was cut off once the checkpoint was moved aside."""
    for at in itertools.count():
        here = lab(replace(commands, suspend=None, reenable=None))
        plan, run = begin(here)
        assert here.crash(run, plan, at)
        if list(here.folder.glob(".ck.before-*")):
            here.registry = replace(
                here.registry, pipelines=(replace(here.registry.pipelines[0], commands=commands),)
            )
            return here, plan, run


@pytest.mark.slow
@pytest.mark.parametrize("ran", [True, False])
def test_an_undo_suspends_restarts_and_reenables_them_at_its_end(lab, monkeypatch, ran):
    here, plan, run = moved(lab, SUSPENDED)
    found = step_records(here.store.journal.entries(run))
    past = {n: r.as_record() for n, r in found.items()}
    if not ran:
        past[0] = replace(past[0], was={"running": False})
    undo = build_undo(Past(run=run, plan=plan, records=past), here.applier())
    assert undo.can_apply
    first: Any = undo.steps[0]
    assert (first.suspend, undo.undoes[0]) == ("touch suspended", None)
    assert undo.steps[-1].action == ("start_pipeline" if ran else "reenable_restarts")

    def applier(run):
        made = CrashingApplier(RunContext(registry=here.registry, home=here.home, run=run))
        made.processes = Orchestrated(made.context)
        return made

    monkeypatch.setattr(here, "applier", applier)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert (here.folder / "ck" / "metadata").read_text() == f'{{"id":"{QUERY_ID}"}}'
    assert not (here.folder / "suspended").exists()
    with closing(here.applier("look")) as after:
        after.processes.status("q")
    assert (here.folder / "running").exists()
