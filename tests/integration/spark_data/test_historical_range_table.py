"""A range of orders into a real PostgreSQL table, compared row by row with plain Python."""

import json
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from scenes.small_spark import small_spark
from support.postgres_server import running_postgres
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
START = datetime(2026, 4, 1, tzinfo=UTC)
RECORDS = 3000
STEP = timedelta(days=3) / RECORDS
SINCE, UNTIL = "2026-04-02T00:00:00Z", "2026-04-03T00:00:00Z"
PASSWORD = "t4ble-s3cr3t-value"
COLUMNS = ("window_start", "city", "total", "orders", "note")
TABLE = """
CREATE TABLE totals (
    window_start timestamptz, city varchar(10), total numeric(12, 2) NOT NULL, orders int,
    note text DEFAULT 'new', id bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (city, window_start)
)
"""


# Each has a start of Spark before it.
wait_for = partial(until, seconds=2 * PATIENCE)


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def orders(broker, topic):
    """Three days of orders in order of arrival, a tenth up to a day late, some twice."""
    from confluent_kafka import Producer

    name = topic("orders", partitions=2, config={"retention.ms": "-1"})
    rnd, kept = random.Random(3), []
    producer = Producer({"bootstrap.servers": broker})
    for number in range(RECORDS):
        arrives = START + number * STEP
        late = timedelta(seconds=rnd.randint(0, 86_400)) if rnd.random() < 0.1 else timedelta()
        order = {"id": number, "city": rnd.choice("abc"), "amount": rnd.randint(1, 99),
                 "at": (arrives - late).isoformat()}  # fmt: skip
        for _ in range(2 if rnd.random() < 0.02 else 1):
            producer.produce(
                name, json.dumps(order), partition=number % 2,
                timestamp=int(arrives.timestamp() * 1000),
            )  # fmt: skip
            kept.append(order)
        producer.poll(0)
    assert producer.flush(30) == 0
    return name, kept


def totals(kept):
    """Sum and count by window and city of the range, in plain Python."""
    found = defaultdict(lambda: [0, 0])
    start, until = datetime.fromisoformat(SINCE), datetime.fromisoformat(UNTIL)
    for order in kept:
        at = datetime.fromisoformat(order["at"])
        first = at.replace(minute=0, second=0, microsecond=0)
        if start <= first < until:
            found[first, order["city"]][0] += order["amount"]
            found[first, order["city"]][1] += 1
    return found


@pytest.fixture
def shop(team, orders, postgres, monkeypatch, broker):
    """A database with a table of earlier, wrong totals, and a pipeline that computes totals."""
    name, _ = orders
    database = postgres.database().rpartition("/")[2]
    connection = postgres.connect(database)
    connection.execute("DROP ROLE IF EXISTS writer")
    connection.execute(f"CREATE ROLE writer LOGIN PASSWORD '{PASSWORD}'")
    connection.execute("GRANT CREATE ON SCHEMA public TO writer")
    connection.execute(TABLE)
    connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON totals TO writer")
    # Half of a day's windows of a city, one of another day, and one that no result has.
    connection.execute(
        "INSERT INTO totals SELECT '2026-04-02Z'::timestamptz + n * interval '2 hours', 'a', 1.5, "
        "NULL, 'old ' || n FROM generate_series(0, 12) n"
    )
    connection.execute("INSERT INTO totals VALUES ('2026-04-02Z', 'gone', 7, 7, 'stays')")
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    shutil.copy(Path(__file__).with_name("history_queries.py"), team.folder)
    url = f"jdbc:postgresql://127.0.0.1:{connection.info.port}/{database}"
    team.register(
        '[[pipeline]]\nname = "hourly"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        'entry_point = "history_queries:hourly"\n',
        small_spark(),
        f'[jdbc.shop]\nurl = "{url}"\nuser = "writer"\npassword = "${{SHOP_PASSWORD}}"\n'
        '[jdbc.gone]\nurl = "jdbc:postgresql://127.0.0.1:1/none"\nuser = "u"\n'
        '[jdbc.other]\nurl = "jdbc:oracle:thin:@127.0.0.1/none"\n',
    )
    command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
    command += ["history_queries:hourly", "--pipeline", "hourly"]
    subprocess.run(command, cwd=team.folder, check=True, capture_output=True)
    yield connection
    connection.execute("DROP OWNED BY writer")
    connection.execute("DROP ROLE writer")
    connection.close()


