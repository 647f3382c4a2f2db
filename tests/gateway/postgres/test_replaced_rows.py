"""Rows of a real PostgreSQL table, replaced by staged ones and restored exactly, or not at all."""

from dataclasses import replace

import pytest
from table_rows import change_of, own, rows

from headgate.errors import RefusedError, StepError, UnreachableError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.tables import TableAdapter
from headgate.gateway.postgres.connect import connected, connection_arguments
from headgate.model.tables import RowCounts

pytestmark = pytest.mark.slow

MIXED = """
CREATE TABLE "Odd {}" (
    "key %s" text, day date, value double precision, raw json, tags text[], bytes bytea,
    twice double precision GENERATED ALWAYS AS (value * 2) STORED, number int GENERATED ALWAYS AS
    IDENTITY, seen timestamptz DEFAULT '2026-01-01Z', PRIMARY KEY (day, "key %s")
)
"""


@pytest.fixture
def odd(database, tables):
    """A table with every difficulty in names and types, and staged rows: one new, two old keys."""
    database.execute(MIXED)
    table = '"Odd {}"'
    database.execute(
        f'INSERT INTO {table} ("key %s", day, value, raw, tags, bytes) VALUES '
        "('a', '2026-04-01', 0.1, '{\"b\":  1}', '{x,NULL}', '\\x00ff'), "
        "('it''s', '2026-04-01', 'NaN', NULL, NULL, NULL), ('c', '2026-04-01', 3, 'null', '{}', '')"
    )
    change = change_of(tables, table, ("key %s", "day"), ("key %s", "day", "value", "raw"))
    tables.stage(change)
    database.execute(
        "INSERT INTO headgate_staged_1 VALUES ('a', '2026-04-01', 9, '[1]'), "
        "('it''s', '2026-04-01', NULL, '2'), ('new', '2026-04-02', 1e300, NULL)"
    )
    return change


def test_rows_are_replaced_and_restored_with_every_value(database, tables, odd):
    before = rows(database)
    assert tables.staged_rows(odd) == 3 and not tables.is_replaced(odd)
    assert tables.is_restored(odd)
    assert tables.replace_rows(odd) == RowCounts(added=1, replaced=2)
    assert tables.is_replaced(odd) and not tables.is_restored(odd)
    assert own(database) == ["headgate_after_1", "headgate_before_1"]
    found = database.execute(
        'SELECT "key %s", value, raw::text, tags, twice, number FROM "Odd {}" ORDER BY number'
    ).fetchall()
    assert found[0] == ("a", 9.0, "[1]", ["x", None], 18.0, 1)
    assert found[1] == ("it's", None, "2", None, None, 2)
    assert found[2][:3] == ("c", 3.0, "null")
    assert found[3][:2] == ("new", 1e300)
    # Done once, however often it is tried.
    assert tables.replace_rows(odd) is None
    with pytest.raises(StepError, match="already has the results"):
        tables.stage(odd)
    assert tables.later_changes(odd).count == 0
    tables.restore_rows(odd)
    assert rows(database) == before
    assert tables.is_restored(odd) and tables.later_changes(odd) is None
    tables.restore_rows(odd)
    tables.drop("shop", odd.schema, (odd.before, odd.after))
    assert own(database) == []
    assert rows(database) == before


@pytest.mark.parametrize(
    ("statement", "sample"),
    [
        ("UPDATE \"Odd {}\" SET tags = '{y}' WHERE \"key %s\" = 'a'", "key %s=a, day=2026-04-01"),
        ('DELETE FROM "Odd {}" WHERE "key %s" = \'new\'', "key %s=new, day=2026-04-02"),
    ],
)
def test_changed_rows_are_not_restored(database, tables, odd, statement, sample):
    tables.replace_rows(odd)
    database.execute(statement)
    now = rows(database)
    assert (tables.later_changes(odd).count, tables.later_changes(odd).sample) == (1, sample)
    with pytest.raises(RefusedError, match=r"1 row of public\.Odd \{\} changed after the run"):
        tables.restore_rows(odd)
    assert rows(database) == now
    # Other rows are nobody's business.
    database.execute('UPDATE "Odd {}" SET value = 4 WHERE "key %s" = \'c\'')
    assert tables.later_changes(odd).count == 1


def test_a_trigger_that_makes_an_exact_undo_impossible_blocks_it(database, tables, odd):
    tables.replace_rows(odd)
    database.execute(
        "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.seen = now(); RETURN NEW; END $$"
    )
    database.execute(
        'CREATE TRIGGER touch BEFORE UPDATE ON "Odd {}" FOR EACH ROW EXECUTE FUNCTION touch()'
    )
    now = rows(database)
    with pytest.raises(
        RefusedError, match=r"2 rows .* can't be restored exactly, because a database trigger"
    ):
        tables.restore_rows(odd)
    assert rows(database) == now
    assert tables.table("shop", '"Odd {}"').triggers == ("touch",)


