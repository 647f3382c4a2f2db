import pytest

from headgate.errors import NotFoundError, RefusedError
from headgate.store.rows import Event, RunState


def enqueue(store, new, by="ann"):
    return store.runs.enqueue(new, by=by, action="apply")


def test_a_queued_run_has_its_audit_row(store, new_run):
    run = enqueue(store, new_run())
    row = store.runs.get(run)
    assert (row.state, row.attempt, row.created_by) == (RunState.QUEUED, 1, "ann")
    (entry,) = store.audit.list(run)
    assert (entry.by, entry.action, entry.pipeline) == ("ann", "apply", "billing")


def test_two_active_runs_never_share_a_resource(store, new_run):
    first = enqueue(store, new_run("group:a", "checkpoint:/x"))
    with pytest.raises(RefusedError, match=first):
        enqueue(store, new_run("checkpoint:/x"))
    assert len(store.runs.list()) == 1 == len(store.audit.list())
    store.runs.claim("slot-0")
    store.runs.finish(first, RunState.DONE)
    enqueue(store, new_run("checkpoint:/x"))


def test_claims_go_oldest_first(store, new_run):
    first, second = enqueue(store, new_run("a")), enqueue(store, new_run("b"))
    assert [store.runs.claim("slot-0").id for _ in range(2)] == [first, second]
    assert store.runs.claim("slot-0") is None
    assert [r.id for r in store.runs.running("slot-0")] == [first, second]
    assert store.runs.running("slot-1") == ()


def test_who_waits_hears_of_each_change_without_reading_the_run(store, new_run):
    run, other = enqueue(store, new_run("a")), enqueue(store, new_run("b"))
    assert (store.runs.state(run), store.runs.is_busy("slot-0")) == (RunState.QUEUED, False)
    assert store.journal.newest(run) == (0, 0)
    store.runs.claim("slot-0")
    assert (store.runs.state(run), store.runs.is_busy("slot-0")) == (RunState.RUNNING, True)
    assert (store.runs.state(other), store.runs.is_busy("slot-1")) == (RunState.QUEUED, False)
    store.journal.add(run, 0, Event.BEGUN, {"was": {}})
    begun = store.journal.newest(run)
    store.journal.note(run, 0, "half of it")
    noted = store.journal.newest(run)
    store.journal.add(other, 0, Event.BEGUN, {"was": {}})
    assert begun[0] > 0 == begun[1] < noted[1]
    assert noted == (begun[0], noted[1]) == store.journal.newest(run)
    store.runs.finish(run, RunState.DONE)
    assert (store.runs.state(run), store.runs.is_busy("slot-0")) == (RunState.DONE, False)
    with pytest.raises(NotFoundError, match="run gone not found"):
        store.runs.state("gone")


def test_an_end_is_recorded_once(store, new_run):
    run = enqueue(store, new_run())
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.FAILED, error="no")
    store.runs.finish(run, RunState.DONE)
    row = store.runs.get(run)
    assert (row.state, row.error) == (RunState.FAILED, "no")
    assert [a.action for a in store.audit.list(run)] == ["apply", "failed"]


def test_only_failed_and_cancelled_runs_resume(store, new_run):
    run = enqueue(store, new_run())
    with pytest.raises(RefusedError, match="queued"):
        store.runs.requeue(run, by="bob")
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.FAILED, error="no")
    store.runs.requeue(run, by="bob")
    row = store.runs.get(run)
    assert (row.state, row.attempt, row.error) == (RunState.QUEUED, 2, None)


def test_a_resume_waits_for_whoever_has_the_resource(store, new_run):
    run = enqueue(store, new_run())
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.FAILED)
    enqueue(store, new_run())
    with pytest.raises(RefusedError, match="uses group billing"):
        store.runs.requeue(run, by="bob")


def test_cancel_asks_only_active_runs(store, new_run):
    run = enqueue(store, new_run())
    store.runs.request_cancel(run, by="bob")
    assert store.runs.get(run).cancel_requested
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.CANCELLED)
    with pytest.raises(RefusedError, match="nothing to cancel"):
        store.runs.request_cancel(run, by="bob")


def test_an_unknown_run(store):
    with pytest.raises(NotFoundError, match="run x not found"):
        store.runs.get("x")


def test_the_journal_keeps_order_and_data(store, new_run):
    run = enqueue(store, new_run())
    store.journal.add(run, 0, Event.BEGUN, {"was": [1]})
    store.journal.add_all([(run, 0, Event.DONE), (run, 0, Event.UNDONE)], doer=run)
    store.journal.note(run, 0, "half-way")
    entries = store.journal.entries(run)
    assert [e.event for e in entries] == [Event.BEGUN, Event.DONE, Event.UNDONE]
    assert entries[0].data == {"was": [1]}
    assert [n.message for n in store.journal.notes(run)] == ["half-way"]


def test_a_journal_entry_belongs_to_a_run(store):
    from headgate.errors import StoreError

    with pytest.raises(StoreError):
        store.journal.add("nobody", 0, Event.BEGUN)
