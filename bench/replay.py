"""Replays from Kafka to Kafka through a run, beside the same PySpark program without Headgate.

The query counts orders by city in windows of ten minutes. As a stream it is run by `headgate plan
bounded` and `headgate apply`; its peer is the same function with Trigger.AvailableNow, from a copy
of the same checkpoint. Both are timed by the checkpoint: from the entry of their first batch in
the offset log to their last commit. All else (worker, start of Spark, other steps) is start-up and
has a row of its own. As a batch the query is run by `historical-range --to kafka:TOPIC`.

A standalone cluster of two workers of one core runs several sizes, and the largest with only one
of them. Its driver processes no records, so that its memory shows what grows with them. The cores
are this machine's: the broker, the driver and both workers share them.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from harness import Row

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.spark.run_job import joined_jars

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.standalone_cluster import Cluster, running_cluster

RECORDS = int(os.environ.get("BENCH_REPLAY_RECORDS", "1000000"))
# Sizes on the cluster: set "100000,1000000,10000000" for the largest, which takes ten minutes more.
SIZES = [int(n) for n in os.environ.get("BENCH_REPLAY_SIZES", f"100000,{RECORDS}").split(",")]
TIMES = int(os.environ.get("BENCH_REPLAY_TIMES", "2"))
# Records of a batch: of the query itself, and on the cluster, where a batch has more to start.
BATCH, CLUSTER_BATCH = max(RECORDS // 40, 1_000), max(RECORDS // 20, 1_000)
PARTITIONS, WARM_UP = 4, 40
# The conditions of the goals.
THROUGHPUT, AS_BATCH, LINEAR, FLAT = 0.9, 3.0, 1.2, 1.25
_START, _PER_SECOND = 1735689600, 10
_SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
}
QUERY = """
import json
from pathlib import Path

from pyspark.sql import functions as f

GIVEN = json.loads((Path(__file__).parent / "query.json").read_text())
ORDER = "id long, city string, amount long, at timestamp"


def counted(reader, size):
    rows = reader.format("kafka").option("subscribe", f"orders-{size}")
    rows = rows.option("kafka.bootstrap.servers", GIVEN["broker"])
    value = f.from_json(f.col("value").cast("string"), ORDER).alias("v")
    orders = rows.option("startingOffsets", "earliest").load().select(value).select("v.*")
    groups = orders.withWatermark("at", "1 hour").groupBy(f.window("at", "10 minutes"), "city")
    counts = groups.agg(f.count("*").alias("n"), f.sum("amount").alias("total"))
    key = f.concat_ws("/", f.unix_timestamp("window.start"), "city").alias("key")
    value = f.struct(f.col("window.start").alias("begin"), "city", "n", "total")
    return counts.select(key, f.to_json(value).alias("value"))


class Limited:
    def __init__(self, reader):
        self.reader = reader

    def format(self, kind):
        return self.reader.format(kind).option("maxOffsetsPerTrigger", GIVEN["batch"])


def stream(spark, size):
    writer = counted(Limited(spark.readStream), size).writeStream.outputMode("update")
    writer = writer.format("kafka").option("kafka.bootstrap.servers", GIVEN["broker"])
    return writer.option("topic", f"counts-{size}")
"""
FUNCTION = """

def orders_{size}(spark):
    return stream(spark, {size})
