"""How long a remote copy takes is told from copies that were made, else it is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from headgate.model.registered_pipelines import Registry
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.checkpoint.create_remote import CopyRemoteCheckpoint
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.store.rows import NewRun
from headgate.store.tables import STEP_PROGRESS
from headgate.usecases.context import Context
from headgate.usecases.reprocess.copy_time import with_copy_time
from headgate.views.words.impact import impact_lines

pytestmark = pytest.mark.slow

GB = 10**9


@pytest.fixture
def context(tmp_path):
    return Context(Registry(), f"sqlite:///{tmp_path / 'headgate.db'}", Path(tmp_path))


def plan_of(size, place="s3a://b/ck.2"):
    step = CopyRemoteCheckpoint(
        pipeline="q", checkpoint="s3a://b/ck", query_id="i", place=place, bytes=size, files=9
    )
    return Plan(scenario="rewind", pipeline="q", steps=(RecordOffsets(group="g"), step))


def copied(context, size, seconds, *, place="s3a://b/ck.2", first=0, whole=True):
    """A run that copied so many bytes, the first of them by an earlier try."""
    store = open_store(context.store_url)
    plan = plan_of(size, place)
    new = NewRun(scenario="x", pipeline="q", plan_hash="h", plan=dump_plan(plan), resources=())
    run = store.runs.enqueue(new, by="ann", action="apply")
    row = {
        "done": size if whole else size - 1,
        "total": size,
        "first_done": first,
        "first_at": "2026-11-20T10:00:00+00:00",
        "at": f"2026-11-20T10:{seconds // 60:02}:{seconds % 60:02}+00:00",
    }
    with store.database.writing() as connection:
        insert = sa.insert(STEP_PROGRESS)
        connection.execute(insert.values(run=run, position=1, unit="bytes", **row))
    store.close()
    return run


def told(context, size):
    return dict(impact_lines(with_copy_time(context, plan_of(size)))).get("Copying")


def test_it_is_told_from_the_rate_of_earlier_copies_with_their_runs(context):
    runs = [copied(context, 2 * GB, 100), copied(context, 4 * GB, 60, first=2 * GB)]
    said = told(context, 5 * GB)
    # 4 GB in 160 s: what an earlier try had copied is no part of the rate.
    assert said.startswith("about 3.33 min: earlier runs copied at 25 MB/s on this file system")
    assert all(run in said for run in runs)


OTHERS = {
    "nothing yet": {},
    "another bucket": {"size": 2 * GB, "seconds": 100, "place": "s3a://other/ck.2"},
    "another store": {"size": 2 * GB, "seconds": 100, "place": "gs://b/ck.2"},
    "much smaller": {"size": GB // 10, "seconds": 100},
    "not to its end": {"size": 2 * GB, "seconds": 100, "whole": False},
    "in no time": {"size": 2 * GB, "seconds": 0},
}


@pytest.mark.parametrize("earlier", OTHERS.values(), ids=OTHERS)
def test_what_tells_nothing_of_this_copy_leaves_it_unknown(context, earlier):
    if earlier:
        copied(context, **earlier)
    assert told(context, 5 * GB).startswith("unknown: no run has copied a similar size")


def test_a_plan_without_a_copy_says_nothing_of_it(context):
    plan = Plan(scenario="x", pipeline="q", steps=(RecordOffsets(group="g"),))
    assert with_copy_time(context, plan) == plan
