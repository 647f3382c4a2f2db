"""Late orders into a real PostgreSQL table, compared row by row with plain Python."""

import json
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from integration.spark_data.late_year import (
    ORDERS,
    START,
    by_customer,
    daily,
    order,
    register_function,
    sessions,
    set_topics,
    write_year,
)
from support.postgres_server import running_postgres
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
PASSWORD = "l4te-s3cr3t-value"
TO = ("--to", "jdbc:shop.results", "--keys", "customer")
MORE = "note text DEFAULT 'new', id bigint GENERATED ALWAYS AS IDENTITY"
TABLES = {
    "sessions": "session_window_start timestamptz, session_window_end timestamptz NOT NULL, "
    f"customer varchar(8), total numeric(12,2), orders int8, {MORE}, "
    "PRIMARY KEY (customer, session_window_start)",
    "daily": f"window_start timestamptz, customer char(8), total int8, orders int8, {MORE}, "
    "UNIQUE (window_start, customer)",
    "by_customer": f"customer text PRIMARY KEY, total int8, orders int8, last timestamp, {MORE}",
}
COLUMNS = {name: [w.split()[0] for w in text.split(", ")] for name, text in TABLES.items()}


# Each has a start of Spark before it.
wait_for = partial(until, seconds=2 * PATIENCE)


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def year(broker, topic):
    """The topics, the orders and the late orders; none of these is without a customer."""
    names, kept, late = write_year(broker, topic)
    return names, kept, [o for o in late if o["customer"] is not None]


class Shop:
    """A database with a table `results` of a function, and its pipeline."""

    def __init__(self, team, connection, year):
        self.team, self.connection = team, connection
        _, self.kept, self.late = year

    def begin(self, function, old):
        """Create the table with rows; every third has a note."""
        info = self.connection.info
        url = f"jdbc:postgresql://127.0.0.1:{info.port}/{info.dbname}"
        self.connection.execute(f"CREATE TABLE results ({TABLES[function]})")
        self.connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON results TO writer")
        names = COLUMNS[function][: len(old[0])]
        marks = ", ".join(["%s"] * len(names))
        with self.connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO results ({', '.join(names)}, note) VALUES ({marks}, %s)",
                [(*row, f"old {n}" if n % 3 == 0 else None) for n, row in enumerate(old)],
            )
        register_function(
            self.team, function,
            f'[jdbc.shop]\nurl = "{url}"\nuser = "writer"\npassword = "${{SHOP_PASSWORD}}"\n',
        )  # fmt: skip
        return self.rows()

    def late_files(self, orders):
        """Write late orders as files, the first one twice; return their folder."""
        folder = self.team.folder / "late"
        folder.mkdir(exist_ok=True)
        rows = [
            {"key": None, "value": json.dumps(o), "timestamp": "2026-04-02T00:00:00Z",
             "topic": "archive", "partition": 0, "offset": n}
            for n, o in enumerate(orders)
        ]  # fmt: skip
        (folder / "a.json").write_text("\n".join(json.dumps(r) for r in [*rows, rows[0]]))
        return ("--late", str(folder), "--late-format", "json")

    def rows(self):
        """All rows, as the text of all their values, in order."""
        found = self.connection.execute("SELECT r::text FROM results r").fetchall()
        return sorted(text for (text,) in found)

    def results(self, *columns):
        """The values of columns of all rows."""
        return self.connection.execute(f"SELECT {', '.join(columns)} FROM results").fetchall()

    def texts(self, condition, *values):
        query = f"SELECT r::text FROM results r WHERE {condition}"
        return sorted(text for (text,) in self.connection.execute(query, values).fetchall())

    def own_tables(self):
        query = "SELECT relname FROM pg_class WHERE relname LIKE 'headgate%'"
        return sorted(name for (name,) in self.connection.execute(query).fetchall())


@pytest.fixture
def shop(team, year, postgres, monkeypatch, broker):
    database = postgres.database().rpartition("/")[2]
    set_topics(monkeypatch, broker, year[0])
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    with postgres.connect(database) as connection:
        connection.execute("DROP ROLE IF EXISTS writer")
        connection.execute(f"CREATE ROLE writer LOGIN PASSWORD '{PASSWORD}'")
        connection.execute("GRANT CREATE ON SCHEMA public TO writer")
        yield Shop(team, connection, year)
        connection.execute("DROP OWNED BY writer")
        connection.execute("DROP ROLE writer")


