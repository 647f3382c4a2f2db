"""A pause ends with the run that starts the pipeline; plans and undos say so."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from headgate.reprocess.plan import UNDO, Plan, dump_plan
from headgate.reprocess.steps.process.stop_start import StartPipeline, StopPipeline
from headgate.store import open_store
from headgate.store.rows import NewRun, RunState
from headgate.store.tables import RUNS
from headgate.usecases.activity.list_paused import list_paused
from headgate.usecases.reprocess import rebuild_plan
from headgate.usecases.runs.apply_plan import new_run
from support.flat_ports import FlatPorts

STOP = StopPipeline(pipeline="q", command="stop", start="start", has_status=False)
START = StartPipeline(pipeline="q", command="start", stop="stop", has_status=False)
PAUSE = Plan(scenario="pause", pipeline="q", steps=(STOP,))
RESUME = Plan(scenario="pause", pipeline="q", steps=(START,), options={"resume": True})
MOVE = Plan(scenario="from-point", pipeline="q", steps=(STOP, START))


class Inspector(FlatPorts):
    """Nothing is registered but what the plan says."""

    def registered(self, pipeline):
        return None

    def described(self, pipeline):
        return None


@pytest.fixture
def store(tmp_path):
    with closing(open_store(f"sqlite:///{tmp_path / 'db'}")) as opened:
        yield opened


@pytest.fixture
def ran(store):
    """Store a completed run of a plan; a second later than the one before."""
    count = iter(range(10, 60))

    def ran(plan, undo_of=None):
        new = NewRun(scenario=plan.scenario, pipeline="q", plan_hash=plan.hash,
                     plan=dump_plan(plan), resources=("group:g",), undo_of=undo_of)  # fmt: skip
        run = store.runs.enqueue(new, by="ann", action="apply")
        at = f"2026-01-01T00:00:{next(count)}+00:00"
        values = {"state": RunState.DONE.value, "created_at": at, "ended_at": at}
        with store.database.writing() as connection:
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))
        return run

    return ran


def test_only_the_run_that_resumes_is_marked_as_such():
    assert [new_run(plan).resumes for plan in (PAUSE, RESUME, MOVE)] == [False, True, False]


def risks(store, monkeypatch, plan):
    monkeypatch.setattr(rebuild_plan, "build_plan", lambda *_a, **_k: plan)
    return rebuild_plan.fresh_plan(store, Inspector(), plan.scenario, "q", {}).risks


def test_a_plan_that_starts_a_paused_pipeline_says_who_paused_it(store, ran, monkeypatch):
    assert risks(store, monkeypatch, MOVE) == ()
    run = ran(PAUSE)
    (risk,) = risks(store, monkeypatch, MOVE)
    assert risk.startswith("q is paused (since 2026-01-01 00:00:10 UTC, by ann)") and run in risk
    assert risk.endswith("The run of this plan starts q, and ends the pause")
    assert risks(store, monkeypatch, RESUME) == ()
    ran(MOVE)
    assert risks(store, monkeypatch, MOVE) == ()


@pytest.mark.parametrize("starting", [MOVE, RESUME])
def test_a_pause_that_another_run_has_ended_has_nothing_to_undo(store, ran, starting):
    paused = ran(PAUSE)
    started = ran(starting)
    (reason,) = rebuild_plan.undo_plan(store, Inspector(), paused).blockers
    assert reason.startswith(f"the pause by run {paused} has ended, because run {started} started")
    assert "There is nothing to undo" in reason


def test_the_undo_of_a_resume_pauses_again(store, ran):
    paused = ran(PAUSE)
    resumed = ran(RESUME)
    assert list_paused(store) == {}
    ran(Plan(scenario=UNDO, pipeline="q", steps=(STOP,), options={"run": resumed}), resumed)
    assert list_paused(store)["q"].run == paused
    reasons = rebuild_plan.undo_plan(store, Inspector(), paused).blockers
    assert not any("has ended" in reason for reason in reasons)