def rows(shop, columns="*"):
    return sorted(shop.execute(f"SELECT {columns} FROM totals").fetchall(), key=lambda r: r[:2])


def own_tables(shop):
    found = shop.execute("SELECT relname FROM pg_class WHERE relname LIKE 'headgate%'").fetchall()
    return sorted(name for (name,) in found)


def plan(team, *more, to="jdbc:shop.totals", keys=("city", "window_start"), code=0):
    given = ("--from", SINCE, "--until", UNTIL, "--to", to)
    named = [word for key in keys for word in ("--keys", key)]
    return team.plan("hourly", *given, *named, *more, scenario="historical-range", code=code)


def expected(kept, before):
    """The rows after the run: new totals, with the old notes of replaced rows."""
    notes = {(w, c): note for w, c, _, _, note, _ in before}
    new = {k: (*k, total, n, notes.get(k, "new")) for k, (total, n) in totals(kept).items()}
    rest = {(r[0], r[1]): tuple(r[:5]) for r in before}
    return sorted((rest | new).values(), key=lambda r: r[:2])


def test_results_replace_rows_by_key_and_an_undo_restores_them(team, orders, shop):
    before = rows(shop)
    file, made = plan(team)
    assert made["can_apply"], made["blockers"]
    assert [s["action"] for s in made["steps"]] == ["stage_rows", "upsert_rows"]
    assert any(
        "a row of public.totals is kept if no new result has its keys" in r for r in made["risks"]
    )
    assert any("no values for these columns: note. Replaced" in r for r in made["risks"])
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    after = rows(shop)
    assert sorted((tuple(r[:5]) for r in after), key=lambda r: r[:2]) == expected(orders[1], before)
    said = [n["message"] for n in team.run("runs", done["run"])["progress"]]
    added = len(after) - len(before)
    assert any(f"{added} rows added, 12 rows replaced" in text for text in said), said
    # The identity of a replaced row stays.
    ids = {(r[0], r[1]): r[5] for r in before}
    assert all(ids.get((r[0], r[1]), r[5]) == r[5] for r in after)

    shop.execute("UPDATE totals SET total = 0 WHERE city = 'b' AND window_start = '2026-04-02Z'")
    blocked = team.run("undo", done["run"], code=3)
    assert "1 row of public.totals changed after the run: city=b" in str(blocked)
    right = totals(orders[1])[datetime.fromisoformat(SINCE), "b"][0]
    shop.execute(
        "UPDATE totals SET total = %s WHERE city = 'b' AND window_start = '2026-04-02Z'", (right,)
    )
    assert team.run("undo", done["run"])["state"] == "done"
    assert rows(shop) == before
    assert own_tables(shop) == []
    # The password is in no file of plans, runs and logs.
    for path in (*team.folder.rglob("*"), file):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path


