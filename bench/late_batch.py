"""Late records that touch 1 % of the keys: replace their results, beside reprocessing everything.

Programs of `spark_jobs/data` run one after the other on the same broker, as a run starts them. The
peers are the same function over all records, as a batch (`replay_query`) and as a stream of its own
(available now, 3 million records a batch, written nowhere). Start-up of Spark is left out of all.

A Spark that has just started needs ten seconds for its first queries, whatever their size. What a
late batch costs besides its data is measured with a topic of a few records: that is its start-up.

Totals by key belong to no time, so that all of the input has to be read: no run can be faster than
that. Totals by key and day are in a folder by month, as a query writes them over a year.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic
from harness import Row

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.spark.run_job import joined_jars

# By topic; a function reads that of its name.
RECORDS = {
    "totals": int(os.environ.get("BENCH_LATE_RECORDS", "3000000")),
    "daily": int(os.environ.get("BENCH_LATE_DAILY_RECORDS", "30000000")),
    "few": 4_000,
    "late": 1_000,
}
KEYS, PARTITIONS = 20_000, 4
SHARE = 0.01
_YEAR_S = 365 * 86_400
FUNCTIONS = """
import os

from pyspark.sql import functions as f

ORDER = "id long, customer string, amount long, at timestamp"


def orders(spark, topic):
    rows = spark.readStream.format("kafka").option("subscribe", topic)
    rows = rows.option("kafka.bootstrap.servers", os.environ["BENCH_BROKER"])
    rows = rows.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 3000000)
    rows = rows.load()
    value = f.from_json(f.col("value").cast("string"), ORDER).alias("v")
    return rows.select(value).select("v.*").withWatermark("at", "1 hour")


def totals(spark):
    totals = orders(spark, "totals").groupBy("customer")
    totals = totals.agg(f.sum("amount").alias("total"), f.count("*").alias("n"))
    return totals.writeStream.outputMode("update")


def daily(spark, topic="daily"):
    days = orders(spark, topic).groupBy(f.window("at", "1 day"), "customer")
    days = days.agg(f.sum("amount").alias("total"), f.count("*").alias("n"))
    return days.writeStream.outputMode("update")


def few(spark):
    return daily(spark, "few")
