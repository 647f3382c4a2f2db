"""What can still be done with a run that was undone, or after which another one came."""

from __future__ import annotations

from dataclasses import replace

from headgate.reprocess.scenarios.build import build_plan
from headgate.store.rows import RunState
from headgate.usecases.reprocess.rebuild_plan import undo_plan
from headgate.usecases.runs.apply_plan import new_run
from headgate.usecases.runs.read_run import run_detail
from headgate.worker.run_journal import RunJournal


def ended(here, plan, state=RunState.DONE, *, steps=None):
    """Run a plan, or only its first steps, and end it so; return its id."""
    run = here.store.runs.enqueue(new_run(plan), by="ann", action="apply")
    here.store.runs.claim("slot-0")
    undone = new_run(plan).undo_of
    here.execute(run, replace(plan, steps=plan.steps[:steps]), undone)
    RunJournal(here.store, run, plan, undo_of=undone).close_undone()
    here.store.runs.finish(run, state)
    return run


def scratch(here):
    return build_plan("from-scratch", "q", here.applier())


def undo_of(here, run):
    return undo_plan(here.store, here.applier(), run)


def test_a_run_that_was_undone_is_said_to_be_so_and_by_which_run(lab):
    here = lab()
    run = ended(here, scratch(here))
    undo = ended(here, undo_of(here, run))
    again = undo_of(here, run)
    assert again.blockers == (f"run {run} was already undone by run {undo}",)
    assert not run_detail(here.store, run).can_undo


def test_a_run_that_another_one_came_after_offers_no_way_that_would_be_refused(lab):
    here = lab()
    first = ended(here, scratch(here), RunState.FAILED, steps=2)
    assert "Continue with `headgate resume" in " ".join(run_detail(here.store, first).state_after)
    later = ended(here, scratch(here))
    reason = f"un {later} later changed {new_run(scratch(here)).resources[0].replace(':', ' ')}"
    said = run_detail(here.store, first).state_after
    assert said[-1] == f"R{reason}, and was not undone: undo that run first."
    assert not any("headgate resume" in sentence for sentence in said)
    assert undo_of(here, first).blockers == (f"r{said[-1][1:-1]}",)
    ended(here, undo_of(here, later))
    assert "Continue with `headgate resume" in " ".join(run_detail(here.store, first).state_after)
