"""Results of a range, appended to a topic that exists: each once, and never undone."""

import json
import random
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scenes.small_spark import small_spark
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
START = datetime(2026, 4, 1, tzinfo=UTC)
SINCE, UNTIL = "2026-04-01T06:00:00Z", "2026-04-01T18:05:00Z"
GIVEN = ("--from", SINCE, "--until", UNTIL, "--time-column", "value.start", "--append")


@pytest.fixture
def pipeline(team, broker, topic, monkeypatch):
    """A day of orders and the query of sliding totals."""
    from confluent_kafka import Producer

    name, kept = topic("orders", partitions=2, config={"retention.ms": "-1"}), []
    rnd = random.Random(5)
    producer = Producer({"bootstrap.servers": broker})
    for number in range(1000):
        at = START + number * timedelta(days=1) / 1000
        order = {"id": number, "city": rnd.choice("abc"), "amount": rnd.randint(1, 99),
                 "at": (at - timedelta(minutes=rnd.randint(0, 90))).isoformat()}  # fmt: skip
        producer.produce(name, json.dumps(order), partition=number % 2)
        kept.append(order)
    assert producer.flush(30) == 0
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    shutil.copy(Path(__file__).with_name("history_queries.py"), team.folder)
    team.register(
        '[[pipeline]]\nname = "sliding"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        'entry_point = "history_queries:sliding"\n',
        small_spark(),
    )
    command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
    command += ["history_queries:sliding", "--pipeline", "sliding"]
    subprocess.run(command, cwd=team.folder, check=True, capture_output=True)
    return name, kept


def totals(kept):
    found = {}
    slide, start, until = timedelta(minutes=15), *map(datetime.fromisoformat, (SINCE, UNTIL))
    for order in kept:
        at = datetime.fromisoformat(order["at"])
        first = at - (at - START) % slide
        while first > at - timedelta(hours=1):
            if start <= first < until:
                key = first, order["city"]
                found[key] = found.get(key, 0) + order["amount"]
            first -= slide
    return found


@pytest.mark.long
def test_a_killed_run_appends_each_result_once(
    team, pipeline, topic, produce, consume, kafka_admin, groups
):
    source, kept = pipeline
    name = topic("totals", partitions=3)
    produce(name, [("a", "earlier"), ("b", "earlier")])
    file, plan = team.plan("sliding", *GIVEN, "--to", f"kafka:{name}", scenario="historical-range")
    assert plan["can_apply"], plan["blockers"]
    assert [(s["action"], s["undoable"]) for s in plan["steps"]] == [
        ("stage_records", True), ("append_records", False), ("delete_staged_records", True)
    ]  # fmt: skip
    assert any("each result is written once" in r for r in plan["risks"])
    run = team.run("apply", str(file), "--detach")["run"]
    staged = f"headgate-staged-{run}"
    until(
        lambda: staged in kafka_admin.list_topics(timeout=30).topics,
        team.worker_log,
        seconds=2 * PATIENCE,
    )
    team.kill_workers()
    team.start_worker()
    assert team.ended(run) == "done"
    expected = totals(kept)
    records = consume(name, len(expected) + 3, seconds=10)
    new = [r for r in records if r.value() != b"earlier"]
    assert len(new) == len(expected) == len(records) - 2
    rows = [json.loads(r.value()) for r in new]
    found = {(datetime.fromisoformat(r["start"]), r["city"]): r["total"] for r in rows}
    assert found == expected
    assert all(r.key().decode() == row["city"] for r, row in zip(new, rows, strict=True))
    assert {tuple(r.headers()) for r in new} == {(("headgate.run", run.encode()),)}
    # As the Java client does, a key has one partition.
    assert len({(r.key(), r.partition()) for r in new}) == len({r.key() for r in new})
    assert staged not in kafka_admin.list_topics(timeout=30).topics
    undo = team.run("undo", run, code=3)
    assert f"can't be undone: append each result to {name}" in undo["error"]

    wrong = (
        (f"kafka:{name}-none", "doesn't exist. Correct --to, or omit --append"),
        (f"kafka:{source}", "so the results would become input of the pipeline"),
        ("/data/results", "--append: only available if --to is a topic"),
    )
    for to, said in wrong:
        _, made = team.plan("sliding", *GIVEN, "--to", to, scenario="historical-range", code=3)
        assert said in made["blockers"][0]
