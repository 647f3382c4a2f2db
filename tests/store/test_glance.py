"""What is asked of the store's file without SQLAlchemy is what the store itself answers."""

import subprocess
import sys

import pytest
import sqlalchemy as sa

from headgate.errors import NotFoundError, RefusedError, StoreError, UnreachableError
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import Store, open_store
from headgate.store.rows import Event, NewRun, Origin, RunFilter, RunState
from headgate.store.sqlite_reader import SqliteReader, open_soonest
from headgate.store.worker_slots import Slot
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'a store#1.db'}"


@pytest.fixture
def filled(url):
    store = open_store(url)
    for number in (1, 2):
        _version(store, "seen", f"q{number}", Origin.OBSERVED)
    _version(store, "seen", "q3", Origin.CAPTURED)
    _version(store, "captured", "c1", Origin.CAPTURED)
    _version(store, "captured", "c2", Origin.CAPTURED)
    for resources in (("group:a",), ("group:a", "checkpoint:/data/é ck"), ("group:b",)):
        run = store.runs.enqueue(_run(resources), by="ann", action="apply")
        store.runs.claim("1")
        store.journal.add(run, 0, Event.BEGUN, {"was": {"offsets": [{"to": 1}]}})
        store.journal.add(run, 0, Event.FAILED, {"error": "disk full"})
        store.runs.finish(run, RunState.FAILED, error="disk full")
    store.runs.requeue(run, by="bob")
    store.runs.request_cancel(run, by="bob")
    yield store
    store.close()


def _version(store, pipeline, query, origin):
    version = Version(engine=Engine.SPARK, query_id=query, topic_ids={"orders": query})
    store.versions.add(pipeline, version, fingerprint(version) + query, origin=origin)


def _run(resources):
    return NewRun(
        scenario="from-scratch", pipeline="p", plan_hash="h", plan="{}", resources=resources
    )


def test_the_same_answers(filled, url):
    reader = open_soonest(url)
    assert isinstance(reader, SqliteReader)
    for pipeline in ("seen", "captured", "nobody"):
        assert reader.versions.running(pipeline) == filled.versions.running(pipeline)
    assert reader.versions.running("seen").query_id == "q2"
    assert reader.versions.running("captured").query_id == "c2"
    for resource in ("group:a", "checkpoint:/data/é ck", "group:b", "group:c"):
        assert reader.runs.touching(resource) == filled.runs.touching(resource)
    assert len(reader.runs.touching("group:a")) == 2
    assert not hasattr(reader.runs.touching("group:a")[0], "plan")
    assert reader.runs.touching("group:b")[0].cancel_requested is True
    for row in filled.runs.list():
        assert reader.journal.entries(row.id) == filled.journal.entries(row.id) != []
    reader.close()


def test_the_same_answers_to_who_waits_for_a_run(filled, url):
    reader = open_soonest(url)
    runs = filled.runs.list()
    filled.journal.note(runs[0].id, 0, "half-way")
    filled.progress.record(runs[0].id, 0, "partitions", 1, None)
    filled.progress.record(runs[0].id, 0, "partitions", 2, 5)
    assert reader.runs.list() == runs
    for row in runs:
        assert reader.runs.get(row.id) == filled.runs.get(row.id)
        assert reader.runs.state(row.id) is row.state
        assert reader.runs.resources(row.id) == filled.runs.resources(row.id) != ()
        assert reader.journal.newest(row.id) == filled.journal.newest(row.id) != (0, 0)
        assert reader.journal.notes(row.id) == filled.journal.notes(row.id)
        assert reader.progress.of(row.id) == filled.progress.of(row.id)
        assert reader.audit.list(row.id) == filled.audit.list(row.id) != []
    assert [note.message for note in reader.journal.notes(runs[0].id)] == ["half-way"]
    assert [count.done for count in reader.progress.of(runs[0].id)] == [2]
    for ask in (reader.runs.get, reader.runs.state):
        with pytest.raises(NotFoundError, match="run nobody not found"):
            ask("nobody")
    assert reader.journal.newest("nobody") == (0, 0)
    reader.close()


@pytest.mark.parametrize(
    "which",
    [
        RunFilter(),
        RunFilter(pipeline="p"),
        RunFilter(scenario="from-scratch", states=(RunState.QUEUED, RunState.DONE)),
        RunFilter(undo_of="nobody"),
    ],
)
def test_the_same_runs_fit(filled, url, which):
    reader = open_soonest(url)
    runs = filled.runs.list(which)
    assert reader.runs.list(which) == runs and not hasattr(runs[0] if runs else None, "plan")
    assert reader.runs.count(which) == filled.runs.count(which) == len(runs)
    for limit, offset in ((1, 0), (1, 1), (2, 1)):
        part = runs[offset : offset + limit]
        assert reader.runs.list(which, limit=limit, offset=offset) == part
        assert filled.runs.list(which, limit=limit, offset=offset) == part
    reader.close()


def test_a_run_is_queued_by_the_same_rows(filled, url):
    reader = open_soonest(url)
    assert isinstance(reader, SqliteReader)
    new = _run(("topic:x", "group:x", "topic:x"))
    first = reader.runs.enqueue(new, by="ann", action="apply")
    while (row := filled.runs.claim("1")) is not None:
        filled.runs.finish(row.id, RunState.DONE)
    assert filled.runs.state(first) is RunState.DONE
    second = filled.runs.enqueue(new, by="ann", action="apply")
    with filled.database.reading() as connection:
        for table, key in (("runs", "id"), ("run_resources", "run"), ("audit", "run")):
            found = [_written(connection, table, key, run) for run in (first, second)]
            assert found[0] == found[1] != [], table
    reader.close()