"""


def rows() -> Iterator[Row]:
    """Yield totals by key, and by key and day, each against a batch and a stream of everything."""
    with (
        tempfile.TemporaryDirectory(prefix="headgate-bench-") as name,
        running_broker(Path(name) / "kafka") as broker,
    ):
        bench = _Bench(Path(name), broker)
        bench.write("late")
        # The late records are of one week; others of it came at most a day late.
        weeks = {"--input-from": _at(0), "--input-until": _at(7 * 86_400)}
        start, _ = bench.late_batch("few", weeks)
        yield Row(
            subject=f"start-up: a late batch of {RECORDS['few']:,} records, without Spark's start",
            ours=start,
            goal="informs",
        )
        yield from bench.compared("totals", "totals by key", {}, start)
        what = "totals by key and day, --lateness 1d, files by month"
        yield from bench.compared("daily", what, weeks, start)


class _Bench:
    def __init__(self, folder: Path, broker: str) -> None:
        self.folder = folder
        admin = AdminClient({"bootstrap.servers": broker})
        new = [NewTopic(n, PARTITIONS, 1) for n in RECORDS]
        for future in admin.create_topics(new).values():
            future.result(60)
        (folder / "late_bench.py").write_text(FUNCTIONS)
        jars = f"--jars {joined_jars()} --driver-memory 4g --conf spark.ui.enabled=false"
        jars += " --conf spark.sql.shuffle.partitions=8"
        self.env = os.environ | {
            "BENCH_BROKER": broker,
            "PYTHONPATH": os.pathsep.join((str(folder), *sys.path)),
            "PYSPARK_SUBMIT_ARGS": f"{jars} --master local[2] pyspark-shell",
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def write(self, topic: str) -> None:
        """Have Spark write a topic."""
        self._python(__file__, "write", topic)

    def late_batch(self, function: str, limits: dict[str, str]) -> tuple[float, float]:
        """Return the seconds of a late batch, and of a batch of everything, which comes first."""
        self.write(function)
        records = RECORDS[function]
        everything = _offsets(0, records // PARTITIONS)
        target = self.folder / function
        given = ("--entry-point", f"late_bench:{function}")
        whole = ("--offsets", json.dumps({function: everything}))
        batch = self._program("replay_query", *given, *whole, "--to", f"parquet:{target}")
        if limits:
            self._python(__file__, "arrange", str(target))
        needed = _offsets(0, records // PARTITIONS // 52 + 1) if limits else everything
        late = json.dumps({"late": _offsets(0, RECORDS["late"] // PARTITIONS)})
        ours = self._program(
            "late.replace_results", *given, "--offsets", json.dumps({function: needed}),
            "--known-offsets", whole[1], "--input", function, "--late-offsets", late,
            "--keys", "customer", "--target", f"parquet:{target}",
            "--to", f"{target}-new", *(w for item in limits.items() for w in item),
        )  # fmt: skip
        mine, all_of_it = (told["seconds"] - told["startup_seconds"] for told in (ours, batch))
        return mine, all_of_it

    def compared(
        self, function: str, what: str, limits: dict[str, str], start: float
    ) -> Iterator[Row]:
        """Yield the rows of one function; `start` is what a late batch costs besides its data."""
        ours, batch = self.late_batch(function, limits)
        stream = float(self._python(__file__, "stream", function))
        subject = (
            f"late batch of {SHARE:.0%} of {KEYS:,} keys, {RECORDS[function]:,} records, {what}"
        )
        yield Row(
            subject=subject,
            ours=ours,
            peer=stream,
            peer_is="the same function over everything, as a stream",
            goal="at most 5 % of it, and start-up",
            met=ours <= 0.05 * stream + start,
        )
        yield Row(
            subject=subject,
            ours=ours,
            peer=batch,
            peer_is="the same function over everything, as a batch",
            goal="informs",
        )

    def _program(self, name: str, *arguments: str) -> dict[str, Any]:
        module = f"headgate.spark_jobs.data.{name}"
        found = json.loads(self._python("-m", module, *arguments).splitlines()[-1])
        assert found["outcome"] == "done", found["error"]
        return dict(found["facts"])

    def _python(self, *arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, env=self.env, cwd=self.folder, capture_output=True, check=False, text=True,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr[-2000:])
        return done.stdout


def _offsets(begin: int, end: int) -> dict[str, tuple[int, int]]:
    return {str(n): (begin, end) for n in range(PARTITIONS)}


def _at(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1735689600 + seconds))


def _session() -> Any:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.config("spark.log.level", "ERROR").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


def _write(topic: str) -> None:
    """Write a year of orders in order; late ones are of 1 % of the keys, in its first week."""
    spark, records = _session(), RECORDS[topic]
    at, who = f"CAST(id * {_YEAR_S} / {records} AS BIGINT)", f"pmod(xxhash64(id), {KEYS})"
    if topic == "late":
        at, who = "id * 500", f"id % {round(KEYS * SHARE)}"
    order = (
        f"to_json(named_struct('id', id, 'customer', concat('c', CAST({who} AS STRING)),"
        f" 'amount', id % 97, 'at', timestamp_seconds(1735689600 + {at}))) AS value"
    )
    made = spark.range(records).coalesce(1)
    made = made.selectExpr(order, f"CAST(id % {PARTITIONS} AS INT) AS partition")
    writer = made.write.format("kafka").option("topic", topic)
    writer.option("kafka.bootstrap.servers", os.environ["BENCH_BROKER"]).save()


def _arrange(folder: str) -> None:
    """Lay the results out in files by month."""
    spark = _session()
    # Spark can't overwrite what it reads.
    Path(folder).rename(f"{folder}-before")
    rows = spark.read.parquet(f"{folder}-before")
    rows.repartitionByRange(12, "window").write.parquet(folder)


def _stream(function: str) -> None:
    """Print how long the function takes as a stream over everything, without Spark's start."""
    module = importlib.import_module("late_bench")
    spark = _session()
    began = time.perf_counter()
    writer = getattr(module, function)(spark).format("noop")
    checkpoint = tempfile.mkdtemp(prefix="headgate-bench-")
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    writer.start().awaitTermination()
    print(time.perf_counter() - began)


if __name__ == "__main__":
    {"write": _write, "arrange": _arrange, "stream": _stream}[sys.argv[1]](sys.argv[2])