@pytest.mark.parametrize(
    ("when", "body"),
    [
        ("UPDATE", "IF NEW.value > OLD.value THEN RETURN NULL; END IF; RETURN NEW;"),
        ("INSERT OR UPDATE", "NEW.value = 1; RETURN NEW;"),
        ("INSERT", "IF NEW.\"key %s\" = 'new' THEN RETURN NULL; END IF; RETURN NEW;"),
    ],
)
def test_a_trigger_that_drops_or_changes_results_stops_the_run(database, tables, odd, when, body):
    database.execute(
        f"CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    )
    database.execute(
        f'CREATE TRIGGER other BEFORE {when} ON "Odd {{}}" FOR EACH ROW EXECUTE FUNCTION other()'
    )
    before = rows(database)
    with pytest.raises(StepError, match=r"3 results to .* only [012] of .*: a database trigger"):
        tables.replace_rows(odd)
    assert rows(database) == before
    assert own(database) == ["headgate_staged_1"]


def test_a_trigger_that_skips_equal_rows_stops_nothing(database, tables, odd):
    database.execute(
        'CREATE TRIGGER other BEFORE UPDATE ON "Odd {}" FOR EACH ROW '
        "EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    )
    database.execute(
        "UPDATE headgate_staged_1 SET (value, raw) = (0.1, '{\"b\":  1}') WHERE \"key %s\" = 'a'"
    )
    assert tables.replace_rows(odd) == RowCounts(added=1, replaced=2)


@pytest.mark.parametrize(
    ("staged", "said"),
    [
        ("('a', '2026-04-01', 1, NULL), ('z', NULL, 1, NULL)", "are null in 1 result"),
        ("('a', '2026-04-01', 1, NULL)", r"2 results have the same key \(key %s=a, day=2026"),
    ],
)
def test_keys_that_identify_no_row_change_nothing(database, tables, odd, staged, said):
    before = rows(database)
    database.execute(f"INSERT INTO headgate_staged_1 VALUES {staged}")
    with pytest.raises(RefusedError, match=said):
        tables.replace_rows(odd)
    assert rows(database) == before
    assert own(database) == ["headgate_staged_1"]


def test_what_an_undo_needs_is_missed(database, tables, odd):
    tables.replace_rows(odd)
    database.execute("DROP TABLE headgate_before_1")
    with pytest.raises(RefusedError, match="headgate_before_1 of the run no longer exists"):
        tables.later_changes(odd)
    database.execute("DROP TABLE headgate_after_1")
    with pytest.raises(RefusedError, match="headgate_after_1 of the run no longer exists"):
        tables.restore_rows(odd)


def test_another_table_of_the_name_is_not_written(database, tables, odd):
    database.execute('ALTER TABLE "Odd {}" RENAME TO old')
    database.execute('CREATE TABLE "Odd {}" (LIKE old INCLUDING ALL)')
    with pytest.raises(RefusedError, match="dropped and created again"):
        tables.replace_rows(odd)
    assert rows(database) == []


def test_results_that_are_only_keys_and_a_partitioned_table(database, tables):
    database.execute("CREATE TABLE seen (id int PRIMARY KEY) PARTITION BY RANGE (id)")
    database.execute("CREATE TABLE seen_1 PARTITION OF seen FOR VALUES FROM (0) TO (5)")
    database.execute("CREATE TABLE seen_2 PARTITION OF seen FOR VALUES FROM (5) TO (10)")
    database.execute("INSERT INTO seen VALUES (4), (5)")
    change = change_of(tables, "seen", ("id",), ("id",))
    tables.stage(change)
    database.execute("INSERT INTO headgate_staged_1 VALUES (4), (6)")
    assert tables.replace_rows(change) == RowCounts(added=1, replaced=1)
    assert rows(database, "seen") == [("(4)",), ("(5)",), ("(6)",)]
    tables.restore_rows(change)
    assert rows(database, "seen") == [("(4)",), ("(5)",)]


def test_what_the_catalog_says_of_a_table(database, tables):
    database.execute("CREATE SCHEMA other")
    database.execute("CREATE DOMAIN money2 AS numeric(8, 2)")
    database.execute("CREATE TYPE mood AS ENUM ('good')")
    database.execute(
        "CREATE TABLE other.t (a int NOT NULL, b int, c money2, d numeric, e mood NOT NULL, "
        "f int NOT NULL DEFAULT 1, UNIQUE (a, b), UNIQUE (f) DEFERRABLE)"
    )
    database.execute("CREATE UNIQUE INDEX ON other.t (b) WHERE a > 0")
    database.execute("CREATE UNIQUE INDEX ON other.t (abs(b))")
    database.execute("CREATE UNIQUE INDEX ON other.t (c) INCLUDE (d)")
    found = tables.table("shop", "other.t")
    assert set(found.unique) == {frozenset({"a", "b"}), frozenset({"c"})}
    kinds = {c.name: (c.kind, c.scale, c.category, c.is_filled) for c in found.columns}
    assert kinds == {
        "a": ("int4", None, "N", False), "b": ("int4", None, "N", True),
        "c": ("numeric", 2, "N", True), "d": ("numeric", None, "N", True),
        "e": ("mood", None, "E", False), "f": ("int4", None, "N", True),
    }  # fmt: skip
    database.execute("CREATE VIEW v AS SELECT 1 AS a")
    assert tables.table("shop", "v").obstacles[0] == "public.v is a view: pass a table"
    database.execute("CREATE TABLE base (a int PRIMARY KEY)")
    database.execute("CREATE TABLE child (b int REFERENCES base ON DELETE CASCADE)")
    assert tables.table("shop", "base").cascades == ("child",)
    database.execute("CREATE TABLE more () INHERITS (base)")
    assert "other tables inherit from public.base" in tables.table("shop", "base").obstacles[0]
    assert tables.table("shop", "nothing") is None
    with pytest.raises(RefusedError, match="can't be looked up"):
        tables.table("shop", "elsewhere.public.t")


def test_a_partition_may_have_triggers_and_be_referred_to(database, tables):
    database.execute("CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)")
    database.execute("CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (5)")
    found = tables.table("shop", "parts")
    assert found.cascades == found.triggers == ()
    database.execute("CREATE TABLE notes (id int REFERENCES part ON DELETE CASCADE)")
    database.execute(
        "CREATE TRIGGER skip BEFORE UPDATE ON part FOR EACH ROW "
        "EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    )
    found = tables.table("shop", "parts")
    assert (found.cascades, found.triggers) == (("notes",), ("skip",))


def test_a_url_of_the_driver_is_read_as_libpq_takes_it():
    url = "jdbc:postgresql://a:1,[::1]:2,c/db%20x?ssl=true&currentSchema=s,public&user=u"
    found = connection_arguments("shop", {"url": url, "password": "p"})
    assert found == {
        "host": "a,::1,c", "port": "1,2,5432", "dbname": "db x", "sslmode": "verify-full",
        "options": "-csearch_path=s,public", "user": "u", "password": "p", "connect_timeout": 10,
        "application_name": "headgate",
    }  # fmt: skip
    with pytest.raises(RefusedError, match="`url` has the parameter gssEncMode"):
        connection_arguments("shop", {"url": "jdbc:postgresql://a/b?gssEncMode=x"})


def test_a_server_that_refuses_is_unreachable(tables, database, tmp_path):
    registry = tables._context.registry
    url = registry.jdbc["shop"]["url"].replace(database.info.dbname, "none")
    other = replace(registry, jdbc={"shop": {"url": url, "user": "headgate", "password": "s3"}})
    with pytest.raises(UnreachableError, match='database "none" does not exist') as error:
        TableAdapter(RunContext(registry=other, home=tmp_path)).table("shop", "t")
    assert "s3" not in str(error.value)


def test_a_connection_that_is_lost_is_unreachable_and_leaves_nothing(database, tables):
    settings = tables._context.registry.jdbc["shop"]
    database.execute("CREATE TABLE t (a int)")
    with pytest.raises(UnreachableError, match="database shop closed the connection"):  # noqa: SIM117
        with connected("shop", settings) as connection:
            connection.execute("INSERT INTO t VALUES (1)")
            pid = connection.info.backend_pid
            database.execute("SELECT pg_terminate_backend(%s)", (pid,))
            connection.execute("SELECT 1")
    assert rows(database, "t") == []


def test_a_lock_of_another_session_is_named(database, tables, odd, monkeypatch):
    monkeypatch.setattr("headgate.gateway.postgres.connect._LOCK_MS", 1000)
    before = rows(database)
    with database.transaction():
        database.execute('LOCK TABLE "Odd {}" IN ROW EXCLUSIVE MODE')
        with pytest.raises(StepError, match="another session of database shop holds a lock"):
            tables.replace_rows(odd)
    assert rows(database) == before
    assert tables.replace_rows(odd) == RowCounts(added=1, replaced=2)
