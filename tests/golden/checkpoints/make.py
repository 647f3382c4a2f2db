"""Record the golden checkpoints anew: `python tests/golden/checkpoints/make.py [NAME ...]`.

Real queries on real Spark 4.2, one for each layout that a checkpoint can have. Kept are the logs,
the operators' metadata and schemas, and the names of the state's files, which are emptied: nobody
reads the state. Beside each checkpoint stand what Spark itself says of it: `spark.json` has its
data source `state-metadata` and the progress of its batches.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from headgate.gateway.process.jars import spark_jars

HERE = Path(__file__).parent
SCRATCH = Path("/tmp/headgate-checkpoints")
PREFIX = "spark.sql.streaming."
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
BASE = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    f"{PREFIX}noDataMicroBatches.enabled": "false",
    f"{PREFIX}fileSource.log.compactInterval": "3",
    f"{PREFIX}fileSink.log.compactInterval": "3",
}
ON_ROCKSDB = {f"{PREFIX}stateStore.providerClass": ROCKSDB}
CHANGELOG = {f"{PREFIX}stateStore.rocksdb.changelogCheckpointing.enabled": "true"}
NAMED = {
    f"{PREFIX}queryEvolution.enableSourceEvolution": "true",
    f"{PREFIX}offsetLog.formatVersion": "2",
}
SCHEMA = "k string, v int, at timestamp"
MADE: dict[str, tuple[Callable[[Place], Any], dict[str, str]]] = {}


class Place:
    """Where one query reads, writes and keeps its checkpoint."""

    def __init__(self, spark: SparkSession, name: str, broker: Callable[[], str]) -> None:
        self.spark, self.name, self.broker = spark, name, broker
        self.folder = SCRATCH / name
        self.checkpoint = self.folder / "checkpoint"
        self.source, self.output = self.folder / "in", self.folder / "out"
        self.source.mkdir(parents=True)
        self.progress: list[Any] = []

    def files(self, numbers: Iterator[int] | range, source: Path | None = None) -> None:
        """Write a file for each number, one second of event time apart."""
        for n in numbers:
            row = {"k": f"k{n % 3}", "v": n, "at": f"2026-01-01T00:{n // 60:02}:{n % 60:02}"}
            folder = source or self.source
            folder.mkdir(exist_ok=True)
            (folder / f"{n:02}.json").write_text(json.dumps(row) + "\n")
            time.sleep(0.02)

    def read(self, name: str | None = None, source: Path | None = None) -> DataFrame:
        """Read those files, one a batch."""
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        if name:
            reader = reader.name(name)
        return reader.json(str(source or self.source))

    def run(self, frame: DataFrame, *, form: str = "noop", mode: str = "append") -> None:
        """Run until all that is there is read."""
        writer = frame.writeStream.outputMode(mode).format(form)
        if form == "json":
            writer = writer.option("path", str(self.output))
        self.finish(writer.trigger(availableNow=True))

    def finish(self, writer: Any, until: Callable[[Any], bool] | None = None) -> None:
        """Start, wait for the end (or for `until`, then stop) and keep the progress."""
        query = writer.option("checkpointLocation", str(self.checkpoint)).start()
        if until is None:
            query.awaitTermination(120)
        else:
            end = time.time() + 90
            while not until(query) and time.time() < end and query.isActive:
                time.sleep(0.2)
            query.stop()
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        self.progress += [json.loads(p.json) for p in query.recentProgress]


def golden(**settings: str) -> Callable[[Callable[[Place], Any]], Callable[[Place], Any]]:
    """Register a query under its function's name."""

    def keep(made: Callable[[Place], Any]) -> Callable[[Place], Any]:
        MADE[made.__name__] = (made, settings)
        return made

    return keep


def counts(frame: DataFrame) -> DataFrame:
    """Count by a window of event time, so that rows are also emitted."""
    return frame.withWatermark("at", "1 second").groupBy(F.window("at", "2 seconds"), "k").count()


@golden()
def files_to_files(at: Place) -> None:
    """HDFS provider, compacted logs of a file source and a file sink, partitioned output."""
    at.files(range(7))
    frame = counts(at.read()).select("k", "count")
    writer = frame.writeStream.format("json").option("path", str(at.output)).partitionBy("k")
    at.finish(writer.trigger(availableNow=True))


@golden(**{**ON_ROCKSDB, f"{PREFIX}stateStore.rocksdb.changelogCheckpointing.enabled": "false"})
def rocksdb(at: Place) -> None:
    """RocksDB with a snapshot for each batch."""
    at.files(range(2))
    at.run(counts(at.read()), mode="update")


