"""`headgate compare-output` on Delta, PostgreSQL, Kafka and files: exit codes and JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from headgate.gateway.process.jars import delta_jars
from headgate.gateway.spark.submit_job import DELTA
from scenes.small_spark import small_spark
from support.postgres_server import running_postgres

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
PASSWORD = "cmp-s3cr3t-value"
WRITE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for pair in sys.argv[3:]:
    builder = builder.config(*pair.split("=", 1))
spark = builder.config("spark.jars", sys.argv[2]).getOrCreate()
rows = "SELECT id, CAST(id AS DOUBLE) / 2 AS amount, concat('c', id % 3) AS city FROM range(100)"
spark.sql(rows).write.format("delta").save(sys.argv[1])
# The newest version counts: this one lacks 7.
spark.sql(f"DELETE FROM delta.`{sys.argv[1]}` WHERE id = 7")
"""


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def team(tmp_path_factory, broker, postgres):
    """A folder with headgate.toml, and a PostgreSQL table."""
    folder = tmp_path_factory.mktemp("outputs")
    database = postgres.database().rpartition("/")[2]
    with postgres.connect(database) as connection:
        connection.execute(f"ALTER USER headgate PASSWORD '{PASSWORD}'")
        connection.execute(
            "CREATE TABLE totals (id bigint, amount numeric(10,2), city text, written timestamp)"
        )
        connection.execute(
            "INSERT INTO totals SELECT n, n / 2.0 + CASE WHEN n = 5 THEN 0.5 ELSE 0 END, "
            "'c' || n % 3, now() FROM generate_series(0, 98) AS n"
        )
        port = connection.info.port
    (folder / "headgate.toml").write_text(
        f'[kafka]\nbootstrap_servers = "{broker}"\n'
        f'[jdbc.shop]\nurl = "jdbc:postgresql://127.0.0.1:{port}/{database}"\n'
        'user = "headgate"\npassword = "${SHOP_PASSWORD}"\n'
        '[jdbc.gone]\nurl = "jdbc:postgresql://127.0.0.1:1/none"\nuser = "u"\n' + small_spark()
    )
    return folder


def run(team, *args, code):
    done = subprocess.run(
        [sys.executable, "-m", "headgate.cli.main", "compare-output", *args, "--format", "json"],
        cwd=team, capture_output=True, text=True, timeout=900,
        env={**__import__("os").environ, "SHOP_PASSWORD": PASSWORD},
    )  # fmt: skip
    assert done.returncode == code, done.stderr[-3000:]
    assert PASSWORD not in done.stdout + done.stderr
    return json.loads(done.stdout) if code in (0, 1) else done.stderr


@pytest.mark.long
def test_a_delta_table_and_a_table_of_postgresql(team):
    conf = [f"{key}={value}" for key, value in DELTA.items()]
    jars = ",".join(map(str, delta_jars()))
    write = [sys.executable, "-c", WRITE, str(team / "delta"), jars, *conf]
    subprocess.run(write, check=True, timeout=600)
    equal = run(team, "delta", "delta", "--keys", "id", code=0)
    assert equal["equal"] is True and equal["samples"] == []
    found = run(team, "delta", "jdbc:shop.public.totals", "--keys", "id", "--ignore", "written",
                code=1)  # fmt: skip
    assert found["schema"] == 1 and found["equal"] is False
    assert found["rows"] == {"a": 99, "b": 99}
    assert (found["missing"], found["extra"], found["different"]) == (1, 1, 1)
    assert [(c["name"], c["different"], c["type_a"], c["type_b"]) for c in found["columns"]] == [
        ("amount", 1, "double", "decimal(10,2)"), ("city", 0, "string", "string")
    ]  # fmt: skip
    told = {s["kind"]: (s["key"], s["a"], s["b"]) for s in found["samples"]}
    assert told == {
        "different": ({"id": 5}, {"amount": 2.5}, {"amount": 3.0}),
        "missing": ({"id": 99}, {"amount": 49.5, "city": "c0"}, None),
        "extra": ({"id": 7}, None, {"amount": 3.5, "city": "c1"}),
    }


def test_a_topic_in_update_mode_and_a_file(team, topic, produce):
    name = topic("updates")
    rows = [(str(n), json.dumps({"id": n, "n": 0, "password": "hunter2"})) for n in range(5)]
    produce(name, rows + [(str(n), json.dumps({"id": n, "n": n, "password": "x"}))
                          for n in range(5)])  # fmt: skip
    lines = (json.dumps({"id": n, "n": n + 0.25, "password": "y"}) for n in range(5))
    (team / "totals.jsonl").write_text("\n".join(lines) + "\n")
    address = f"kafka:{name}"
    found = run(team, address, "totals.jsonl", "--keys", "id", "--newest", "--tolerance", "0.25",
                code=1)  # fmt: skip
    # A secret differs, but is shown nowhere.
    assert found["rows"] == {"a": 5, "b": 5}
    assert {c["name"]: c["different"] for c in found["columns"]} == {"n": 0, "password": 5}
    assert {s["a"]["password"] for s in found["samples"]} == {"********"}


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("a", "b", "--keys", "id"), 2, "a not found"),
        (("totals.csv", "totals.csv", "--keys", "idd"), 2, "did you mean id?"),
        (("a", "b", "--keys", "id", "--ignore", "id"), 2, "is a key"),
        (("a", "jdbc:shop2.t", "--keys", "id"), 2, "did you mean shop?"),
        pytest.param(
            ("jdbc:gone.t", "totals.csv", "--keys", "id"),
            4,
            "jdbc:gone.t did not respond",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_input_is_one_sentence(team, args, code, said):
    (team / "totals.csv").write_text("id,n\n1,2\n")
    error = run(team, *args, code=code)
    last = [line for line in error.splitlines() if not line.startswith("…")]
    assert len(last) == 1 and said in last[0], error
