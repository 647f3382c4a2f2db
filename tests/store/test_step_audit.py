"""What happens to a run's steps is in the audit trail, in the transaction of the journal."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from headgate.errors import StoreError
from headgate.store.rows import Event


def test_each_entry_of_a_step_has_its_audit_row(store, new_run):
    run = store.runs.enqueue(new_run(), by="ann", action="apply")
    store.runs.claim("slot-3")
    store.journal.add(run, 0, Event.BEGUN, {"was": {"offsets": [1]}})
    store.journal.add(run, 0, Event.FAILED, {"error": "no broker"})
    store.runs.begin_roll_back(run)
    rows = [r for r in store.audit.list(run) if r.is_of_step]
    assert [(r.by, r.pipeline, r.action, r.details) for r in rows] == [
        ("slot-3", "billing", "step begun", {"step": 0}),
        ("slot-3", "billing", "step failed", {"step": 0, "error": "no broker"}),
        ("slot-3", "billing", "step returning", {"step": -1}),
    ]
    assert [r.action for r in store.audit.list(run) if not r.is_of_step] == ["apply"]


def test_what_an_undo_takes_back_is_the_work_of_its_own_worker(store, new_run):
    run = store.runs.enqueue(new_run("a"), by="ann", action="apply")
    store.runs.claim("slot-0")
    undo = store.runs.enqueue(new_run("b", undo_of=run), by="bob", action="undo")
    store.runs.claim("slot-1")
    entries = [(undo, 0, Event.DONE), (run, 2, Event.UNDONE)]
    store.journal.add_all(entries, doer=undo)
    for at, (action, step) in {undo: ("step done", 0), run: ("step undone", 2)}.items():
        (row,) = [r for r in store.audit.list(at) if r.is_of_step]
        assert (row.by, row.action, row.details) == ("slot-1", action, {"step": step})


def test_nothing_is_journalled_without_its_audit_row(store, new_run):
    run = store.runs.enqueue(new_run(), by="ann", action="apply")
    refuse = "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END"
    with store.database.writing() as connection:
        connection.execute(sa.text(refuse))
    with pytest.raises(StoreError, match="full"):
        store.journal.add(run, 0, Event.BEGUN, {"was": {}})
    assert store.journal.entries(run) == []