def session_rows(found):
    return [(since, until, who, total, n) for (who, since), (until, total, n) in found.items()]


def bridging(old):
    """Late orders that make one session of two, each right between both sessions of a customer."""
    by_name = {}
    for who, since in sorted(old):
        by_name.setdefault(who, []).append(since)
    found = []
    for who, starts in by_name.items():
        for one, other in pairwise(starts):
            last = old[who, one][0] - timedelta(days=10)
            if other - last < timedelta(days=19):
                at = last + (other - last) / 2
                found.append(order(3_000_000 + len(found), who, at, 5))
                break
    return found[:6]


@pytest.mark.long
def test_sessions_of_touched_keys_are_replaced_or_deleted_and_an_undo_restores_them(shop):
    old = sessions([o for o in shop.kept if o["customer"] is not None])
    before = shop.begin("sessions", session_rows(old))
    late = [*bridging(old), order(4_000_000, "nobody", START, 3)]
    touched = [o["customer"] for o in late]
    new = sessions([o for o in [*shop.kept, *late] if o["customer"] is not None])
    vanished = old.keys() - new.keys()
    assert len(vanished) >= 6
    file, plan = shop.team.plan("sessions", *shop.late_files(late), *TO, scenario="late-batch")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == ["stage_late_rows", "upsert_rows"]
    said = plan["impact"]["late"]
    assert (said["records"], said["duplicates"], said["keys"]) == (len(late) + 1, 1, len(late))
    replaced = [key for key in old if key[0] in touched]
    assert (said["results"], said["of_results"]) == (len(replaced), len(old))
    others = "customer <> ALL(%s)"
    untouched = shop.texts(others, touched)
    assert shop.rows() == before
    done = shop.team.run("apply", str(file))
    assert done["state"] == "done"
    columns = COLUMNS["sessions"][:5]
    assert sorted(shop.results(*columns)) == sorted(session_rows(new))
    assert shop.texts(others, touched) == untouched
    notes = [n["message"] for n in shop.team.run("runs", done["run"])["progress"]]
    counts = (
        f"{len(new.keys() - old.keys())} rows added, "
        f"{len(replaced) - len(vanished)} rows replaced, {len(vanished)} rows deleted"
    ).replace("1 rows added", "1 row added")
    assert any(counts in text for text in notes), (counts, notes)
    assert any("1 duplicate dropped" in text for text in notes)

    who, since = min(vanished)
    shop.connection.execute("INSERT INTO results VALUES (%s, %s, %s, 1, 1)", (since, since, who))
    blocked = shop.team.run("undo", done["run"], code=3)
    assert "1 row of public.results changed after the run: session_window_start=" in str(blocked)
    shop.connection.execute(
        "DELETE FROM results WHERE customer = %s AND session_window_start = %s", (who, since)
    )
    assert shop.team.run("undo", done["run"])["state"] == "done"
    assert shop.rows() == before
    assert shop.own_tables() == []
    # The password is in no file of plans, runs and logs.
    for path in (*shop.team.folder.rglob("*"), file):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path


@pytest.mark.long
def test_totals_of_touched_customers_are_those_of_all_orders(shop, year):
    kept = [o for o in shop.kept if o["customer"] is not None]
    old = by_customer(kept)
    low = min(old, key=lambda who: old[who][0])
    # With it, the total isn't more than 100 any more.
    late = [*shop.late, order(5_000_000, low, START, -old[low][0])]
    new = by_customer([*shop.kept, *late])
    new.pop(None, None)
    assert low in old.keys() - new.keys()

    def as_rows(found):
        return [(who, t, n, at.replace(tzinfo=None)) for who, (t, n, at) in found.items()]

    before = shop.begin("by_customer", as_rows(old))
    given = ("--duplicates", "value.id")
    # The topic also has late orders without a customer: no row has such a key.
    _, plan = shop.team.plan(
        "by_customer", "--late", year[0]["late"], *TO, *given, scenario="late-batch", code=3
    )
    assert plan["blockers"] == [
        "--late: results of late records have null in customer, so the unique index of "
        "public.results doesn't identify them. Leave these records out of --late"
    ]
    # The last one is in the input, too.
    files = shop.late_files([*late, kept[0]])
    file, plan = shop.team.plan("by_customer", *files, *TO, *given, scenario="late-batch")
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["late"]["duplicates"] == 2
    touched = {o["customer"] for o in late}
    assert plan["impact"]["late"]["results"] == len(touched & old.keys())
    assert any("no time zone: last. The run writes times" in r for r in plan["risks"])
    done = shop.team.run("apply", str(file))
    assert done["state"] == "done"
    assert sorted(shop.results("customer", "total", "orders", "last")) == sorted(as_rows(new))
    assert shop.team.run("undo", done["run"])["state"] == "done"
    assert shop.rows() == before


