"""An incompatible version takes over on real Spark: what it reads, record by record."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.sql import functions as F

from headgate.gateway.checkpoint.folders import tree_hash
from headgate.text.times import from_milliseconds, iso

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MINUTE = 60_000
FIRST = int(time.time() // 60 - 60) * MINUTE
EVOLUTION = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    "spark.sql.streaming.offsetLog.formatVersion": "2",
}


class Crash(Exception):
    """The sink's, so that a batch is begun and never committed."""


class Orders:
    """Records with an id each, in a topic of two partitions and in files; and queries over them."""

    def __init__(self, spark, broker, topic, folder):
        self.spark, self.broker, self.topic, self.folder = spark, broker, topic, folder
        self.lines = folder / "lines"
        self.lines.mkdir()
        self.producer = Producer({"bootstrap.servers": broker})
        self.checkpoint = folder / "checkpoint"
        self.count = 0

    def produce(self, count, *, minute=None):
        """Late, doubled and disordered: a third lies hours back, a fifth comes twice."""
        for n in range(self.count, self.count + count):
            back = 180 if n % 3 == 0 else -(n % 4)
            at = FIRST + ((n if minute is None else minute) - back) * MINUTE
            for _ in range(2 if n % 5 == 0 else 1):
                self.producer.produce(
                    self.topic, key=f"k{n % 3}", value=f"r{n}", partition=n % 2, timestamp=at
                )
        self.count += count
        assert self.producer.flush(30) == 0

    def file(self, name, *rows):
        (self.lines / name).write_text("\n".join(rows) + "\n")

    def kafka(self, name=None, *, most="1000"):
        reader = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.broker)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", most)
        )
        reader = reader.name(name) if name else reader
        return reader.load().select(F.col("value").cast("string").alias("value"))

    def files(self, name=None):
        reader = self.spark.readStream.format("text").option("maxFilesPerTrigger", 1)
        reader = reader.name(name) if name else reader
        return reader.load(str(self.lines))

    def run(self, frame, checkpoint=None, *, fail_at=None):
        """Read all that is there; return how often each record came, as the state has it then."""
        rows: Counter[str] = Counter()

        def sink(batch, number):
            nonlocal rows
            found = Counter({r["value"]: r["n"] for r in batch.collect()})
            if number == fail_at:
                raise Crash
            rows |= found

        writer = frame.writeStream.outputMode("update").foreachBatch(sink)
        writer = writer.trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(checkpoint or self.checkpoint)).start()
        try:
            query.awaitTermination()
        except Exception:
            if fail_at is None:
                raise
        return rows

    def in_log(self, begins):
        """The topic's records from these offsets on, read by another client."""
        consumer = Consumer({"bootstrap.servers": self.broker, "group.id": "direct"})
        found = []
        for number, begin in begins.items():
            part = TopicPartition(self.topic, number, begin)
            end = consumer.get_watermark_offsets(part)[1]
            consumer.assign([part])
            while begin < end:
                message = consumer.poll(5)
                if message is not None and message.error() is None:
                    stamp = message.timestamp()[1]
                    found.append((number, message.offset(), stamp, message.value().decode()))
                    begin = message.offset() + 1
        consumer.close()
        return found


def first_version(orders):
    rows = orders.kafka(most="12").union(orders.files())
    return rows.groupBy("value").agg(F.count("*").alias("n"))


def second_version(orders):
    """Other sources' order, another aggregate: refused on the old checkpoint."""
    grouped = orders.files().union(orders.kafka()).groupBy("value")
    return grouped.agg(F.count("*").alias("n"), F.max("value").alias("last"))


@pytest.fixture
def orders(spark, broker, topic, team):
    made = Orders(spark, broker, topic("orders", partitions=2), team.folder)
    team.register(
        '[[pipeline]]\nname = "orders"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        '[pipeline.commands]\nstatus = "exit 3"\n'
    )
    return made


def committed(checkpoint):
    """Where the last committed batch has ended in the topic."""
    batch = max_batch(checkpoint)
    lines = (checkpoint / "offsets" / str(batch)).read_text().split("\n")[2:]
    (offsets,) = (line[line.index("{") :] for line in lines if "logOffset" not in line)
    (parts,) = json.loads(offsets).values()
    return {int(p): o for p, o in parts.items()}


