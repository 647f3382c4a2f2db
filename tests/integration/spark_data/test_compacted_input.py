"""A range of a compacted topic: the results are those of the records that Kafka still has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from pathlib import Path

import pyarrow.parquet
import pytest

from scenes.records import make_topic, read_all
from scenes.small_spark import small_spark
from support.waiting import PATIENCE

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
START = datetime(2026, 4, 1, tzinfo=UTC)
COMPACTED = {
    "cleanup.policy": "compact",
    "retention.ms": "-1",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.001",
    "max.compaction.lag.ms": "100",
}


COUNT = 300


def key_of(number):
    """A later order with the same key replaces most; every seventh stays, and all after COUNT."""
    return str(number if number % 7 == 0 or number >= COUNT else number % 70)


@pytest.fixture
def orders(broker, unique):
    """A topic of two partitions with an order each ten minutes; a later one replaces most."""
    from confluent_kafka import Producer

    name = unique("orders")
    make_topic(broker, name, 2, **COMPACTED)
    producer = Producer({"bootstrap.servers": broker})

    def write(number):
        at = START + number * timedelta(minutes=10)
        order = {"id": number, "city": "abc"[number % 3], "amount": number, "at": at.isoformat()}
        producer.produce(
            name, json.dumps(order), key=key_of(number), partition=number % 2,
            timestamp=int(at.timestamp() * 1000),
        )  # fmt: skip

    for number in range(COUNT):
        write(number)
    last = {key_of(number): number for number in range(COUNT)}
    deadline, more = time.monotonic() + PATIENCE, COUNT
    while True:
        # Only a segment that another one follows is compacted.
        write(more)
        write(more + 1)
        more += 2
        assert producer.flush(30) == 0
        kept = [*chain.from_iterable(read_all(broker, [name]).values())]
        if {n for k in kept if (n := json.loads(k.value)["id"]) < COUNT} == {*last.values()}:
            break
        assert time.monotonic() < deadline, "Kafka compacts nothing"
        time.sleep(0.5)
    return name, kept


@pytest.mark.long
@pytest.mark.parametrize("way", ["batch", "stream"])
def test_gaps_of_compaction_are_no_records(team, orders, monkeypatch, broker, way):
    name, kept = orders
    assert any(b.offset - a.offset > 1 for a, b in pairwise(kept))
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    shutil.copy(Path(__file__).with_name("history_queries.py"), team.folder)
    team.register(
        '[[pipeline]]\nname = "hourly"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        'entry_point = "history_queries:hourly"\n',
        small_spark(),
    )
    subprocess.run(
        (sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture",
         "history_queries:hourly", "--pipeline", "hourly"),
        cwd=team.folder, check=True, capture_output=True,
    )  # fmt: skip
    since, until = START + timedelta(hours=20), START + timedelta(hours=49)
    target = team.folder / "results"
    file, plan = team.plan(
        "hourly", "--from", since.isoformat(), "--until", until.isoformat(), "--to", str(target),
        "--as", way, scenario="historical-range",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    assert any(r.startswith(f"{name} is compacted") for r in plan["risks"])
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    totals: Counter[tuple[datetime, str]] = Counter()
    for order in (json.loads(record.value) for record in kept):
        hour = datetime.fromisoformat(order["at"]).replace(minute=0)
        if since <= hour < until:
            totals[hour, order["city"]] += order["amount"]
    rows = pyarrow.parquet.read_table(target).to_pylist()
    found = {(r["window"]["start"].replace(tzinfo=UTC), r["city"]): r["total"] for r in rows}
    assert found == {key: total for key, total in totals.items() if total}
    assert len(rows) == len(found)
