"""Whose fence is up after a run that was stopped, who takes it off, and that an undo has one."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from crashing import COMMANDS, CrashingEffects
from headgate.errors import RunCancelledError
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.suspended_restarts import fence_left, may_lift
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps import RecordOffsets, StartPipeline, StopPipeline, Unfence
from headgate.store.runs import RunState
from headgate.store.step_records import step_records
from headgate.usecases.runs.read_run import run_detail
from headgate.worker.runner import Runner

FENCED = replace(COMMANDS, fence="touch fenced", unfence="rm -f fenced")
WORDS = {"pipeline": "q", "has_status": True, "fence": "f", "unfence": "u"}
STOP = StopPipeline(command="stop", start="start", **WORDS)
START = StartPipeline(command="start", stop="stop", **WORDS)
STEPS = (STOP, RecordOffsets(group="g"), START)
DONE, FAILED, WAITING = StepState.DONE, StepState.FAILED, StepState.WAITING


def records(*states, unfenced=False):
    return {
        n: Record(state=state, begun=state is not WAITING, unfenced=unfenced and n == 0)
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
        (records(FAILED, WAITING, WAITING, unfenced=True), False),
    ],
)
def test_a_fence_is_up_from_the_stop_to_a_start_that_is_done(found, is_up):
    assert (fence_left(STEPS, found) is STOP) is is_up


def test_an_end_of_the_fence_alone_counts_too():
    steps = (STOP, Unfence(pipeline="q", command="u", fence="f"))
    assert fence_left(steps, records(DONE, DONE)) is None
    assert fence_left(steps, records(DONE, FAILED)) is STOP


def test_it_is_lifted_only_where_nothing_but_the_stop_was_begun():
    assert may_lift(STEPS, records(FAILED), 0)
    assert not may_lift(STEPS, records(WAITING), 0)
    assert not may_lift(STEPS, records(DONE, FAILED), 1)
    assert not may_lift((RecordOffsets(group="g"), STOP), records(DONE, FAILED), 1)
    assert not may_lift((replace(STOP, fence=None, unfence=None),), records(FAILED), 0)


@pytest.fixture
def runner(lab, monkeypatch):
    """Makes a runner over a lab whose run is cancelled at the n-th wait of the step `at`."""

    def make(here, at, wait=1):
        runner = Runner(lambda: SimpleNamespace(registry=here.registry, home=here.home), here.store)

        def effects_of(row, _plan, position, *, cancellable=True):
            effects = here.effects(row.id)
            count = itertools.count(1)

            def pause(_seconds):
                if cancellable and position == at and next(count) >= wait:
                    raise RunCancelledError("the run was cancelled")

            effects._pause = pause
            return effects

        monkeypatch.setattr(runner, "_effects", effects_of)
        return runner

    return make


def begin(here):
    plan = build_plan("from-scratch", "q", here.effects())
    run = here.enqueue(plan)
    here.store.runs.claim("slot-0")
    return plan, run


def stands(here, run):
    return " ".join(run_detail(here.store, run).stands)


def test_cancelled_at_the_stop_it_takes_the_fence_off_and_a_resume_fences_again(lab, runner):
    here = lab(replace(FENCED, stop="true"))
    _plan, run = begin(here)
    # The first pause stands before the step, the second waits for its proof.
    state, error = runner(here, 0, wait=2).apply_step(run, 1, 0)
    assert state is RunState.CANCELLED and "its fence is taken off" in error
    assert not (here.folder / "fenced").exists()
    here.store.runs.finish(run, state, error=error)
    assert "fence of q" not in stands(here, run)
    assert "q may be stopped or not" in stands(here, run)
    here.registry = replace(
        here.registry, pipelines=(replace(here.registry.pipelines[0], commands=FENCED),)
    )
    here.store.runs.requeue(run, by="ann")
    here.store.runs.claim("slot-0")
    assert runner(here, 9).prepare(run, 2)[0] is None
    assert runner(here, 9).apply_step(run, 2, 0) == (None, None)
    assert (here.folder / "fenced").exists()


def test_a_fence_that_does_not_come_off_is_said_to_be_up(lab, runner):
    here = lab(replace(FENCED, stop="true", unfence="exit 7"))
    _, run = begin(here)
    state, error = runner(here, 0, wait=2).apply_step(run, 1, 0)
    assert "its fence is still up: the unfence command of q exited 7" in error
    here.store.runs.finish(run, state, error=error)
    # The journal alone can't tell whether the fence was up when the step failed.
    assert "The fence of q may be up (`touch fenced`)" in stands(here, run)


def test_cancelled_later_the_fence_stays_and_is_named_and_a_resume_puts_it_up_again(lab, runner):
    here = lab(FENCED)
    plan, run = begin(here)
    cancelled = runner(here, 1)
    assert cancelled.apply_step(run, 1, 0) == (None, None)
    state, error = cancelled.apply_step(run, 1, 1)
    assert (state, error) == (RunState.CANCELLED, "the run was cancelled")
    here.store.runs.finish(run, state, error=error)
    assert (here.folder / "fenced").exists()
    said = stands(here, run)
    assert "q was stopped or was so before" in said
    assert (
        "The fence of q is up (`touch fenced`): no orchestrator starts it until"
        f" `headgate resume {run}` or `headgate undo {run}` or by hand `rm -f fenced` takes it off."
    ) in said
    (here.folder / "fenced").unlink()
    assert [s.state for s in run_detail(here.store, run).steps][:3] == ["done", "failed", "skipped"]
    here.store.runs.requeue(run, by="ann")
    here.store.runs.claim("slot-0")
    # What it stopped at is under way again, and no failure any more.
    again = run_detail(here.store, run).steps
    assert [s.state for s in again][:3] == ["done", "running", "waiting"]
    assert again[1].error is None
    resumed = runner(here, 9)
    assert resumed.prepare(run, 2) == (None, None, len(plan.steps))
    assert (here.folder / "fenced").exists()
    for position in range(len(plan.steps)):
        assert resumed.apply_step(run, 2, position) == (None, None)
    assert (here.folder / "running").exists() and not (here.folder / "fenced").exists()


class Orchestrated(CrashingEffects):
    """An orchestrator starts the query whenever it finds it stopped and not fenced."""

    def status(self, pipeline):
        found = super().status(pipeline)
        folder = self.home.parent
        if found is Status.STOPPED and not (folder / "fenced").exists():
            (folder / "running").touch()
        return found


def moved(lab, commands):
    """A run without a fence that was cut off once the checkpoint was moved aside."""
    for at in itertools.count():
        here = lab(replace(commands, fence=None, unfence=None))
        plan, run = begin(here)
        assert here.crash(run, plan, at)
        if list(here.folder.glob(".ck.before-*")):
            here.registry = replace(
                here.registry, pipelines=(replace(here.registry.pipelines[0], commands=commands),)
            )
            return here, plan, run


@pytest.mark.parametrize("ran", [True, False])
def test_an_undo_is_fenced_against_an_orchestrator_and_unfences_at_its_end(lab, monkeypatch, ran):
    here, plan, run = moved(lab, FENCED)
    found = step_records(here.store.journal.entries(run))
    past = {n: r.as_record() for n, r in found.items()}
    if not ran:
        past[0] = replace(past[0], was={"running": False})
    undo = build_undo(Past(run=run, plan=plan, records=past), here.effects())
    assert undo.appliable
    assert (undo.steps[0].fence, undo.undoes[0]) == ("touch fenced", None)
    assert undo.steps[-1].action == ("start_pipeline" if ran else "unfence")

    def effects(run):
        made = Orchestrated(
            here.registry, here.home, run=run, pause=lambda _s: None, note=lambda _m: None
        )
        return made

    monkeypatch.setattr(here, "effects", effects)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert (here.folder / "ck" / "metadata").read_text() == '{"id":"old"}'
    assert not (here.folder / "fenced").exists()
    with closing(here.effects("look")) as after:
        after.status("q")
    assert (here.folder / "running").exists()
