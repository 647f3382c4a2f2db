"""Orders and a registered pipeline, for tests of reports, progress, limits and failing records."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from confluent_kafka import Producer

from scenes.small_spark import small_spark

START = datetime(2026, 4, 1, tzinfo=UTC)
RANGE = ("--from", "2026-04-01T00:00:00Z", "--until", "2026-05-01T00:00:00Z")


def write_orders(broker, topic, count, *, partitions=2, broken=()):
    """Write an order a minute to the first partitions; return them. `broken` ones have no JSON."""
    producer, made = Producer({"bootstrap.servers": broker}), []
    for number in range(count):
        at = START + timedelta(minutes=number)
        order = {"id": number, "city": "abc"[number % 3], "amount": number % 7 + 1,
                 "at": at.isoformat()}  # fmt: skip
        made.append(order)
        producer.produce(
            topic, "broken" if number in broken else json.dumps(order), key=f"k{number}",
            partition=number % partitions, timestamp=int(at.timestamp() * 1000),
            headers=[("source", b"shop")],
        )  # fmt: skip
        producer.poll(0)
    assert producer.flush(60) == 0
    return made


def register(team, function, more=""):
    """Register a function of `control_queries` and store its version."""
    shutil.copy(Path(__file__).with_name("control_queries.py"), team.folder)
    team.register(
        f'[[pipeline]]\nname = "{function}"\nengine = "spark"\n'
        f'checkpoint = "checkpoint"\nentry_point = "control_queries:{function}"\n{more}',
        small_spark(),
    )
    command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
    command += [f"control_queries:{function}", "--pipeline", function]
    subprocess.run(command, cwd=team.folder, check=True, capture_output=True)


def rows_of(folder):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder).to_pylist()
