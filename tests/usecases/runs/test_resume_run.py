"""When a run that stopped half-way may go on."""

import pytest

from headgate.errors import RefusedError
from headgate.model.registered_pipelines import Registry
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState
from headgate.usecases.context import Context
from headgate.usecases.runs.resume_run import resume_run


@pytest.fixture
def context(tmp_path):
    return Context(Registry(), f"sqlite:///{tmp_path / 'headgate.db'}", tmp_path)


@pytest.fixture
def ended(context):
    """Make a run that began its first step and ended in a state."""
    store = open_store(context.store_url)

    def make(state, undo_of=None):
        words = {"scenario": "from-scratch", "pipeline": "q", "plan_hash": "h", "plan": "{}"}
        new = NewRun(**words, resources=("group:g",), undo_of=undo_of)
        run = store.runs.enqueue(new, by="ann", action="apply")
        store.runs.claim("slot-0")
        store.journal.add(run, 0, Event.BEGUN, {"was": {}})
        store.runs.finish(run, state)
        return run

    yield make
    store.close()


def test_a_failed_run_goes_on(context, ended):
    assert resume_run(context, ended(RunState.FAILED), by="bob")


def test_not_once_an_undo_of_it_began(context, ended):
    run = ended(RunState.FAILED)
    undo = ended(RunState.FAILED, undo_of=run)
    with pytest.raises(RefusedError, match=rf"its undo \(run {undo}\) has started"):
        resume_run(context, run, by="bob")
    assert resume_run(context, undo, by="bob")


def test_of_two_undos_only_the_later_one(context, ended):
    run = ended(RunState.FAILED)
    first, second = (ended(RunState.FAILED, undo_of=run) for _ in range(2))
    with pytest.raises(RefusedError, match=f"because run {second} later changed"):
        resume_run(context, first, by="bob")
    assert resume_run(context, second, by="bob")