def spark_pids(team):
    """The Spark programs of the team's runs."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"replay_query" in line and str(team.folder).encode() in line:
            found.append(int(entry.name))
    return found


@pytest.mark.long
def test_a_run_killed_while_spark_writes_and_in_the_transaction_is_resumed(team, orders, shop):
    before = rows(shop)
    file, _ = plan(team)
    # A row that the upsert stops at until the lock is free.
    shop.execute(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.city = 'c' THEN PERFORM pg_advisory_xact_lock(42); END IF; RETURN NEW; END $$"
    )
    shop.execute("CREATE TRIGGER hold BEFORE INSERT ON totals FOR EACH ROW EXECUTE FUNCTION hold()")
    shop.execute("SELECT pg_advisory_lock(42)")
    run = team.run("apply", str(file), "--detach")["run"]
    wait_for(lambda: spark_pids(team))
    wait_for(lambda: own_tables(shop))
    team.kill_workers()
    # The program dies with its worker.
    until(lambda: not spark_pids(team))
    assert rows(shop) == before
    team.start_worker()
    waiting = (
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'writer'"
    )
    wait_for(lambda: shop.execute(waiting).fetchall())
    team.kill_workers()
    assert rows(shop) == before
    shop.execute("SELECT pg_advisory_unlock(42)")
    active = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'writer'"
    until(lambda: shop.execute(active).fetchone() == (0,))
    assert rows(shop) == before
    team.start_worker()
    assert team.ended(run) == "done"
    found = sorted((tuple(r[:5]) for r in rows(shop)), key=lambda r: r[:2])
    assert found == expected(orders[1], before)
    shop.execute("DROP TRIGGER hold ON totals")
    assert team.run("undo", run)["state"] == "done"
    assert rows(shop) == before
    assert own_tables(shop) == []


@pytest.mark.long
def test_results_whose_keys_are_not_unique_leave_the_table_as_it_was(team, shop):
    shop.execute("CREATE UNIQUE INDEX by_time ON totals (window_start) WHERE city = 'none'")
    shop.execute("TRUNCATE totals")
    shop.execute("CREATE UNIQUE INDEX ON totals (window_start)")
    file, _ = plan(team, keys=("window_start",))
    failed = team.run("apply", str(file), code=None)
    assert "results have the same key (window_start=2026-04-02" in json.dumps(failed)
    assert rows(shop) == []


def test_what_is_wrong_is_said_before_the_run(team, shop):
    wrong = (
        ({"to": "jdbc:shop"}, "isn't a table. Write jdbc:NAME.TABLE"),
        ({"to": "jdbc:shopp.totals"}, "declares no database [jdbc.shopp]: did you mean shop?"),
        ({"to": "jdbc:other.totals"}, "[jdbc.other]: Headgate writes only to PostgreSQL"),
        ({"to": "jdbc:shop.sums"}, "--to: database shop has no table sums"),
        ({"keys": ()}, "--keys: required if --to is a table"),
        ({"keys": ("town",)}, "--keys: public.totals has no column town. Its columns: city, id"),
        (
            {"keys": ("city",)},
            "--keys: public.totals has no unique index on city. Create this index, or pass the "
            "columns of an existing index: city, window_start",
        ),
        ({"to": "/data/results"}, "--keys: only available if --to is a table, or with --as stream"),
    )
    for given, said in wrong:
        _, made = plan(team, **given, code=3)
        assert said in made["blockers"][0], made["blockers"]
    _, made = plan(team, "--replace", code=3)
    assert made["blockers"][0].startswith("--replace: not available if --to is a table")
    unreachable = plan(team, to="jdbc:gone.totals", code=4)[1]
    assert "database gone can't be reached" in unreachable["error"]
    shop.execute("REVOKE DELETE ON totals FROM writer")
    shop.execute("REVOKE CREATE ON SCHEMA public FROM writer")
    _, made = plan(team, code=3)
    assert made["blockers"] == [
        "the user of [jdbc.shop] lacks CREATE on schema public, DELETE on public.totals. Grant "
        "these privileges, or declare another user"
    ]


@pytest.mark.long
def test_columns_that_do_not_fit_are_blockers(team, shop):
    shop.execute("ALTER TABLE totals DROP COLUMN orders, ADD COLUMN author text NOT NULL")
    shop.execute("ALTER TABLE totals ALTER COLUMN total TYPE text")
    shop.execute("TRUNCATE totals")
    _, made = plan(team, code=3)
    assert made["blockers"] == [
        "--to: column total of public.totals is text, but the results have bigint. Change the type "
        "of the column",
        "--to: public.totals has no column orders, which the results need. Add the column, or pass "
        "another table",
        "--to: the results have no values for these columns of public.totals, which can't be "
        "null: author. Set a default for each column",
    ]