def _written(connection, table, key, run):
    """Return what the first row of the run says, without what differs from run to run."""
    query = sa.text(f"SELECT * FROM {table} WHERE {key} = :run ORDER BY 1, 2 LIMIT 2")
    own = {"seq", "id", "run", "at", "created_at"}
    own |= {"state", "started_at", "ended_at", "slot"} if table == "runs" else set()
    rows = [dict(r._mapping) for r in connection.execute(query, {"run": run})]
    rows = rows[:1] if table == "audit" else rows
    return [{k: v for k, v in row.items() if k not in own} for row in rows]


def test_a_run_is_refused_and_nothing_written_where_another_has_the_resource(filled, url):
    reader = open_soonest(url)
    before = filled.runs.list(), filled.audit.list()
    for store in (reader, filled):
        with pytest.raises(RefusedError, match=r"run .* is queued and uses group b: wait until"):
            store.runs.enqueue(_run(("group:new", "group:b")), by="ann", action="apply")
    assert (filled.runs.list(), filled.audit.list()) == before
    filled.runs.enqueue(_run(("group:new",)), by="ann", action="apply")
    reader.close()


def test_it_tells_that_somebody_else_has_written(filled, url):
    reader = open_soonest(url)
    stamp = reader.database.stamp()
    reader.runs.enqueue(_run(("group:new",)), by="ann", action="apply")
    assert reader.database.stamp() == stamp
    filled.runs.claim("1")
    assert reader.database.stamp() != stamp
    reader.close()


def test_the_same_slot(filled, url):
    reader = open_soonest(url)
    slot = Slot(filled.database)
    assert Slot(reader.database).is_free()
    assert slot.take()
    assert not Slot(reader.database).is_free()
    slot.release()
    assert Slot(reader.database).is_free()
    reader.close()


def test_the_same_places(filled, url):
    reader = open_soonest(url)
    assert reader.checkpoint_locations.all() == filled.checkpoint_locations.all() == {}
    filled.checkpoint_locations.switch_checkpoint(
        "q", declared="s3a://b/ck", location="s3a://b/ck.2", run="r"
    )
    filled.checkpoint_locations.switch_checkpoint(
        "p", declared="s3a://b/other", location="s3a://b/other.3", run="r"
    )
    assert reader.checkpoint_locations.all() == filled.checkpoint_locations.all()
    assert reader.checkpoint_locations.all()["q"] == ("s3a://b/ck", "s3a://b/ck.2")
    reader.close()


def test_it_sees_what_was_written_a_moment_ago(filled, url):
    reader = open_soonest(url)
    filled.runs.enqueue(_run(("group:new",)), by="ann", action="apply")
    assert [r.state for r in reader.runs.touching("group:new")] == [RunState.QUEUED]
    reader.close()


@pytest.mark.parametrize("revision", ["0001", "9999", None])
def test_tables_of_another_revision_are_the_stores_business(filled, url, revision):
    with filled.database.writing() as connection:
        connection.execute(sa.text("DELETE FROM alembic_version"))
        if revision:
            insert = "INSERT INTO alembic_version VALUES (:revision)"
            connection.execute(sa.text(insert), {"revision": revision})
    filled.close()
    # Without a revision the tables are there already: the migration shows who opened the store.
    said = {"9999": "but this Headgate supports only", "0001": "from an older Headgate"}
    with pytest.raises((StoreError, UnreachableError), match=said.get(revision, "already exists")):
        open_soonest(url)


def test_a_store_that_is_not_there_is_made(url):
    store = open_soonest(url)
    assert isinstance(store, Store)
    store.close()
    again = open_soonest(url)
    assert isinstance(again, SqliteReader)
    again.close()


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "x.db").write_text("This is no database, but long enough for a header." * 20)
    with pytest.raises((StoreError, UnreachableError), match=r"x\.db"):
        open_soonest(f"sqlite:///{tmp_path / 'x.db'}")


def test_a_context_with_a_remote_checkpoint_knows_its_place_without_sqlalchemy(tmp_path):
    (tmp_path / ".headgate").mkdir()
    store = open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db")
    store.checkpoint_locations.switch_checkpoint(
        "q", declared="s3a://b/ck", location="s3a://b/ck.2", run="r"
    )
    store.close()
    file = tmp_path / "headgate.toml"
    file.write_text('[[pipeline]]\nname = "q"\nengine = "spark"\ncheckpoint = "s3a://b/ck"\n')
    program = (
        "import sys; from headgate.usecases.context import open_context as o;"
        f" assert o({str(file)!r}).registry.pipeline('q').checkpoint == 's3a://b/ck.2';"
        " sys.exit(bool({'sqlalchemy', 'alembic'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=PATIENCE).returncode == 0


def test_sqlalchemy_is_not_imported(filled, url):
    program = (
        "import sys; from headgate.store.sqlite_reader import open_soonest as o;"
        f" s = o({url!r}); s.runs.touching('group:a'); s.versions.running('seen');"
        " from headgate.store.rows import NewRun; from headgate.store.worker_slots import Slot;"
        " new = NewRun(scenario='s', pipeline='p', plan_hash='h', plan='{}', resources=('r',));"
        " run = s.runs.enqueue(new, by='ann', action='apply');"
        " s.runs.get(run), s.journal.entries(run), s.progress.of(run), Slot(s.database).is_free();"
        " sys.exit(bool({'sqlalchemy', 'alembic'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=PATIENCE).returncode == 0
