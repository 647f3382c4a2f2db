"""How far estimates of bounded runs are from the truth: real runs of Spark over a real broker.

Each run reads a different number of records, takes a minute or more, and is estimated by `headgate
estimate` before it starts, from the runs before it. The first two only measure. How many follow is
HEADGATE_BENCH_RUNS (30); a row says how many there were. What a query does with a record takes a
fixed time, so that the machine and not the disk decides; start-up is Spark's own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from harness import Row

from headgate.gateway.kafka_broker.local_broker import running_broker

RUNS = int(os.environ.get("HEADGATE_BENCH_RUNS", "30"))
FIRST = 2
# Records that take 60 to 120 s at the query's speed below.
LEAST, MOST = 24_000, 48_000
WITHIN, SHARE = 0.25, 0.8
QUERY = """
import json
import time
from pathlib import Path

from pyspark.sql import functions as F

GIVEN = json.loads((Path(__file__).parent / "query.json").read_text())


def orders(spark):
    slow = F.udf(lambda value: time.sleep(0.005) or len(value), "int")
    read = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", GIVEN["bootstrap"])
        .option("subscribe", GIVEN["topic"])
        .option("startingOffsets", "earliest")
        .load()
    )
    return read.select(slow("value").alias("n")).writeStream.format("noop").queryName("orders")
"""
REGISTRY = """
[kafka]
bootstrap_servers = "{bootstrap}"
[spark]
master = "local[2]"
[spark.config]
"spark.driver.memory" = "768m"
[[pipeline]]
name = "orders"
engine = "spark"
checkpoint = "checkpoint"
entry_point = "bench_orders:orders"
[pipeline.commands]
stop = "true"
status = "exit 3"
"""


def rows() -> Iterator[Row]:
    """Yield the share of runs that ended near their estimate, and the largest error."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        home = Path(folder)
        with running_broker(home / "kafka") as bootstrap:
            bench = _Bench(home, bootstrap)
            bench.prepare()
            told = [bench.run() for _ in range(FIRST + RUNS)][FIRST:]
    for number, run in enumerate(told, 1):
        print(f"{number}: {json.dumps(run)}", file=sys.stderr)
    near = [t for t in told if abs(t["error"]) <= WITHIN]
    share = len(near) / len(told)
    yield Row(
        subject=f"{len(told)} bounded runs of {min(t['seconds'] for t in told):.0f} to "
        f"{max(t['seconds'] for t in told):.0f} s: ended within 25 % of the estimate",
        ours=share * 100,
        unit="%",
        goal="80 % of at least 30 runs",
        met=share >= SHARE if len(told) >= 30 else None,
    )
    startup = sum(t["startup"] for t in told) / len(told)
    yield Row(subject="start-up in these estimates, on average", ours=startup, goal="informs")
    worst = max(abs(t["error"]) for t in told) * 100
    yield Row(subject="largest error of these estimates", ours=worst, unit="%", goal="informs")


class _Bench:
    """A query, its topic, and the command."""

    def __init__(self, home: Path, bootstrap: str) -> None:
        self._home = home
        self._bootstrap = bootstrap
        self._chance = random.Random(16)

    def prepare(self) -> None:
        """Write the query and the registry, and let it do its first batch by itself."""
        (self._home / "bench_orders.py").write_text(QUERY)
        given = {"bootstrap": self._bootstrap, "topic": "bench-orders"}
        (self._home / "query.json").write_text(json.dumps(given))
        (self._home / "headgate.toml").write_text(REGISTRY.format(bootstrap=self._bootstrap))
        self._produce(10)
        self._first_batch()

    def _first_batch(self) -> None:
        from headgate.gateway.spark.run_job import joined_jars

        options = f"--master local[2] --jars {joined_jars()} pyspark-shell"
        path = os.pathsep.join(filter(None, (str(self._home), os.environ.get("PYTHONPATH"))))
        program = (sys.executable, "-m", "headgate.spark_jobs.data.run_bounded")
        given = ("--entry-point=bench_orders:orders", "--checkpoint=checkpoint", "--bounds=first")
        env = {**os.environ, "PYTHONPATH": path, "PYSPARK_SUBMIT_ARGS": options}
        subprocess.run([*program, *given], cwd=self._home, env=env, check=True, capture_output=True)

    def run(self) -> dict[str, Any]:
        """Do one run; return its seconds, its estimate's start-up, and the error."""
        self._produce(self._chance.randint(LEAST, MOST))
        self._headgate("plan", "bounded", "orders", "--max-records=4000", "-o", "plan.json")
        run = self._headgate("apply", "plan.json")["run"]
        shown = self._headgate("runs", run)
        seconds = shown["estimate"]["seconds"]
        found = {"startup": shown["estimate"]["startup"] or 0.0, "expected": seconds}
        return found | {k: shown["truth"][k] or 0.0 for k in ("seconds", "error", "records")}

    def _headgate(self, *args: str) -> dict[str, Any]:
        command = (sys.executable, "-m", "headgate.cli.main", *args, "--format", "json")
        done = subprocess.run(command, cwd=self._home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _produce(self, count: int) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 20})
        for number in range(count):
            producer.produce("bench-orders", f"order-{number}")
            producer.poll(0)
        assert producer.flush(60) == 0
