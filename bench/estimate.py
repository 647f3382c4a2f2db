"""How far estimates of bounded runs are from the truth: real runs of Spark over a real broker.

Each run reads a different number of records, takes a minute or more, and is estimated by `headgate
estimate` before it starts, from the runs before it. The first two of a start only measure. What a
query does with a record takes a fixed time, so that the machine and not the disk decides; start-up
is Spark's own.

HEADGATE_BENCH_RUNS (30) runs take an hour. `make bench` does what HEADGATE_BENCH_SECONDS (360)
allow, and `python bench/estimate.py` does all that are missing, in the background if wanted. Each
run is kept in .cache/bench/estimate.jsonl once it has ended, so that whoever starts later continues
there. Delete the file to begin again.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Row

from headgate.gateway.kafka_broker.local_broker import running_broker

RUNS = int(os.environ.get("HEADGATE_BENCH_RUNS", "30"))
SECONDS = float(os.environ.get("HEADGATE_BENCH_SECONDS", "360"))
KEPT = Path(__file__).parents[1] / ".cache" / "bench" / "estimate.jsonl"
FIRST = 2
# Records that take 60 to 100 s at the query's speed below, with a core for each partition.
LEAST, MOST = (int(n) for n in os.environ.get("HEADGATE_BENCH_ESTIMATED", "24000,40000").split(","))
TOPIC, PARTITIONS = "bench-orders", 2
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
    """Yield each run's time beside its estimate, the share of near ones, and the largest error."""
    measure(SECONDS)
    told = kept()
    for number, run in enumerate(told, 1):
        yield Row(
            subject=f"run {number}: {run['records']:,} records",
            ours=run["seconds"],
            peer=run["expected"],
            peer_is=f"the estimate, of which {run['startup']:.0f} s start-up",
            goal="informs",
        )
    if told:
        yield from _summary(told)


def _summary(told: list[dict[str, Any]]) -> Iterator[Row]:
    share = sum(abs(t["error"]) <= WITHIN for t in told) / len(told)
    seconds = sorted(t["seconds"] for t in told)
    yield Row(
        subject=f"{len(told)} bounded runs of {seconds[0]:.0f} to {seconds[-1]:.0f} s: ended "
        "within 25 % of the estimate",
        ours=share * 100,
        unit="%",
        goal="80 % of at least 30 runs",
        met=share >= SHARE if len(told) >= 30 else None,
    )
    startup = sum(t["startup"] for t in told) / len(told)
    yield Row(subject="start-up in these estimates, on average", ours=startup, goal="informs")
    worst = max(abs(t["error"]) for t in told) * 100
    yield Row(subject="largest error of these estimates", ours=worst, unit="%", goal="informs")


def kept() -> list[dict[str, Any]]:
    """Return the runs that have ended so far."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return [json.loads(line) for line in lines]


def measure(seconds: float) -> None:
    """Do the runs that are missing, and begin none after so many seconds.

    Nothing is done while another process does it.
    """
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another process does the runs", file=sys.stderr)
            return
        if len(kept()) < RUNS:
            _measure(time.monotonic() + seconds)


def _measure(end: float) -> None:
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        home = Path(folder)
        with running_broker(home / "kafka") as bootstrap:
            bench = _Bench(home, bootstrap)
            bench.prepare()
            for _ in range(FIRST):
                bench.run()
            while len(kept()) < RUNS and time.monotonic() < end:
                run = bench.run()
                assert run["error"] is not None, f"nothing was estimated: {run}"
                with KEPT.open("a") as file:
                    file.write(json.dumps(run) + "\n")
                print(f"run {len(kept())} of {RUNS}: {json.dumps(run)}", file=sys.stderr)


class _Bench:
    """A query, its topic, and the command."""

    def __init__(self, home: Path, bootstrap: str) -> None:
        self._home = home
        self._bootstrap = bootstrap
        # Other sizes in each start.
        self._chance = random.Random(len(kept()))

    def prepare(self) -> None:
        """Write the query and the registry, and let it do its first batch by itself."""
        (self._home / "bench_orders.py").write_text(QUERY)
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
        given = {"bootstrap": self._bootstrap, "topic": TOPIC}
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
        env = {"PYTHONPATH": path, "PYSPARK_SUBMIT_ARGS": options, "PYSPARK_PYTHON": sys.executable}
        done = subprocess.run(
            [*program, *given], cwd=self._home, env=os.environ | env, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]

    def run(self) -> dict[str, Any]:
        """Do one run; return its records, seconds, estimate and error; None is not known."""
        self._produce(self._chance.randint(LEAST, MOST))
        self._headgate("plan", "bounded", "orders", "--max-records=4000", "-o", "plan.json")
        run = self._headgate("apply", "plan.json")["run"]
        shown = self._headgate("runs", run)
        estimate = shown["estimate"]
        seconds = (estimate["seconds"] or {}).get("expected")
        found = {"startup": estimate["startup"] or 0.0, "expected": seconds}
        return found | {name: shown["truth"][name] for name in ("seconds", "error", "records")}

    def _headgate(self, *args: str) -> dict[str, Any]:
        command = (sys.executable, "-m", "headgate.cli.main", *args, "--format", "json")
        done = subprocess.run(command, cwd=self._home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _produce(self, count: int) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 20})
        for number in range(count):
            producer.produce(TOPIC, f"order-{number}", partition=number % PARTITIONS)
            producer.poll(0)
        assert producer.flush(60) == 0


if __name__ == "__main__":
    measure(float("inf"))
