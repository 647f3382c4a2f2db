"""Killed before or after any effect or journal entry, a run goes on to the same end."""

import itertools

import pytest

from headgate.errors import RefusedError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.reprocess.scenarios.build import build_plan
from headgate.usecases.runs.apply_plan import new_run
from support.crashing import QUERY_ID

pytestmark = pytest.mark.slow


def reset_of(lab):
    plan = build_plan("from-scratch", "q", lab.applier())
    assert plan.can_apply
    return plan


def assert_reset(lab, run, old):
    assert tree_hash(lab.folder / f".ck.before-{run}") == old
    assert (lab.folder / "ck" / "metadata").read_text() == '{"id":"new"}\n'
    assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()


def assert_undone(lab, old):
    assert tree_hash(lab.folder / "ck") == old
    assert not list(lab.folder.glob(".ck.before-*"))
    assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()


def test_a_reset_survives_a_crash_at_every_point(lab):
    for at in itertools.count():
        here = lab()
        old = tree_hash(here.folder / "ck")
        plan = reset_of(here)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        assert_reset(here, run, old)
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert_undone(here, old)
        if not crashed:
            break
    assert at > 20


def test_an_undo_survives_a_crash_at_every_point(lab):
    for at in itertools.count():
        here = lab()
        old = tree_hash(here.folder / "ck")
        plan = reset_of(here)
        run = here.enqueue(plan)
        here.execute(run, plan)
        undo = here.undo(run, plan)
        back = here.enqueue(undo, undo_of=run)
        crashed = here.crash(back, undo, at, undo_of=run)
        here.execute(back, undo, undo_of=run)
        assert_undone(here, old)
        if not crashed:
            break
    assert at > 15


def test_what_a_crash_left_half_done_can_be_undone_instead(lab):
    for at in itertools.count():
        here = lab()
        old = tree_hash(here.folder / "ck")
        plan = reset_of(here)
        run = here.enqueue(plan)
        if not here.crash(run, plan, at):
            break
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert_undone(here, old)
    assert at > 20


def unfinished_runs(lab):
    """A reset that crashed once the checkpoint was moved, and the query started by hand since."""
    for at in itertools.count():
        here = lab()
        plan = reset_of(here)
        run = here.enqueue(plan)
        assert here.crash(run, plan, at)
        if list(here.folder.glob(".ck.before-*")):
            (here.folder / "running").touch()
            return here, run, plan


def test_a_checkpoint_is_not_moved_where_somebody_started_the_query_meanwhile(lab):
    here, run, plan = unfinished_runs(lab)
    with pytest.raises(RefusedError, match="its status is running"):
        here.execute(run, plan)


def test_an_undo_stops_what_somebody_started_meanwhile(lab):
    here, run, plan = unfinished_runs(lab)
    undo = here.undo(run, plan)
    assert undo.steps[0].action == "stop_pipeline" and undo.undoes[0] is None
    assert new_run(undo).undo_of == run and new_run(plan).undo_of is None
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert (here.folder / "running").exists() and not (here.folder / "twice").exists()
    assert (here.folder / "ck" / "metadata").read_text() == f'{{"id":"{QUERY_ID}"}}'