"""
REGISTRY = """
[kafka]
bootstrap_servers = "{broker}"
[spark]
master = "{master}"
[spark.config]
{config}
"""
PIPELINE = """
[[pipeline]]
name = "orders-{size}"
engine = "spark"
checkpoint = "checkpoint-{size}"
entry_point = "bench_orders:orders_{size}"
[pipeline.commands]
stop = "true"
status = "exit 3"
"""


def rows() -> Iterator[Row]:
    """Yield throughput as a stream and as a batch, then growth and workers of a cluster."""
    with (
        tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder,
        running_broker(Path(folder) / "kafka") as broker,
    ):
        home = Path(folder).resolve()
        bench = _Bench(home / "local", broker, "local[2]", _SETTINGS)
        bench.prepare()
        yield from _throughput(bench)
        (home / "cluster").mkdir()
        with running_cluster(home / "cluster") as cluster:
            yield from _growth(bench, cluster)


@dataclass
class Run:
    """One run: `seconds` from its first batch to its last commit, and `rest` of its wall time.

    `memory` is the peak of the driver's processes, in MiB.
    """

    seconds: float
    rest: float
    memory: float = 0.0


def _throughput(bench: _Bench) -> Iterator[Row]:
    ours: list[Run] = []
    plain: list[Run] = []
    for turn in range(TIMES):
        works = ((ours, bench.bounded), (plain, bench.plain))
        for found, work in works if turn % 2 == 0 else works[::-1]:
            found.append(work(RECORDS))
    stream, peer = (min(found, key=lambda r: r.seconds) for found in (ours, plain))
    what = f"bounded replay of {RECORDS:,} records, {RECORDS // BATCH} batches"
    yield Row(
        subject=f"{what}: records a second",
        ours=RECORDS / stream.seconds,
        peer=RECORDS / peer.seconds,
        unit="/s",
        peer_is="the same function and checkpoint, PySpark without Headgate",
        goal=f"at least {THROUGHPUT:g} of it, without start-up",
        met=peer.seconds / stream.seconds >= THROUGHPUT,
    )
    yield Row(
        subject="start-up and all other steps of that run",
        ours=min(r.rest for r in ours),
        peer=min(r.rest for r in plain),
        peer_is="start and end of the program without Headgate",
        goal="informs",
    )
    yield from _as_batch(bench, stream)


def _as_batch(bench: _Bench, stream: Run) -> Iterator[Row]:
    batch, alone = bench.historical_range(RECORDS), bench.plain_batch(RECORDS)
    yield Row(
        subject=f"the same {RECORDS:,} records as a batch: records a second",
        ours=RECORDS / batch.seconds,
        peer=RECORDS / stream.seconds,
        unit="/s",
        peer_is="the same function as a stream, the bounded replay above",
        goal=f"at least {AS_BATCH:g} times it, without start-up",
        met=stream.seconds / batch.seconds >= AS_BATCH,
    )
    yield Row(
        subject="the batch, records a second",
        ours=RECORDS / batch.seconds,
        peer=RECORDS / alone.seconds,
        unit="/s",
        peer_is="the same function over spark.read, PySpark without Headgate",
        goal="informs",
    )
    yield Row(subject="start-up and all other steps of the batch", ours=batch.rest, goal="informs")


def _growth(local: _Bench, cluster: Cluster) -> Iterator[Row]:
    both = local.elsewhere("two", cluster.master, cluster.config)
    limit = ("--max-records", str(CLUSTER_BATCH))
    found = {size: both.bounded(size, *limit, is_watched=True) for size in SIZES}
    small = min(SIZES)
    for size in sorted(set(SIZES) - {small}):
        times = size / small
        yield Row(
            subject=f"{size:,} records on a cluster",
            ours=found[size].seconds,
            peer=found[small].seconds,
            peer_is=f"{small:,} records",
            goal=f"linear: at most {times * LINEAR:g} times as long, without start-up",
            met=found[size].seconds <= times * LINEAR * found[small].seconds,
        )
        yield Row(
            subject=f"peak memory of the driver (Python and Java), {size:,} records",
            ours=found[size].memory,
            peer=found[small].memory,
            unit="MiB",
            peer_is=f"{small:,} records",
            goal=f"flat: at most {FLAT:g} times",
            met=found[size].memory <= FLAT * found[small].memory,
        )
    size = max(SIZES) if RECORDS not in found else RECORDS
    alone = local.elsewhere("one", cluster.master, cluster.config | {"spark.cores.max": "1"})
    one, two = alone.bounded(size, *limit, is_watched=True), found[size]
    yield Row(
        subject=f"two workers of a standalone cluster, {size:,} records",
        ours=two.seconds,
        peer=one.seconds,
        peer_is="one worker of it",
        goal=f"informs: factor {one.seconds / two.seconds:.2f} on {os.cpu_count()} cores, which "
        "broker and driver share",
    )


@dataclass
class _Bench:
    """A folder with a registry, the query, and a checkpoint for each size that is reused."""

    home: Path
    broker: str
    master: str
    config: dict[str, str]
    sizes: list[int] = field(default_factory=lambda: sorted({*SIZES, RECORDS}))

    def prepare(self) -> None:
        """Make the topics, have Spark write them, and keep each query's first batch."""
        admin = AdminClient({"bootstrap.servers": self.broker})
        names = [f"{kind}-{size}" for kind in ("orders", "counts") for size in self.sizes]
        names.append("plain-batch")
        made = admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names])
        for future in made.values():
            future.result(60)
        self._write_folder()
        self._spark("prepare", *map(str, self.sizes))
        self._headgate(
            "capture", f"bench_orders:orders_{RECORDS}", "--pipeline", f"orders-{RECORDS}"
        )

    def elsewhere(self, name: str, master: str, config: dict[str, str]) -> _Bench:
        """Return another folder with the same checkpoints, for another master."""
        other = _Bench(self.home.parent / name, self.broker, master, config)
        other._write_folder()
        for size in self.sizes:
            shutil.copytree(self.home / f"first-{size}", other.home / f"first-{size}")
        return other

    def _write_folder(self) -> None:
        self.home.mkdir()
        functions = (FUNCTION.format(size=size) for size in self.sizes)
        (self.home / "bench_orders.py").write_text("".join((QUERY, *functions)))
        given = {"broker": self.broker, "batch": BATCH}
        (self.home / "query.json").write_text(json.dumps(given))
        lines = (f"{json.dumps(k)} = {json.dumps(v)}" for k, v in self.config.items())
        head = REGISTRY.format(broker=self.broker, master=self.master, config="\n".join(lines))
        tables = (PIPELINE.format(size=size) for size in self.sizes)
        (self.home / "headgate.toml").write_text("".join((head, *tables)))

    def bounded(self, size: int, *options: str, is_watched: bool = False) -> Run:
        """Replay all records but the first few as a run of Headgate's.

        To watch its memory takes a part of a core, which the peer of a throughput keeps.
        """
        checkpoint = self._restored(size)
        topic = f"counts-{size}"
        before = self._ends(topic)
        self._headgate("plan", "bounded", f"orders-{size}", *options, "-o", "plan.json")
        memory = _Memory(self.home)
        with memory if is_watched else nullcontext():
            wall = _wall(lambda: self._headgate("apply", "plan.json"))
        self._check(topic, before, size)
        took = _between(checkpoint)
        return Run(took, wall - took, memory.peak)

    def plain(self, size: int) -> Run:
        """Do the same without Headgate."""
        checkpoint = self._restored(size)
        topic = f"counts-{size}"
        before = self._ends(topic)
        wall = _wall(lambda: self._spark("stream", str(size), str(checkpoint)))
        self._check(topic, before, size)
        took = _between(checkpoint)
        return Run(took, wall - took)

    def historical_range(self, size: int) -> Run:
        """Process all records as a batch, into a topic of the run."""
        until = time.gmtime(_START + size // _PER_SECOND + 1)
        times = (f"--from={_iso(time.gmtime(_START))}", f"--until={_iso(until)}")
        target = ("--to=kafka:range", "--time-column=value.begin", "-o", "range.json")
        self._headgate("plan", "historical-range", f"orders-{size}", *times, *target)
        begin = time.perf_counter()
        run = self._headgate("apply", "range.json")["run"]
        wall = time.perf_counter() - begin
        file = self.home / ".headgate/runs" / run / "spark/replay_query/result.json"
        facts = json.loads(file.read_text())["facts"]
        assert facts["read"] == size, facts
        self._check("range", {}, size)
        took = facts["seconds"] - facts["startup_seconds"]
        return Run(took, wall - took)

    def plain_batch(self, size: int) -> Run:
        """Do the same batch without Headgate."""
        begin = time.perf_counter()
        took = float(self._spark("batch", str(size)).splitlines()[-1])
        wall = time.perf_counter() - begin
        self._check("plain-batch", {}, size)
        return Run(took, wall - took)

    def _restored(self, size: int) -> Path:
        """Restore the checkpoint at its first batch, and return it."""
        checkpoint = self.home / f"checkpoint-{size}"
        shutil.rmtree(checkpoint, ignore_errors=True)
        shutil.copytree(self.home / f"first-{size}", checkpoint)
        return checkpoint

    def _ends(self, topic: str) -> dict[int, int]:
        consumer = Consumer({"bootstrap.servers": self.broker, "group.id": "bench"})
        parts = range(PARTITIONS)
        found = {n: consumer.get_watermark_offsets(TopicPartition(topic, n))[1] for n in parts}
        consumer.close()
        return found

    def _check(self, topic: str, since: dict[int, int], size: int) -> None:
        """Assert that the newest count of each window and city makes up all orders."""
        newest: dict[bytes, int] = {}
        config = {"bootstrap.servers": self.broker, "group.id": "bench"}
        consumer = Consumer({**config, "enable.partition.eof": True})
        parts = [TopicPartition(topic, n, since.get(n, 0)) for n in range(PARTITIONS)]
        consumer.assign(parts)
        left = len(parts)
        while left:
            for message in consumer.consume(1000, 1.0):
                if (error := message.error()) is not None:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    left -= 1
                    continue
                key, n = message.key() or b"", json.loads(message.value() or b"{}")["n"]
                newest[key] = max(n, newest.get(key, 0))
        consumer.close()
        assert sum(newest.values()) == size, f"{sum(newest.values())} of {size} are counted"

    def _headgate(self, *args: str) -> dict[str, Any]:
        command = ("-m", "headgate.cli.main", *args, "--format", "json")
        return dict(json.loads(self._python(*command) or "{}"))

    def _spark(self, *args: str) -> str:
        """Run this file as a PySpark program with the settings that runs have, too."""
        config = self.config | {"spark.jars": joined_jars(), "spark.master": self.master}
        options = " ".join(f"--conf '{key}={value}'" for key, value in config.items())
        return self._python(__file__, *args, PYSPARK_SUBMIT_ARGS=f"{options} pyspark-shell")

    def _python(self, *args: str, **env: str) -> str:
        path = os.pathsep.join((str(self.home), *filter(None, sys.path)))
        done = subprocess.run(
            [sys.executable, *args], cwd=self.home, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"} | env,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{' '.join(args)}:\n{done.stdout}\n{done.stderr[-3000:]}")
        return done.stdout


class _Memory:
    """The peak of a driver's processes in MiB: whatever runs in the folder as a Spark program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._peaks: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def peak(self) -> float:
        """The sum of both processes' peaks."""
        return sum(self._peaks.values()) / 1024

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            for entry in Path("/proc").glob("[0-9]*"):
                # It may end meanwhile.
                with suppress(OSError, ValueError):
                    if (entry / "cwd").readlink() == self._folder and _is_driver(entry):
                        self._peaks[int(entry.name)] = _kilobytes(entry)


def _is_driver(entry: Path) -> bool:
    line = (entry / "cmdline").read_bytes()
    # What only assembles the command line of the other one ends at once.
    if b"run_bounded" not in line or b"spark.launcher.Main" in line:
        return False
    # A child that Java has forked and that is not yet another program has all memory of its parent.
    return (entry.parent / str(_status(entry, "PPid")) / "cmdline").read_bytes() != line


def _kilobytes(entry: Path) -> int:
    return _status(entry, "VmHWM")


def _status(entry: Path, name: str) -> int:
    lines = (entry / "status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])


def _between(checkpoint: Path) -> float:
    """Return the seconds from the second batch's offset log entry to the last commit."""
    numbers = {
        log: sorted(int(p.name) for p in (checkpoint / log).iterdir() if p.name.isdecimal())
        for log in ("offsets", "commits")
    }
    first = next(n for n in numbers["offsets"] if n > _first_batches(checkpoint))
    begin = (checkpoint / "offsets" / str(first)).stat().st_mtime
    return (checkpoint / "commits" / str(numbers["commits"][-1])).stat().st_mtime - begin


def _first_batches(checkpoint: Path) -> int:
    """Return the last batch of the copy that a replay began with."""
    kept = checkpoint.with_name(checkpoint.name.replace("checkpoint", "first"))
    return max(int(p.name) for p in (kept / "commits").iterdir() if p.name.isdecimal())


def _wall(work: Any) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _iso(at: time.struct_time) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", at)


def _session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName("bench").getOrCreate()


def _prepare(sizes: list[int]) -> None:
    """Write the orders; after the first few, let the query do its first batch."""
    functions, spark = importlib.import_module("bench_orders"), _session()
    for size in sizes:
        _write(spark, functions.GIVEN["broker"], 0, WARM_UP, size)
        _run(functions.stream(spark, size), f"first-{size}")
        _write(spark, functions.GIVEN["broker"], WARM_UP, size, size)


def _run(writer: Any, checkpoint: str) -> None:
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    writer.start().awaitTermination()


def _write(spark: Any, broker: str, begin: int, end: int, size: int) -> None:
    rows = spark.range(begin, end).coalesce(1)
    order = (
        "to_json(named_struct('id', id, 'city', concat('city-', id % 50), 'amount', id % 97,"
        f" 'at', timestamp_seconds({_START} + CAST(id / {_PER_SECOND} AS BIGINT)))) AS value"
    )
    rows = rows.selectExpr(order, f"CAST(id % {PARTITIONS} AS INT) AS partition")
    writer = rows.write.format("kafka").option("topic", f"orders-{size}")
    writer.option("kafka.bootstrap.servers", broker).save()


def _batch(size: int) -> None:
    """Print how long the function runs with `spark.read`, without Spark's start."""
    spark = _session()
    begin = time.perf_counter()
    functions = importlib.import_module("bench_orders")
    writer = functions.counted(spark.read, size).write.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", functions.GIVEN["broker"])
    writer.option("topic", "plain-batch").save()
    print(time.perf_counter() - begin)


def _main(what: str, *given: str) -> None:
    if what == "prepare":
        _prepare([int(size) for size in given])
    elif what == "batch":
        _batch(int(given[0]))
    else:
        functions = importlib.import_module("bench_orders")
        _run(functions.stream(_session(), int(given[0])), given[1])


if __name__ == "__main__":
    _main(*sys.argv[1:])
