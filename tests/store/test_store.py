import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from headgate.errors import StoreError, UnreachableError
from headgate.store import migrate, open_store
from headgate.store.tables import METADATA
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow


def test_concurrent_starters_share_one_migration(url):
    code = "import sys; from headgate.store import open_store; open_store(sys.argv[1]).close()"
    starters = [subprocess.Popen([sys.executable, "-c", code, url]) for _ in range(6)]
    assert [starter.wait(PATIENCE) for starter in starters] == [0] * 6
    open_store(url).close()


def test_the_head_is_the_newest_script():
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD


def test_the_migrations_make_the_tables_of_the_code(store):
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_writes_ahead_and_syncs(store):
    with store.database.reading() as connection:
        assert connection.execute(sa.text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(sa.text("PRAGMA synchronous")).scalar() == 2


def test_a_newer_store_is_refused(url):
    store = open_store(url)
    with store.database.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="update Headgate"):
        open_store(url)


def test_a_url_that_is_none():
    with pytest.raises(StoreError, match="URL"):
        open_store("not a url")
    with pytest.raises(StoreError, match="can't be in mysql: pass a URL of SQLite or PostgreSQL"):
        open_store("mysql://host/database")


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "x.db").write_text("hello, this is not a database at all" * 100)
    with pytest.raises((StoreError, UnreachableError)):
        open_store(f"sqlite:///{tmp_path / 'x.db'}")


def test_a_store_locked_for_a_while_is_waited_for(store, new_run):
    other = sqlite3.connect(store.database.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(1.5, lambda: other.execute("COMMIT"))
    timer.start()
    begun = time.monotonic()
    store.runs.enqueue(new_run(), by="ann", action="apply")
    assert time.monotonic() - begun > 1
    timer.join()


def test_a_store_locked_for_long_is_unreachable(url, new_run):
    store = open_store(url, busy_seconds=0.2)
    other = sqlite3.connect(store.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnreachableError, match="locked"):
        store.runs.enqueue(new_run(), by="ann", action="apply")
    other.execute("ROLLBACK")
    assert store.runs.list() == ()


def test_many_writers_lose_nothing(store, new_run):
    def write(number):
        return store.runs.enqueue(new_run(f"group:{number}"), by="ann", action="apply")

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(write, range(40)))
    assert len(ids) == 40 == len(store.runs.list())


def test_the_stamp_changes_with_what_anybody_writes(store, url, new_run):
    stamp = store.database.stamp()
    assert stamp is not None and store.database.stamp() == stamp
    store.runs.enqueue(new_run("group:a"), by="ann", action="apply")
    own = store.database.stamp()
    assert own != stamp
    other = open_store(url)
    other.runs.enqueue(new_run("group:b"), by="ann", action="apply")
    other.close()
    assert store.database.stamp() != own
    store.runs.list()
    assert store.database.stamp() == store.database.stamp()


def test_a_store_that_does_not_count_has_no_stamp():
    assert open_store("sqlite://").database.stamp() is None
