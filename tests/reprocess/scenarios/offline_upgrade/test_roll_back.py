"""A refused run is taken back; who cancels that ends it at a safe point, and is told which."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.scenarios.build import build_plan
from headgate.store.rows import RunState
from headgate.usecases.runs.read_run import run_detail
from headgate.worker import runner as runner_module
from headgate.worker.runner import Runner
from support.waiting import PATIENCE, until

# No start command: a person has to start again what the run stopped.
STATUS = "[ -e running ] && exit 0 || exit 3"
STOPS = Commands(stop="rm -f running", status=STATUS)


@pytest.fixture
def refused(lab, monkeypatch):
    """A run that was refused at its third step: the query came back after it was stopped."""
    monkeypatch.setattr(runner_module, "_ASK_SECONDS", 0.0)
    here = lab(STOPS)
    plan = build_plan("from-scratch", "q", here.applier())
    run = here.enqueue(plan)
    here.store.runs.claim("slot-0")
    context = SimpleNamespace(registry=here.registry, home=here.home)
    runner = Runner(lambda: context, here.store)
    assert [runner.apply_step(run, 1, n) for n in (0, 1)] == [(None, None)] * 2
    (here.folder / "running").touch()
    state, error = runner.apply_step(run, 1, 2)
    assert state is RunState.REFUSED and "its status is running" in error
    (here.folder / "running").unlink()
    return here, runner, plan, run


def begin(runner, run):
    ended = []
    thread = threading.Thread(target=lambda: ended.append(runner.roll_back(run, 1)), daemon=True)
    thread.start()
    return thread, ended


def stands(here, run):
    return " ".join(run_detail(here.store, run).state_after)


def test_a_roll_back_that_waits_for_a_person_is_cancelled_and_says_where_that_leaves_things(
    refused,
):
    here, runner, plan, run = refused
    thread, ended = begin(runner, run)
    question = until(lambda: here.store.questions.open(run))
    assert question.request == "Start q"
    assert "Steps rolled back so far: 1." in stands(here, run)
    here.store.runs.request_cancel(run, by="ann")
    assert "The rollback stops before its next step" in stands(here, run)
    thread.join(PATIENCE)
    assert ended == [(RunState.CANCELLED, "the rollback of the run was cancelled")]
    here.store.runs.finish(
        run, *ended[0][:1], error="refused; the rollback of the run was cancelled"
    )
    detail = run_detail(here.store, run)
    assert [s.state for s in detail.steps] == ["in_doubt", "undone", "failed", "skipped"]
    said = " ".join(detail.state_after)
    assert "1 of 4 steps was rolled back" in said and "q may or may not be stopped" in said
    # The third was refused before it began.
    assert "Step 1 may be partly applied" in said and "Step 3" not in said
    assert f"Roll back with `headgate undo {run}`." in said
    undo = here.undo(run, plan)
    assert [s.describe() for s in undo.steps] == [
        "manual step: start q (no start command is registered), and verify that q runs"
    ]


def test_a_cancel_from_before_the_roll_back_is_heard_by_it_as_its_own_wish(refused):
    here, runner, _plan, run = refused
    here.store.runs.request_cancel(run, by="ann")
    thread, ended = begin(runner, run)
    until(lambda: here.store.questions.open(run))
    (here.folder / "running").touch()
    here.store.questions.confirm(run, by="ann", pipeline="q")
    thread.join(PATIENCE)
    assert ended == [(None, None)]
    assert [s.state for s in run_detail(here.store, run).steps][:2] == ["undone", "undone"]


def test_a_worker_that_takes_a_roll_back_up_still_hears_the_cancel(refused):
    here, runner, _plan, run = refused
    here.store.runs.begin_roll_back(run)
    here.store.runs.request_cancel(run, by="ann")
    assert runner.roll_back(run, 1) == (RunState.CANCELLED, "the rollback of the run was cancelled")
    assert [s.state for s in run_detail(here.store, run).steps][:2] == ["done", "done"]
