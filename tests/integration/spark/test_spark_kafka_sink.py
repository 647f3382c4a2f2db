"""A real query that writes to Kafka goes back: what comes twice is what the plan said, no more."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import functions as F

from headgate.gateway.checkpoint.folders import tree_hash

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]


class Totals:
    """How often each value of a topic has come, written to another topic with each batch."""

    def __init__(self, spark, broker, folder, orders, out):
        self.spark, self.broker, self.orders, self.out = spark, broker, orders, out
        self.checkpoint = folder / "checkpoint"

    def run(self):
        """Read what is there, in batches of at most eight records."""
        rows = self.spark.readStream.format("kafka").option("subscribe", self.orders)
        rows = rows.option("kafka.bootstrap.servers", self.broker)
        rows = rows.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", "8").load()
        counted = rows.groupBy(F.col("value").cast("string").alias("key")).count()
        writer = counted.select("key", F.col("count").cast("string").alias("value")).writeStream
        writer = writer.format("kafka").option("kafka.bootstrap.servers", self.broker)
        writer = writer.option("topic", self.out).outputMode("update").trigger(availableNow=True)
        writer.option("checkpointLocation", str(self.checkpoint)).start().awaitTermination()

    def expected(self):
        """What each batch has to write, made directly from the records that it read by its log."""
        records, counts, found = log(self.broker, self.orders), Counter(), {}
        begin = defaultdict(int)
        for batch in sorted(int(p.name) for p in (self.checkpoint / "offsets").glob("[0-9]*")):
            line = (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()[2]
            ends = {int(p): end for p, end in json.loads(line)[self.orders].items()}
            values = [v for p, end in ends.items() for _, v in records[p][begin[p] : end]]
            counts.update(values)
            begin.update(ends)
            found[batch] = Counter((value, str(counts[value])) for value in set(values))
        return found


def log(broker, topic):
    """Key and value of every record by partition, in order, read by another client."""
    settings = {"bootstrap.servers": broker, "group.id": "direct", "enable.auto.commit": False}
    consumer, found = Consumer(settings), {}
    for part in consumer.list_topics(topic, timeout=20).topics[topic].partitions:
        end = consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=20)[1]
        consumer.assign([TopicPartition(topic, part, 0)])
        found[part] = []
        while len(found[part]) < end:
            message = consumer.poll(5)
            if message is not None and message.error() is None:
                key = message.key().decode() if message.key() else None
                found[part].append((key, message.value().decode()))
    consumer.close()
    return found


@pytest.fixture
def totals(spark, broker, topic, team):
    team.register(
        '[[pipeline]]\nname = "totals"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        '[pipeline.commands]\nstatus = "exit 3"\n'
    )
    orders, out = topic("orders", partitions=2), topic("totals", partitions=2)
    return Totals(spark, broker, team.folder, orders, out)


def test_the_results_of_later_batches_come_twice_as_the_plan_said(team, totals, produce, groups):
    # Doubled, and in disorder.
    produce(totals.orders, [f"v{n * 5 % 9}" for n in range(30)])
    totals.run()
    first, written = totals.expected(), log(totals.broker, totals.out)
    last, before = max(first), tree_hash(totals.checkpoint)
    assert last >= 3
    assert Counter(r for part in written.values() for r in part) == sum(first.values(), Counter())
    reader = f"reader-of-{totals.out}"
    groups.commit(reader, {(totals.out, 0): (0, "")})

    asked = ("--batch=1", "--sink=kafka", f"--sink-path={totals.out}")
    file, plan = team.plan("totals", *asked, scenario="rewind")
    assert plan["can_apply"], plan["blockers"]
    told = next(s for s in plan["steps"] if s["action"] == "record_output")["details"]["written"]
    twice = {w["partition"]: written[w["partition"]][w["begin"] : w["end"]] for w in told}
    later = sum((first[b] for b in first if b > 1), Counter())
    assert Counter(r for part in twice.values() for r in part) == later
    assert any(f"{later.total()} records" in risk for risk in plan["risks"])
    assert any(f"read by {reader}" in risk for risk in plan["risks"]), plan["risks"]

    produce(totals.orders, [f"v{n}" for n in range(0, 12, 2)])
    run = team.run("apply", str(file))["run"]
    record = json.loads((team.context.home / "runs" / run / "output.json").read_text())
    assert record["written"] == told and log(totals.broker, totals.out) == written

    # Behind what was there come the results of what is read again, with the counts of back then.
    totals.run()
    again, now = totals.expected(), log(totals.broker, totals.out)
    assert {p: now[p][: len(rows)] for p, rows in written.items()} == written
    since = Counter(r for p, rows in now.items() for r in rows[len(written[p]) :])
    assert since == sum((again[b] for b in again if b > 1), Counter())
    assert {b: again[b] for b in (0, 1)} == {b: first[b] for b in (0, 1)}

    team.run("undo", run)
    assert tree_hash(totals.checkpoint) == before
    assert log(totals.broker, totals.out) == now
