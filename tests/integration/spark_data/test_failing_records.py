"""Records that fail: found one by one, left out, and written to a dead letter topic once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from headgate.gateway.process.jars import spark_jars
from headgate.gateway.process.shell_commands import marked
from headgate.parse.kafka.dead_letters import FAILED_IN, read_dead_letter
from integration.spark_data.control_orders import RANGE, register, rows_of, write_orders
from integration.spark_data.control_queries import FAILING
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
COUNT, PARTITIONS = 1200, 3


@pytest.fixture
def orders(team, topic, broker, monkeypatch):
    name = topic("orders", partitions=PARTITIONS + 1, config={"retention.ms": "-1"})
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    monkeypatch.setenv("TOTALS_TOPIC", topic("totals", partitions=1))
    # The last partition is empty.
    return write_orders(broker, name, COUNT, partitions=PARTITIONS)


def place(number):
    """Where an order is."""
    return number % PARTITIONS, number // PARTITIONS


def check_letters(records, orders, run):
    """Each failing order is a dead letter of the run once, with what it was and why it failed."""
    found = {}
    for record in records:
        headers = tuple(record.headers() or ())
        letter = read_dead_letter(headers)
        if letter.topic is None:
            continue
        assert letter.topic == os.environ["ORDERS_TOPIC"]
        assert letter.headers == (("source", b"shop"),), "its own headers"
        assert dict(headers)[FAILED_IN] == run.encode()
        at = letter.partition, letter.offset
        assert at not in found
        found[at] = (record.key(), json.loads(record.value()), record.timestamp()[1], letter)
    assert set(found) == {place(n) for n in FAILING}
    for number in FAILING:
        key, value, timestamp, letter = found[place(number)]
        order = orders[number]
        assert (key, value) == (f"k{number}".encode(), order)
        assert timestamp == datetime.fromisoformat(order["at"]).timestamp() * 1000
        assert letter.reason == "ValueError" and f"order {number} is odd" in letter.message


@pytest.mark.long
def test_the_search_finds_exactly_the_records_that_fail(team, topic, broker, monkeypatch):
    name = topic("few", partitions=3, config={"retention.ms": "-1"})
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    write_orders(broker, name, 120)
    shutil.copy(Path(__file__).with_name("control_queries.py"), team.folder)
    jars = ",".join(map(str, spark_jars()))
    settings = ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=2", f"spark.jars={jars}",
                "spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1")  # fmt: skip
    conf = " ".join(f"--conf {one}" for one in settings)
    env = {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"--master local[2] {conf} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(team.folder)]),
    }
    offsets = json.dumps({name: {"0": [0, 60], "1": [0, 60], "2": [0, 0]}})
    functions = ["plain", "checked", "sums", "pruned", "cast", "results", "small_results", "both",
                 "joined", "broken", "single", "in_company", "kept"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "integration.spark_data.failing_program", offsets, "50", *functions],
        cwd=team.folder, env=env, capture_output=True, text=True, timeout=840,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    failing = [n for n in FAILING if n < 120]
    expected = sorted((n % 2, n // 2) for n in failing)
    for function in ("checked", "sums", "cast", "small_results", "both", "single"):
        assert [tuple(r[1:3]) for r in found[function]] == expected, (function, found[function])
        assert {r[0] for r in found[function]} == {name}
    messages = {tuple(r[1:3]): r[3] for r in found["checked"]}
    assert all(f"order {n} is odd" in messages[n % 2, n // 2] for n in failing)
    assert found["plain"] == found["results"] == found["pruned"] == []
    assert "joins records of two Kafka sources" in found["joined"]
    assert "fails even without records" in found["broken"]
    assert "may need several records in a batch" in found["in_company"]
    assert "doesn't read its Kafka sources on a second call" in found["kept"]


@pytest.mark.long
def test_all_others_are_processed_once_also_after_kill_9(team, orders, topic, consume, broker):
    from confluent_kafka import Producer

    register(team, "checked")
    letters = topic("letters", partitions=2, config={"retention.ms": "-1"})
    # Somebody's own dead letter, which the run leaves alone.
    producer = Producer({"bootstrap.servers": broker})
    producer.produce(letters, "not ours", partition=0)
    assert producer.flush(30) == 0
    target = team.folder / "results"
    given = (*RANGE, "--to", str(target), "--failing-to", letters)
    few = (*given[:5], str(team.folder / "few"), *given[6:], "--max-failing", "3")
    file, _ = team.plan("checked", *few, scenario="historical-range")
    failed = team.run("apply", str(file), code=5)
    assert "more than 3 records fail. The first one is at" in json.dumps(failed)
    assert not (team.folder / "few").exists()
    file, plan = team.plan("checked", *given, scenario="historical-range")
    assert [s["action"] for s in plan["steps"]] == [
        "process_records", "write_dead_letters", "install_results"
    ]  # fmt: skip
    run = team.run("apply", str(file), "--detach")["run"]
    runs, found = team.folder / ".headgate" / "runs" / run, "**/failing-records.json"
    until(lambda: any(runs.glob(found)), team.worker_log, every=0.02, seconds=2 * PATIENCE)
    # All are found, and Spark has begun with the others.
    team.kill_workers()
    for pid in marked(f"{run}:spark:replay_query"):
        os.kill(pid, signal.SIGKILL)
    assert not target.exists()
    team.start_worker()
    assert len(consume(letters, 2, seconds=300)) == 2, team.worker_log()
    team.kill_workers()
    team.start_worker()
    assert team.ended(run) == "done"
    rows = rows_of(target)
    kept = [o for o in orders if o["id"] not in FAILING]
    assert Counter((r["id"], r["city"], r["amount"], r["checked"]) for r in rows) == Counter(
        (o["id"], o["city"], o["amount"], o["id"]) for o in kept
    )
    report = team.run("report", run)
    assert (report["totals"]["failed"], report["totals"]["read"]) == (len(FAILING), COUNT)
    assert report["totals"]["written"] == len(kept)
    lines = team.popen("report", run, "--format", "markdown").communicate(timeout=PATIENCE)[0]
    assert f"| Records failed | {len(FAILING)} |" in lines
    records = consume(letters, len(FAILING) + 2, seconds=10)
    assert len(records) == len(FAILING) + 1
    check_letters(records, orders, run)
    # The product's own scenario knows where each of them failed, and redrives it there.
    file, redrive = team.plan("checked", "--topic", letters, scenario="dead-letters")
    assert redrive["impact"]["total"] == len(FAILING), redrive
    team.run("apply", str(file))
    again = consume(os.environ["ORDERS_TOPIC"], COUNT + len(FAILING) + 1, seconds=15)
    values = Counter(r.value() for r in again)
    assert sorted(json.loads(v)["id"] for v, n in values.items() if n == 2) == sorted(FAILING)
    assert len(values) == COUNT


@pytest.mark.long
def test_totals_in_a_topic_lack_the_failing_records(team, orders, topic, consume):
    register(team, "checked_hours")
    letters = topic("letters", partitions=2, config={"retention.ms": "-1"})
    target = topic("unused", partitions=1) + "-results"
    given = (*RANGE, "--to", f"kafka:{target}", "--failing-to", letters)
    file, plan = team.plan(
        "checked_hours", *given, "--time-column", "value.at", scenario="historical-range"
    )
    assert any(
        "aggregations and deduplications are computed without them" in r for r in plan["risks"]
    )
    done = team.run("apply", str(file))
    expected = {}
    for order in orders:
        if order["id"] not in FAILING:
            at = datetime.fromisoformat(order["at"]).replace(minute=0)
            ids, n = expected.get(at, (0, 0))
            expected[at] = ids + order["id"], n + 1
    found = [json.loads(r.value()) for r in consume(target, len(expected) + 1, seconds=10)]
    assert len(found) == len(expected)
    assert {datetime.fromisoformat(r["at"]): (r["ids"], r["n"]) for r in found} == expected
    check_letters(consume(letters, len(FAILING) + 1, seconds=10), orders, done["run"])
