"""All rows of some keys in a real PostgreSQL table, replaced or deleted, and restored exactly."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from table_rows import change_of, own, rows

from headgate.errors import RefusedError, StepError
from headgate.gateway.postgres.statement import written_since
from headgate.model.tables import RowCounts
from support.waiting import until

pytestmark = pytest.mark.slow

TABLE = '"Odd {}"'
SESSIONS = f"""
CREATE TABLE {TABLE} (
    "key %s" text, start timestamptz, clicks int, raw json, note text DEFAULT 'new',
    twice int GENERATED ALWAYS AS (clicks * 2) STORED,
    number int GENERATED ALWAYS AS IDENTITY, UNIQUE ("key %s", start)
)
"""
STAGED, TOUCHED = "headgate_staged_1", "headgate_touched_1"


@pytest.fixture
def sessions(database, tables):
    """Sessions of four keys and of none; those of a and b are touched, and a key without rows."""
    database.execute(SESSIONS)
    database.execute(
        f'INSERT INTO {TABLE} ("key %s", start, clicks, raw, note) VALUES '
        "('a', '2026-04-01Z', 1, '{\"b\":  1}', 'first'), ('a', '2026-04-02Z', 2, NULL, 'gone'), "
        "('a', '2026-04-03Z', 3, NULL, 'third'), ('b', '2026-04-01Z', 4, '[ ]', 'gone'), "
        "('c', '2026-04-01Z', 5, '1', 'kept'), ('A', '2026-04-01Z', 6, NULL, 'kept'), "
        "('d''s', '2026-04-01Z', 7, NULL, 'kept')"
    )
    change = change_of(
        tables, TABLE, ("key %s", "start"), ("key %s", "start", "clicks"), touched_by=("key %s",)
    )
    fill(database, tables, change)
    return change


def fill(database, tables, change):
    """Stage the results: the first two sessions are one now; b has none; z is new."""
    tables.stage(change)
    database.execute(
        f"INSERT INTO {STAGED} VALUES ('a', '2026-04-01Z', 30), ('a', '2026-04-03Z', 3), "
        "('z', '2026-04-01Z', 9)"
    )
    database.execute(f"INSERT INTO {TOUCHED} VALUES ('a'), ('b'), ('z'), ('nobody'), ('a')")


def test_rows_without_a_result_are_deleted_and_restored(database, tables, sessions):
    before = rows(database)
    others = [r for r in before if "kept" in r[0]]
    assert tables.replace_rows(sessions) == RowCounts(added=1, replaced=2, deleted=2)
    assert own(database) == ["headgate_after_1", "headgate_before_1"]
    found = database.execute(
        f'SELECT "key %s", start::date::text, clicks, note, number FROM {TABLE} '
        "WHERE note <> 'kept' ORDER BY number"
    ).fetchall()
    assert found == [
        ("a", "2026-04-01", 30, "first", 1),
        ("a", "2026-04-03", 3, "third", 3),
        ("z", "2026-04-01", 9, "new", 10),
    ]
    assert [r for r in rows(database) if "kept" in r[0]] == others
    # Done once, however often it is tried.
    assert tables.replace_rows(sessions) is None
    assert tables.later_changes(sessions).count == 0
    tables.restore_rows(sessions)
    assert rows(database) == before
    assert tables.is_restored(sessions) and tables.later_changes(sessions) is None
    tables.restore_rows(sessions)
    assert rows(database) == before


def test_a_deleted_row_that_somebody_has_added_again_blocks_the_undo(database, tables, sessions):
    tables.replace_rows(sessions)
    database.execute(f"INSERT INTO {TABLE} VALUES ('b', '2026-04-01Z', 4, '[ ]', 'gone')")
    now = rows(database)
    changed = tables.later_changes(sessions)
    assert (changed.count, changed.sample) == (1, "key %s=b, start=2026-04-01 00:00:00+00")
    with pytest.raises(RefusedError, match=r"1 row of .* changed after the run"):
        tables.restore_rows(sessions)
    assert rows(database) == now
    database.execute(f"DELETE FROM {TABLE} WHERE \"key %s\" = 'b'")
    # Rows that neither the run nor its undo concern stay.
    database.execute(f"INSERT INTO {TABLE} VALUES ('b', '2026-04-09Z', 1, NULL, 'mine')")
    tables.restore_rows(sessions)
    assert [r for r in rows(database) if "mine" in r[0]]


def test_a_touched_key_may_be_null_if_rows_are_identified_otherwise(database, tables):
    database.execute("CREATE TABLE t (id int PRIMARY KEY, city text, day date, n int)")
    database.execute(
        "INSERT INTO t VALUES (1, NULL, '2026-04-01', 1), (2, NULL, '2026-04-02', 2), "
        "(3, 'a', '2026-04-01', 3), (4, NULL, NULL, 4), (5, 'b', '2026-04-01', 5)"
    )
    before = rows(database, "t")
    change = change_of(tables, "t", ("id",), ("id", "city", "day", "n"), touched_by=("city", "day"))
    tables.stage(change)
    database.execute(
        f"INSERT INTO {TOUCHED} VALUES (NULL, '2026-04-01'), ('a', '2026-04-01'), (NULL, NULL)"
    )
    database.execute(f"INSERT INTO {STAGED} VALUES (4, NULL, NULL, 40), (6, 'a', '2026-04-01', 6)")
    assert tables.replace_rows(change) == RowCounts(added=1, replaced=1, deleted=2)
    assert rows(database, "t") == [
        ("(2,,2026-04-02,2)",), ("(4,,,40)",), ("(5,b,2026-04-01,5)",), ("(6,a,2026-04-01,6)",)
    ]  # fmt: skip
    tables.restore_rows(change)
    assert rows(database, "t") == before


def test_others_may_not_read_the_tables_of_a_run(database, tables, sessions):
    database.execute('CREATE ROLE "other %s"')
    database.execute('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC, "other %s"')
    fill(database, tables, sessions)

    def granted():
        found = database.execute(
            "SELECT relname FROM pg_class, aclexplode(relacl) WHERE relname LIKE 'headgate%' "
            "AND grantee <> relowner"
        )
        return found.fetchall()

    assert own(database) == [STAGED, TOUCHED] and not granted()
    tables.replace_rows(sessions)
    assert own(database) == ["headgate_after_1", "headgate_before_1"] and not granted()
    database.execute("CREATE TABLE headgate_other ()")
    assert len(granted()) == 2
    database.execute('DROP OWNED BY "other %s"')
    database.execute('DROP ROLE "other %s"')


def test_many_keys_with_nulls_do_not_take_long(database, tables):
    database.execute("CREATE TABLE t (id int PRIMARY KEY, city text, day int)")
    database.execute("INSERT INTO t SELECT n, NULL, n FROM generate_series(1, 20000) n")
    change = change_of(tables, "t", ("id",), ("id", "city", "day"), touched_by=("city", "day"))
    tables.stage(change)
    database.execute(f"INSERT INTO {TOUCHED} SELECT NULL, n FROM generate_series(2, 20001) n")
    began = time.monotonic()
    assert tables.replace_rows(change) == RowCounts(added=0, replaced=0, deleted=19999)
    # Each row compared with each key takes 50 s.
    assert time.monotonic() - began < 10
    assert rows(database, "t") == [("(1,,1)",)]


def test_a_row_of_a_key_that_is_not_touched_is_not_overwritten(database, tables):
    database.execute("CREATE TABLE t (id int PRIMARY KEY, city text)")
    database.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    change = change_of(tables, "t", ("id",), ("id", "city"), touched_by=("city",))
    tables.stage(change)
    database.execute(f"INSERT INTO {TOUCHED} VALUES ('a')")
    database.execute(f"INSERT INTO {STAGED} VALUES (2, 'a')")
    with pytest.raises(RefusedError, match=r"overwrite a row of another key in public\.t \(id=2\)"):
        tables.replace_rows(change)
    assert rows(database, "t") == [("(1,a)",), ("(2,b)",)]
    assert own(database) == [STAGED, TOUCHED]


def test_a_row_without_a_whole_key_is_not_deleted(database, tables, sessions):
    database.execute(f"INSERT INTO {TABLE} VALUES ('a', NULL, 1)")
    before = rows(database)
    with pytest.raises(
        RefusedError, match=r"1 row of .*, because a key column is null \(key %s, start"
    ):
        tables.replace_rows(sessions)
    assert rows(database) == before


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {TABLE} SET note = note WHERE \"key %s\" = 'b'",
        f"INSERT INTO {TABLE} VALUES ('z', '2026-04-05Z', 1)",
    ],
)
def test_rows_that_somebody_writes_meanwhile_stop_the_run(database, tables, sessions, statement):
    # Rows of other keys are nobody's business.
    database.execute(f"UPDATE {TABLE} SET clicks = 8 WHERE \"key %s\" = 'c'")
    database.execute(f"DELETE FROM {TABLE} WHERE \"key %s\" = 'a' AND note = 'gone'")
    database.execute(statement)
    before = rows(database)
    said = r"changed 1 row of .* that the run would replace, .* key %s=[bz]"
    with pytest.raises(RefusedError, match=said):
        tables.replace_rows(sessions)
    assert rows(database) == before
    # However often the run is tried: another plan has to read what these rows were made of.
    fill(database, tables, sessions)
    with pytest.raises(RefusedError, match=said):
        tables.replace_rows(sessions)
    assert rows(database) == before
    again = replace(sessions, oldest_transaction=tables.oldest_transaction("shop"))
    fill(database, tables, again)
    assert tables.replace_rows(again).replaced == 2


def test_a_transaction_that_was_open_when_the_run_began_stops_it(
    server, database, tables, sessions
):
    with server.connect(database.info.dbname) as other:
        with other.transaction():
            other.execute(f"UPDATE {TABLE} SET note = note WHERE \"key %s\" = 'b'")
            # An older transaction than those after it.
            database.execute("CREATE TABLE later ()")
            change = replace(sessions, oldest_transaction=tables.oldest_transaction("shop"))
        with pytest.raises(RefusedError, match=r"changed 1 row of .* for example key %s=b"):
            tables.replace_rows(change)


def test_which_numbers_of_transactions_are_new(database):
    (now,) = database.execute("SELECT txid_snapshot_xmax(txid_current_snapshot())").fetchone()

    def new(number, oldest):
        found = database.execute(
            f"SELECT {written_since(oldest, 't')} FROM (SELECT '{number}'::xid AS xmin) t"
        )
        return found.fetchone()[0]

    assert [new(now - n, now - 2) for n in (3, 2, 1)] == [False, True, True]
    # Rows of more than 2^31 transactions ago, and of 2^31 - 10, and frozen ones of old servers.
    assert not any(new(n, now - 2) for n in (now + 10, (now + 2**31 - 10) % 2**32, 2))
    # Since then, the numbers were used up.
    assert new(now - 3, now - 2**31 - 1) and new(now - 3, now + 1)


def test_a_savepoint_of_an_open_transaction_stops_it(server, database, tables, sessions):
    database.execute("CREATE TABLE elsewhere (n int)")
    with server.connect(database.info.dbname) as other:
        with other.transaction():
            other.execute("INSERT INTO elsewhere VALUES (1)")
            with other.transaction():
                other.execute(f"UPDATE {TABLE} SET clicks = 99 WHERE \"key %s\" = 'b'")
            # The server lists the open transaction, but not its savepoint.
            database.execute("CREATE TABLE later ()")
            change = replace(sessions, oldest_transaction=tables.oldest_transaction("shop"))
        before = rows(database)
        with pytest.raises(RefusedError, match=r"changed 1 row of .* for example key %s=b"):
            tables.replace_rows(change)
        assert rows(database) == before


def test_a_row_that_is_committed_while_the_run_waits_stops_it(server, database, tables, sessions):
    name = database.info.dbname
    database.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    with server.connect(name) as other, ThreadPoolExecutor() as pool:
        with other.transaction():
            other.execute(f"INSERT INTO {TABLE} VALUES ('a', '2026-04-05Z', 77)")
            run = pool.submit(tables.replace_rows, sessions)
            until(lambda: run.done() or database.execute(waits, (TABLE,)).fetchone()[0])
            assert not run.done()
        with pytest.raises(RefusedError, match=r"changed 1 row of .* key %s=a, start=2026-04-05"):
            run.result()
    assert own(database) == [STAGED, TOUCHED]


def test_a_key_of_two_collations_is_named(database, tables):
    database.execute(
        'CREATE TABLE t (a text COLLATE "C", b text COLLATE "POSIX", n int, PRIMARY KEY (a, b))'
    )
    database.execute("INSERT INTO t VALUES ('a', 'b', 1), ('a', 'c', 2)")
    change = change_of(tables, "t", ("a", "b"), ("a", "b", "n"), touched_by=("a",))
    tables.stage(change)
    database.execute(f"INSERT INTO {TOUCHED} VALUES ('a')")
    database.execute(f"INSERT INTO {STAGED} VALUES ('a', 'b', 3), ('a', 'c', 4)")
    tables.replace_rows(change)
    database.execute("UPDATE t SET n = 5")
    changed = tables.later_changes(change)
    assert (changed.count, changed.sample) == (2, "a=a, b=b")


def test_a_result_of_a_key_that_is_not_touched_stops_the_run(database, tables, sessions):
    database.execute(f"INSERT INTO {STAGED} VALUES ('c', '2026-04-01Z', 50)")
    before = rows(database)
    with pytest.raises(RefusedError, match=r"row of another key .*=c, .*No late record has this"):
        tables.replace_rows(sessions)
    assert rows(database) == before


def test_rows_of_two_unique_indexes_are_restored(database, tables):
    database.execute(
        "CREATE TABLE t (customer text, ws int, we int, n int, UNIQUE (customer, ws), "
        "UNIQUE (customer, we))"
    )
    database.execute("INSERT INTO t VALUES ('a', 1000, 1010, 1), ('a', 1012, 1020, 2)")
    before = rows(database, "t")
    change = change_of(
        tables, "t", ("customer", "we"), ("customer", "ws", "we", "n"), touched_by=("customer",)
    )
    tables.stage(change)
    database.execute(f"INSERT INTO {TOUCHED} VALUES ('a')")
    # Both sessions are one now, with the first one's start and the second one's end.
    database.execute(f"INSERT INTO {STAGED} VALUES ('a', 1000, 1020, 3)")
    assert tables.replace_rows(change) == RowCounts(added=0, replaced=1, deleted=1)
    assert rows(database, "t") == [("(a,1000,1020,3)",)]
    tables.restore_rows(change)
    assert rows(database, "t") == before


def test_a_trigger_that_keeps_rows_stops_the_run(database, tables, sessions):
    database.execute(
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
    )
    database.execute(
        f"CREATE TRIGGER keep BEFORE DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION keep()"
    )
    before = rows(database)
    with pytest.raises(
        StepError,
        match=r"deleted only 0 of 2 rows of .* a database trigger changes rows or prevents",
    ):
        tables.replace_rows(sessions)
    assert rows(database) == before


def test_a_table_that_refers_to_a_deleted_row_stops_the_run(database, tables, sessions):
    database.execute(
        f'CREATE TABLE bills ("key" text, start timestamptz, FOREIGN KEY ("key", start) '
        f'REFERENCES {TABLE} ("key %s", start))'
    )
    database.execute("INSERT INTO bills VALUES ('b', '2026-04-01Z')")
    before = rows(database)
    with pytest.raises(StepError, match="violates foreign key constraint"):
        tables.replace_rows(sessions)
    assert rows(database) == before
    assert tables.table("shop", TABLE).cascades == ()


def test_a_second_try_begins_with_empty_tables(database, tables, sessions):
    tables.stage(sessions)
    assert rows(database, STAGED) == rows(database, TOUCHED) == []
    tables.drop("shop", sessions.schema, sessions.own)
    assert own(database) == []


def test_rows_that_were_written_are_another_content(database, tables):
    database.execute("CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id)")
    database.execute("CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (9)")
    seen = [tables.table("shop", "t").content]
    for statement in ("INSERT INTO t VALUES (1)", "UPDATE t SET id = 2", "TRUNCATE t"):
        database.execute(statement)
        # Else this session would say it within a second.
        database.execute("SELECT pg_stat_force_next_flush()")
        seen.append(tables.table("shop", "t").content)
    assert len(set(seen)) == len(seen)
    assert tables.table("shop", "t").content == seen[-1]
