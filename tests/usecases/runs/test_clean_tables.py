"""The tables that a run has put beside a target go with its snapshots, and no other table."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from headgate.errors import RefusedError, UnreachableError
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState
from headgate.store.tables import RUNS
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.rebuild_plan import _undo_blockers
from headgate.usecases.runs.clean_runs import clean_runs
from support.postgres_server import running_postgres

pytestmark = pytest.mark.slow

TOML = """
[jdbc.shop]
url = "jdbc:postgresql://127.0.0.1:{port}/{name}"
user = "headgate"
[[pipeline]]
name = "q"
engine = "spark"
checkpoint = "ck"
[runs]
keep_snapshots = "2 days"
"""


@pytest.fixture(scope="module")
def server():
    with running_postgres() as made:
        yield made


@pytest.fixture
def shop(server, tmp_path):
    name = server.database().rpartition("/")[2]
    with server.connect(name) as connection:
        text = TOML.format(port=connection.info.port, name=name)
        (tmp_path / "headgate.toml").write_text(text)
        connection.execute("CREATE TABLE totals (id int PRIMARY KEY)")
        yield connection


@pytest.fixture
def context(shop, tmp_path):
    return open_context(str(tmp_path / "headgate.toml"))


def ran(context, shop, *, days, state=RunState.DONE, before=None, more=()):
    """A run that replaced rows and ended so many days ago; `before` is a name in its journal."""
    new = NewRun(scenario="historical-range", pipeline="q", plan_hash="h", plan="{}", resources=())
    with closing(open_store(context.store_url)) as store:
        run = store.runs.enqueue(new, by="ann", action="apply")
        suffix = run.replace("-", "_")
        names = {word: f"headgate_{word}_{suffix}" for word in ("staged", "before", "after", *more)}
        for word in ("before", "after", *more):
            shop.execute(f"CREATE TABLE {names[word]} AS SELECT generate_series(1, 100) AS id")
        was = {"connection": "shop", "schema": "public", "table": "totals", **names}
        if before:
            was["before"] = before
        store.journal.add(run, 0, Event.BEGUN, {"was": was})
        if state is RunState.DONE:
            store.journal.add(run, 0, Event.DONE)
        ended = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        with store.runs._database.writing() as connection:
            values = {"state": state.value, "ended_at": ended}
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))
    return run


def tables(shop):
    found = shop.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {name for (name,) in found}


def of(run):
    return {f"headgate_{word}_{run.replace('-', '_')}" for word in ("before", "after")}


def test_tables_of_an_old_run_are_dropped_and_it_is_not_undone_any_more(context, shop):
    old, young = ran(context, shop, days=3), ran(context, shop, days=1)
    failed = ran(context, shop, days=3, state=RunState.FAILED)
    would = clean_runs(context, by="ann", dry=True)
    assert {c.path for c in would} == {f"jdbc:shop.public.{name}" for name in of(old)}
    assert all(c.run == old and c.bytes > 0 for c in would)
    assert of(old) <= tables(shop)
    assert clean_runs(context, by="ann") == would
    assert tables(shop) == {"totals"} | of(young) | of(failed)
    with closing(open_store(context.store_url)) as store:
        (reason,) = _undo_blockers(store, store.runs.get(old), None)
    assert f"run {old} can't be undone, because its snapshots expired" in reason
    assert clean_runs(context, by="ann") == ()


def test_the_table_of_touched_keys_is_dropped_too(context, shop):
    ran(context, shop, days=3, more=("touched",))
    assert len(clean_runs(context, by="ann")) == 3
    assert tables(shop) == {"totals"}


def test_another_table_in_the_journal_is_not_dropped(context, shop):
    run = ran(context, shop, days=3, before="totals")
    clean_runs(context, by="ann")
    (kept,) = {name for name in of(run) if "before" in name}
    assert tables(shop) == {"totals", kept}


@pytest.mark.parametrize(
    ("text", "error"),
    [("@port", UnreachableError), ("jdbc.other", RefusedError)],
    ids=["unreachable", "not declared"],
)
def test_a_database_that_can_not_be_asked_keeps_its_tables(context, shop, tmp_path, text, error):
    run = ran(context, shop, days=3)
    file = tmp_path / "headgate.toml"
    port = str(shop.info.port)
    given = file.read_text()
    file.write_text(
        given.replace(port, "1") if text == "@port" else given.replace("jdbc.shop", text)
    )
    with pytest.raises(error):
        clean_runs(open_context(str(file)), by="ann")
    assert of(run) <= tables(shop)
    file.write_text(given)
    assert len(clean_runs(open_context(str(file)), by="ann")) == 2
