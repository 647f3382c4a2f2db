"""The column `resumes` of `runs` is written and read, also for runs before the column existed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from headgate.reprocess.plan import Plan, dump_plan
from headgate.store import open_store
from headgate.store.migrations.versions import v0011_runs_resumes


@pytest.mark.parametrize("resumes", [True, False])
def test_what_is_written_is_read(store, new_run, resumes):
    run = store.runs.enqueue(replace(new_run(), resumes=resumes), by="ann", action="apply")
    assert store.runs.get(run).resumes is resumes
    assert [row.resumes for row in store.runs.list()] == [resumes]


@pytest.mark.parametrize(
    ("scenario", "options", "resumes"),
    [
        ("pause", {"resume": True}, True),
        ("pause", {}, False),
        ("from-scratch", {}, None),
    ],
)
def test_a_migration_reads_it_from_the_plans_of_older_runs(
    url, new_run, scenario, options, resumes
):
    plan = dump_plan(Plan(scenario=scenario, pipeline="billing", options=options))
    with closing(open_store(url)) as store:
        new = replace(new_run(), scenario=scenario, plan=plan)
        run = store.runs.enqueue(new, by="ann", action="apply")
        with store.database.writing() as connection:
            connection.execute(sa.text("ALTER TABLE runs DROP COLUMN resumes"))
            # Not by the store's version: later migrations would add their columns a second time.
            with Operations.context(MigrationContext.configure(connection)):
                v0011_runs_resumes.upgrade()
        assert store.runs.get(run).resumes is resumes
