"""Places that runs made for a remote checkpoint go when nothing needs them, and nothing else."""

from __future__ import annotations

import os
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from headgate.store import open_store
from headgate.store.rows import RunState
from headgate.store.tables import RUN_RESOURCES, RUNS
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN, _undo_blockers
from headgate.usecases.runs.clean_runs import clean_runs
from support.remote_lab import scratch_of

pytestmark = pytest.mark.slow

OLD = timedelta(days=20)


@pytest.fixture
def lab(remote):
    return remote()


def context_of(lab):
    return Context(lab.led(), str(lab.store.database.url), lab.home)


def end(lab, run, *, state=RunState.DONE, ago=OLD):
    """Let the run have ended so long ago, and what it has written be as old."""
    ended = (datetime.now(UTC) - ago).isoformat()
    with lab.store.runs._database.writing() as connection:
        values = {"state": state.value, "ended_at": None if state.is_active else ended}
        connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))
    at = time.time() - ago.total_seconds()
    for file in (lab.folder / "store").rglob("*"):
        if file.is_file():
            os.utime(file, (at, at))


def led_twice(lab, **how):
    """The query was led from `ck` to `ck.2`, and on to `ck.3`."""
    runs = []
    for _ in range(2):
        plan = scratch_of(lab)
        run = lab.enqueue(plan)
        with lab.store.runs._database.writing() as connection:
            for name in plan.resources:
                connection.execute(sa.insert(RUN_RESOURCES).values(run=run, resource=name))
        lab.execute(run, plan)
        end(lab, run, **how)
        runs.append(run)
    assert lab.now == f"{lab.declared}.3"
    return runs


def clean(lab, **how):
    return [(c.run, c.path, c.bytes > 0) for c in clean_runs(context_of(lab), by="ann", **how)]


def there(lab):
    return {n: lab.folder_of(f"{lab.declared}{n}").exists() and any(
        p.is_file() for p in lab.folder_of(f"{lab.declared}{n}").rglob("*")
    ) for n in ("", ".2", ".3")}  # fmt: skip


def test_the_place_between_goes_and_neither_the_first_nor_the_one_in_use(lab):
    first, second = led_twice(lab)
    between = [(first, f"{lab.declared}.2", True)]
    assert clean(lab, dry=True) == between and all(there(lab).values())
    assert clean(lab) == between
    assert there(lab) == {"": True, ".2": False, ".3": True}
    assert clean(lab) == []
    with closing(open_store(context_of(lab).store_url)) as store:
        for run in (first, second):
            assert [row.action for row in store.audit.list(run)][-1] == CLEAN
        (reason,) = _undo_blockers(store, store.runs.get(second), None)
    assert "its snapshots expired" in reason


def test_what_an_undo_may_need_stays(lab):
    led_twice(lab, ago=timedelta(days=1))
    assert clean(lab) == [] and all(there(lab).values())


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.FAILED])
def test_a_run_that_is_not_over_keeps_what_it_came_from(lab, state):
    _, second = led_twice(lab)
    end(lab, second, state=state)
    assert clean(lab) == [] and all(there(lab).values())


def test_a_place_that_something_writes_to_stays(lab):
    led_twice(lab)
    (lab.folder_of(f"{lab.declared}.2") / "offsets/10").write_text("v1")
    assert clean(lab) == [] and all(there(lab).values())


def test_what_no_run_has_made_is_not_looked_at(lab):
    led_twice(lab)
    other = lab.folder_of(f"{lab.declared}.7")
    other.mkdir()
    (other / "metadata").write_text("{}")
    os.utime(other / "metadata", (1, 1))
    clean(lab)
    assert (other / "metadata").exists()


def test_what_an_undone_run_left_at_its_place_goes_too(lab):
    plan = scratch_of(lab)
    run = lab.run(plan)
    undo = lab.undo(run, plan)
    back = lab.run(undo, undo_of=run)
    for each in (run, back):
        end(lab, each)
    assert lab.now == lab.declared
    assert clean(lab) == [(run, f"{lab.declared}.2", True)]
    assert there(lab) == {"": True, ".2": False, ".3": False}