@golden(**ON_ROCKSDB, **CHANGELOG)
def rocksdb_changelog(at: Place) -> None:
    """RocksDB with changelogs."""
    at.files(range(2))
    at.run(counts(at.read()), mode="update")


@golden(**ON_ROCKSDB, **CHANGELOG, **{f"{PREFIX}stateStore.checkpointFormatVersion": "2"})
def rocksdb_ids(at: Place) -> None:
    """State checkpoints with ids: commit log v2, file names with the ids."""
    at.files(range(2))
    at.run(counts(at.read()), mode="update")


@golden(**{**ON_ROCKSDB, "spark.sql.shuffle.partitions": "4"})
def two_operators(at: Place) -> None:
    """Deduplication below an aggregate: operators 0 and 1, four partitions."""
    at.files(range(2))
    frame = at.read().withWatermark("at", "1 second").dropDuplicates(["k", "at"])
    at.run(frame.groupBy(F.window("at", "2 seconds")).count(), mode="append")


@golden()
def join(at: Place) -> None:
    """A stream-stream join on the HDFS provider: four stores a partition."""
    other = at.folder / "in2"
    at.files(range(2))
    at.files(range(2), other)
    left = at.read().withWatermark("at", "1 second")
    right = at.read(source=other).select(F.col("k").alias("k2"), F.col("at").alias("at2"))
    right = right.withWatermark("at2", "1 second")
    at.run(left.join(right, F.expr("k = k2 AND at = at2")))


@golden(**ON_ROCKSDB, **{f"{PREFIX}join.stateFormatVersion": "3"})
def join_families(at: Place) -> None:
    """A stream-stream join in state format 3: one store with column families."""
    join(at)


@golden(**NAMED)
def named_sources(at: Place) -> None:
    """Offset log v2: two named sources, one of them without data in the last batches."""
    other = at.folder / "in2"
    at.files(range(3))
    at.files(range(1), other)
    at.run(at.read("first").union(at.read("second", other)))


@golden()
def stateless_rate(at: Place) -> None:
    """The rate source, which writes when it began into its own log."""
    frame = at.spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    at.finish(
        frame.writeStream.format("noop").trigger(processingTime="500 milliseconds"),
        lambda query: len([p for p in query.recentProgress if p.numInputRows]) >= 2,
    )


@golden()
def continuous(at: Place) -> None:
    """A continuous query: an epoch stands where a batch does."""
    frame = at.spark.readStream.format("rate").option("numPartitions", 1).load()
    writer = frame.writeStream.format("noop").trigger(continuous="500 milliseconds")
    at.finish(writer, lambda _: len(list(at.checkpoint.glob("commits/[0-9]*"))) >= 2)


class Seen(StatefulProcessor):
    """Count what was seen of each key; `late` adds a variable and thus a schema file."""

    late = False

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "n int")
        self.recent = handle.getListState("recent", "v int", ttlDurationMs=60000)
        self.by_key = handle.getMapState("by_key", "k string", "v int")
        if self.late:
            self.more = handle.getValueState("more", "m string")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        known = self.count.get()
        total = (known[0] if known else 0) + sum(len(r) for r in rows)
        self.count.update((total,))
        self.recent.appendValue((total,))
        self.by_key.updateValue((key[0],), (total,))
        yield pd.DataFrame({"k": [key[0]], "n": [total]})

    def close(self) -> None:
        pass


class SeenMore(Seen):
    late = True


@golden(**ON_ROCKSDB)
def variables(at: Place) -> None:
    """transformWithState: column families, TTL; restarted with a variable more."""
    for numbers, processor in ((range(1), Seen()), (range(1, 2), SeenMore())):
        at.files(numbers)
        frame = at.read().groupBy("k")
        at.run(
            frame.transformWithStateInPandas(
                statefulProcessor=processor,
                outputStructType="k string, n int",
                outputMode="update",
                timeMode="processingTime",
            ),
            mode="update",
        )