def spark_pids(team):
    """The programs of late batches of the team's runs."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"late.replace_results" in line and str(team.folder).encode() in line:
            found.append(int(entry.name))
    return found


@pytest.mark.long
def test_windows_after_a_cancelled_run_and_two_kills(shop):
    old = daily(o for o in shop.kept if o["customer"] is not None)

    def as_rows(found):
        return [(day, who, total, n) for (day, who), (total, n) in found.items()]

    before = shop.begin("daily", as_rows(old))
    late = [*shop.late, shop.kept[0] | {"id": 6_000_000}]
    new = daily(o for o in [*shop.kept, *late] if o["customer"] is not None)
    file, plan = shop.team.plan(
        "daily", *shop.late_files(late), *TO, "--lateness", "1d", scenario="late-batch"
    )
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["late"]["windows"] == len(daily(late))
    assert plan["impact"]["late"]["results"] == len(daily(late).keys() & old.keys()) > 0
    # Only the first days of a year are read.
    assert plan["impact"]["total"] < ORDERS / 10

    run = shop.team.run("apply", str(file), "--detach")["run"]
    wait_for(lambda: spark_pids(shop.team))
    wait_for(shop.own_tables)
    shop.team.run("cancel", run)
    assert shop.team.ended(run) == "cancelled"
    assert shop.rows() == before

    # A row that the upsert stops at until the lock is free.
    shop.connection.execute(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$"
    )
    shop.connection.execute(
        "CREATE TRIGGER hold BEFORE INSERT ON results FOR EACH ROW EXECUTE FUNCTION hold()"
    )
    shop.connection.execute("SELECT pg_advisory_lock(42)")
    staged = shop.own_tables()
    second = shop.team.run("apply", str(file), "--detach")["run"]
    wait_for(lambda: spark_pids(shop.team))
    wait_for(lambda: set(shop.own_tables()) - set(staged))
    shop.team.kill_workers()
    # The program dies with its worker.
    until(lambda: not spark_pids(shop.team))
    shop.team.start_worker()
    waiting = (
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'writer'"
    )
    wait_for(lambda: shop.connection.execute(waiting).fetchall())
    shop.team.kill_workers()
    assert shop.rows() == before
    shop.connection.execute("SELECT pg_advisory_unlock(42)")
    active = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'writer'"
    until(lambda: shop.connection.execute(active).fetchone() == (0,))
    assert shop.rows() == before
    shop.team.start_worker()
    assert shop.team.ended(second) == "done"
    found = [(day, who.rstrip(), total, n) for day, who, total, n in
             shop.results("window_start", "customer", "total", "orders")]  # fmt: skip
    assert sorted(found) == sorted(as_rows(new))
    shop.connection.execute("DROP TRIGGER hold ON results")
    for one in (second, run):
        assert shop.team.run("undo", one)["state"] == "done"
    assert shop.rows() == before
    assert shop.own_tables() == []


@pytest.mark.long
def test_what_is_wrong_is_a_blocker_before_the_run(shop):
    shop.begin("daily", [(START, "c1", 1, 1)])
    execute = shop.connection.execute
    files = shop.late_files(shop.late[:3])

    def blockers(code=3):
        return shop.team.plan("daily", *files, *TO, scenario="late-batch", code=code)[1]["blockers"]

    execute("REVOKE DELETE ON results FROM writer")
    assert blockers() == [
        "the user of [jdbc.shop] lacks DELETE on public.results. Grant these privileges, or "
        "declare another user"
    ]
    execute("GRANT DELETE ON results TO writer")
    execute("ALTER TABLE results ALTER COLUMN total TYPE text")
    assert blockers() == [
        "--to: column total of public.results is text, but the results have bigint. Change the "
        "type of the column"
    ]
    execute("ALTER TABLE results ALTER COLUMN total TYPE int8 USING 1")
    execute("ALTER TABLE results DROP CONSTRAINT results_window_start_customer_key")
    assert blockers() == [
        "--to: public.results has no unique index whose columns are all in the results. Create a "
        "unique index on the columns that identify a result, for example the key and the window"
    ]
    execute("CREATE UNIQUE INDEX ON results (customer, window_start)")
    assert blockers(0) == []
