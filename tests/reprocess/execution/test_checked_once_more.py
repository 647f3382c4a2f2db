"""A command or a wait that fails is no failure of the run if the world reached the goal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.errors import RunCancelledError, StepError, UnreachableError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.checkpoint.repair import DeleteCopy
from headgate.reprocess.steps.checkpoint.switch_checkpoint import StartAtCheckpoint
from headgate.reprocess.steps.process.stop_start import STOPPED_SECONDS, StartPipeline
from headgate.reprocess.steps.upgrade.verify_version import StartVersion
from headgate.store.rows import Event
from headgate.worker.run_journal import RunJournal

STATUS = "[ -e running ] && exit 0 || exit 3"
GAVE_UP = "echo did nothing within 120 s >&2; exit 1"
STARTS = (
    'touch running; mkdir -p ck/offsets;[ -e ck/metadata ] || echo \'{"id":"new"}\' > ck/metadata'
)


def commands(*, start: str = STARTS, stop: str = "rm -f running") -> Commands:
    return Commands(stop=stop, start=start, status=STATUS)


def executed(here, plan, run, undo_of=None, *, applier=None):
    """Carry out a plan; return its notes and its executor."""
    applier = applier or here.applier(run)
    executor = Executor(applier, RunJournal(here.store, run, plan, undo_of=undo_of))
    for position, step in enumerate(plan.steps):
        executor.apply(position, step)
    return here.notes


def test_an_undo_whose_start_gave_up_waiting_is_done_once_the_query_runs(lab):
    here = lab(commands())
    old = tree_hash(here.folder / "ck")
    plan = build_plan("from-scratch", "q", here.applier())
    run = here.enqueue(plan)
    executed(here, plan, run)
    slow = replace(here.registry.pipelines[0], commands=commands(start=f"{STARTS}; {GAVE_UP}"))
    here.registry = replace(here.registry, pipelines=(slow,))
    undo = here.undo(run, plan)
    back = here.enqueue(undo, undo_of=run)
    notes = executed(here, undo, back, run)
    events = [e.event for e in here.store.journal.entries(back)]
    assert Event.FAILED not in events and events.count(Event.DONE) == len(undo.steps)
    (said,) = [n for n in notes if "A second check shows" in n]
    assert "did nothing within 120 s" in said
    assert tree_hash(here.folder / "ck") == old


def test_a_fresh_query_must_show_itself_though_its_process_lives(lab):
    here = lab(commands(start=f"touch running; {GAVE_UP}"))
    plan = build_plan("from-scratch", "q", here.applier())
    with pytest.raises(StepError, match="did nothing within 120 s"):
        executed(here, plan, here.enqueue(plan))


def test_a_start_that_leaves_nothing_running_fails_with_its_own_words(lab):
    here = lab(commands(start="echo no such unit >&2; exit 5"))
    plan = build_plan("from-scratch", "q", here.applier())
    with pytest.raises(StepError, match="exited with code 5: no such unit"):
        executed(here, plan, here.enqueue(plan))


def step(**fields):
    known = {"pipeline": "q", "stop": None, "command": "start", "has_status": True}
    return StartPipeline(**{**known, **fields})


@pytest.mark.parametrize(
    ("told", "is_reached"),
    [
        ([DriverStatus(Status.UNKNOWN)], True),
        ([DriverStatus(Status.STOPPED, run="old")], False),
        # What a killed driver said last is of the run before.
        ([DriverStatus(Status.RUNS, run="old")], False),
        (
            [*[DriverStatus(Status.STOPPED, run="old")] * 90, DriverStatus(Status.RUNS, run="new")],
            True,
        ),
    ],
)
def test_a_watched_query_counts_as_started_only_by_its_own_word(lab, told, is_reached):
    here = lab()
    applier, left = here.applier(), list(told)
    applier.processes.driver_status = lambda _pipeline: left.pop(0) if len(left) > 1 else left[0]
    assert step().reached(applier, {"head": None, "run": "old"}) is is_reached
    assert STOPPED_SECONDS / 0.5 < 90


def test_without_a_status_nothing_but_a_sign_of_the_query_counts(lab):
    here = lab(Commands(start="true"))
    applier, looks = here.applier(), []
    applier.processes.status = lambda _pipeline: Status.UNKNOWN
    assert not step(has_status=False).reached(applier, {"head": None, "run": None})
    applier.processes.driver_status = lambda _pipeline: (
        looks.append(1) or DriverStatus(Status.RUNS, run="new")
    )
    assert step(has_status=False).reached(applier, {"head": None, "run": None})


def test_restarts_that_stay_suspended_are_no_start(lab):
    here = lab(Commands(start="true", status=STATUS, reenable="exit 7"))
    was = {"head": None, "run": None}
    with pytest.raises(StepError, match="reenable command of q exited with code 7"):
        step(reenable="exit 7").reached(here.applier("r"), was)
    executor = Executor(here.applier("r"), None)
    assert not executor._is_reached(step(reenable="exit 7"), was)


def test_a_stop_command_that_fails_on_a_stopped_pipeline_fails_nothing(lab):
    here = lab(commands(stop="rm -f running; echo gave up waiting >&2; exit 1"))
    plan = build_plan("from-scratch", "q", here.applier())
    notes = executed(here, plan, here.enqueue(plan))
    (said,) = [n for n in notes if "A second check shows" in n]
    assert "gave up waiting" in said and said.startswith("A second check shows that q is stopped.")


def test_a_stop_command_that_fails_on_a_running_pipeline_fails_the_run(lab):
    here = lab(commands(stop="exit 1"))
    plan = build_plan("from-scratch", "q", here.applier())
    with pytest.raises(StepError, match="the stop command of q exited with code 1"):
        executed(here, plan, here.enqueue(plan))


@pytest.mark.parametrize("error", [StepError, UnreachableError])
@pytest.mark.parametrize("is_done", [True, False])
def test_any_step_is_looked_at_once_more(lab, error, is_done):
    """An answer that comes too late says nothing of the effect."""
    here = lab()
    applier = here.applier("r")
    copy = here.folder / "copy"
    copy.mkdir()

    def remove(*_):
        if is_done:
            copy.rmdir()
        raise error("no answer within 30 s")

    applier.checkpoints.remove_beside = remove
    drop = DeleteCopy(checkpoint=str(here.folder / "ck"), copy=str(copy))
    executor = Executor(applier, None)
    if is_done:
        executor._carry_out(drop, {})
        assert here.notes == [
            "A second check shows that the step is complete. Earlier error: no answer within 30 s"
        ]
    else:
        with pytest.raises(error, match="no answer within 30 s"):
            executor._carry_out(drop, {})


def test_a_cancel_is_never_taken_for_a_failure(lab):
    applier = lab().applier("r")

    def cancelled(*_):
        raise RunCancelledError("the run was cancelled")

    applier.checkpoints.remove_beside = cancelled
    with pytest.raises(RunCancelledError):
        Executor(applier, None)._carry_out(DeleteCopy(checkpoint="/none", copy="/none/copy"), {})


@pytest.mark.parametrize(
    "step",
    [
        StartVersion(pipeline="q", command="true", stop="true", has_status=True),
        StartAtCheckpoint(
            pipeline="q", command="true", stop="true", has_status=True, checkpoint="new", old="old"
        ),
    ],
    ids=["new version", "new checkpoint"],
)
def test_a_cancel_while_a_start_is_awaited_rolls_nothing_back(lab, step, monkeypatch):
    def cancelled(*_):
        raise RunCancelledError("the run was cancelled")

    monkeypatch.setattr(StartPipeline, "verify", cancelled)
    with pytest.raises(RunCancelledError):
        step.verify(lab().applier("r"), {})