def kafka(at: Place, rows: int = 6) -> tuple[str, dict[str, str]]:
    """Create a topic of two partitions with some records; return broker and options."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = at.broker()
    admin = AdminClient({"bootstrap.servers": broker})
    for topic, parts in (("orders", 2), ("orders-out", 1)):
        admin.create_topics([NewTopic(topic, parts, 1)])[topic].result(20)
    producer = Producer({"bootstrap.servers": broker})
    for n in range(rows):
        producer.produce("orders", f"v{n}", partition=n % 2)
    producer.flush(20)
    options = {"kafka.bootstrap.servers": broker, "subscribe": "orders"}
    return broker, {**options, "startingOffsets": "earliest"}


@golden()
def kafka_source(at: Place) -> None:
    """Kafka's first offsets in the source's own log, two batches."""
    _, options = kafka(at)
    reader = at.spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger="4")
    at.run(reader.load())


@golden()
def asynchronous(at: Place) -> None:
    """Asynchronous progress tracking: the logs need not have every batch."""
    broker, options = kafka(at)
    reader = at.spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger="2")
    writer = (
        reader.load()
        .select("value")
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", broker)
        .option("topic", "orders-out")
        .option("asyncProgressTrackingEnabled", "true")
        .option("asyncProgressTrackingCheckpointIntervalMs", "2000")
        .trigger(processingTime="300 milliseconds")
    )
    at.finish(writer, lambda q: len([p for p in q.recentProgress if p.numInputRows]) >= 3)


@golden()
def real_time(at: Place) -> None:
    """Real-time mode: a batch as long as its trigger says."""
    broker, options = kafka(at)
    frame = at.spark.readStream.format("kafka").options(**options).load().select("value")
    writer = (
        frame.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", broker)
        .option("topic", "orders-out")
        .outputMode("update")
        .trigger(realTime="5 seconds")
    )
    at.finish(writer, lambda _: len(list(at.checkpoint.glob("commits/[0-9]*"))) >= 2)


_STATE = re.compile(r"\.(delta|snapshot|zip|changelog|sst)$")


def keep(at: Place, spark: SparkSession) -> None:
    """Copy what is kept of a query, and what Spark says of it."""
    into = HERE / at.name
    shutil.rmtree(into, ignore_errors=True)
    _copied(at.checkpoint, into / "checkpoint")
    if (at.output / "_spark_metadata").is_dir():
        _copied(at.output / "_spark_metadata", into / "output/_spark_metadata")
    said = {"progress": [_batch(p) for p in at.progress], "state": _state(at, spark)}
    text = json.dumps(said, indent=1).replace(str(at.folder), f"/data/{at.name}")
    (into / "spark.json").write_text(text + "\n")


def _copied(source: Path, into: Path) -> None:
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_dir() or name.name.startswith("."):
            continue
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if _STATE.search(name.name):
            target.write_bytes(b"")
            continue
        data = path.read_bytes()
        target.write_bytes(data.replace(str(SCRATCH).encode(), b"/data"))


def _batch(progress: dict[str, Any]) -> dict[str, Any]:
    return {
        "batch": progress["batchId"],
        "rows": progress.get("numInputRows"),
        "watermark": progress.get("eventTime", {}).get("watermark"),
        "sources": [[s.get("startOffset"), s.get("endOffset")] for s in progress["sources"]],
    }


def _state(at: Place, spark: SparkSession) -> Any:
    """Return what Spark's own reader says of the operators, or why it says nothing."""
    if not (at.checkpoint / "state").is_dir():
        return []
    try:
        found = spark.read.format("state-metadata").load(str(at.checkpoint)).collect()
    except Exception as error:
        return str(error).partition("\n")[0]
    return [row.asDict() for row in found]


def main(names: list[str]) -> None:
    """Make those that are named, or all."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.jars", ",".join(map(str, spark_jars())))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    with ExitStack() as stack:
        known: list[str] = []

        def broker() -> str:
            from headgate.gateway.kafka_broker.local_broker import running_broker

            if not known:
                known.append(stack.enter_context(running_broker(SCRATCH / "kafka")))
            from confluent_kafka.admin import AdminClient

            admin = AdminClient({"bootstrap.servers": known[0]})
            there = [t for t in admin.list_topics(timeout=10).topics if t.startswith("orders")]
            for future in admin.delete_topics(there).values() if there else ():
                future.result(20)
            time.sleep(1 if there else 0)
            return known[0]

        for name in names or MADE:
            made, settings = MADE[name]
            for key, value in {**BASE, **settings}.items():
                spark.conf.set(key, value)
            at = Place(spark, name, broker)
            try:
                made(at)
                keep(at, spark)
                print("made", name, flush=True)
            except Exception as error:
                print("FAILED", name, str(error)[:400], flush=True)
            for key in settings:
                spark.conf.unset(key)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