def test_a_new_version_reads_exactly_what_the_old_one_had_not_committed(team, orders):
    orders.produce(20)
    orders.file("a.txt", "a1", "a2", "a1")
    orders.run(first_version(orders))
    orders.produce(20)
    orders.file("b.txt", "b1")
    done = orders.run(first_version(orders), fail_at=max_batch(orders.checkpoint) + 2)
    at = committed(orders.checkpoint)
    assert sum(at.values()) > 20
    log = orders.in_log({0: 0, 1: 0})
    held = {value for part, offset, _, value in log if offset < at[part]}
    held |= {"a1", "a2"} | ({"b1"} & done.keys())
    before = tree_hash(orders.checkpoint)

    stop = threading.Event()
    writing = threading.Thread(target=keep_producing, args=(orders, stop))
    writing.start()
    try:
        file, plan = team.plan("orders", "--source=0=1", "--source=1=0", scenario="new-checkpoint")
        assert plan["can_apply"], plan["blockers"]
        assert any("is uncommitted" in risk for risk in plan["risks"])
        (lost,) = plan["impact"]["open_state"]
        assert lost["rows"] == len(held) and tree_hash(orders.checkpoint) == before
        run = team.run("apply", str(file))
    finally:
        stop.set()
        writing.join()
    read = orders.run(second_version(orders))
    waiting = Counter({"b1": 1} if "b1" not in done else {})
    assert read == Counter(value for *_, value in orders.in_log(at)) + waiting

    # It goes on as any query: nothing twice, nothing left out, its own state kept.
    ends = committed(orders.checkpoint)
    orders.produce(5)
    orders.file("c.txt", "c1", "b1")
    expected = Counter({"c1": 1, "b1": waiting["b1"] + 1})
    assert orders.run(second_version(orders)) == expected + Counter(
        value for *_, value in orders.in_log(ends)
    )

    team.run("undo", run["run"])
    assert tree_hash(orders.checkpoint) == before


def max_batch(checkpoint):
    return max(int(p.name) for p in (checkpoint / "commits").iterdir() if p.name.isdigit())


def keep_producing(orders, stop):
    while not stop.is_set():
        orders.produce(3)
        time.sleep(0.2)


@pytest.mark.long
def test_named_sources_of_4_2_are_carried_by_their_names(team, orders, spark):
    for name, value in EVOLUTION.items():
        spark.conf.set(name, value)
    try:
        orders.produce(10)
        orders.file("a.txt", "a1")
        old = orders.kafka("orders").union(orders.files("lines"))
        orders.run(old.groupBy("value").agg(F.count("*").alias("n")))
        at = committed(orders.checkpoint)
        orders.produce(10)
        orders.file("b.txt", "b1")
        place = orders.folder / "next"
        rows = ("--source=files=lines", "--source=orders=orders")
        file, plan = team.plan("orders", *rows, f"--to={place}", scenario="new-checkpoint")
        assert plan["can_apply"], plan["blockers"]
        team.run("apply", str(file))
        new = orders.files("files").union(orders.kafka("orders")).groupBy("value")
        read = orders.run(new.agg(F.count("*").alias("n"), F.min("value").alias("m")), place)
        assert read == Counter(v for *_, v in orders.in_log(at)) + Counter({"b1": 1})
    finally:
        for name in EVOLUTION:
            spark.conf.unset(name)


@pytest.mark.long
def test_from_a_time_it_reads_what_lies_behind_that_time_in_each_partition(team, orders):
    orders.produce(40)
    orders.run(orders.kafka().groupBy("value").agg(F.count("*").alias("n")))
    before = tree_hash(orders.checkpoint)
    at = FIRST + 20 * MINUTE
    log = orders.in_log({0: 0, 1: 0})
    begins = {
        number: min(offset for p, offset, stamp, _ in log if p == number and stamp >= at)
        for number in (0, 1)
    }
    time_ = f"--to-datetime={iso(from_milliseconds(at))}"
    file, plan = team.plan("orders", time_, scenario="from-point")
    made = next(s for s in plan["steps"] if s["action"] == "create_checkpoint")["details"]
    assert {row["partition"]: row["to"] for row in made["offsets"]} == begins
    assert plan["impact"]["total"] == len(log) - sum(begins.values())
    run = team.run("apply", str(file))
    again = orders.kafka().groupBy("value").agg(F.count("*").alias("n"), F.max("value"))
    expected = Counter(v for p, offset, _, v in log if offset >= begins[p])
    assert orders.run(again) == expected
    team.run("undo", run["run"])
    assert tree_hash(orders.checkpoint) == before

    late = f"--to-datetime={iso(from_milliseconds(FIRST + 900 * MINUTE))}"
    _, asked = team.plan("orders", late, scenario="from-point", code=3)
    assert "has no record at or after" in asked["blockers"][0]
    file, ends = team.plan("orders", late, "--no-record=end", scenario="from-point")
    assert ends["impact"]["to_read"] == {orders.topic: 0}
