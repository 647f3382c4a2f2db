"""Restore points of real queries: made while batches run, read back, and gone back to.

Every point's state is compared, value by value, with what the topic has before its offsets.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from headgate.usecases.restore_points.check_point import check_point
from headgate.usecases.restore_points.list_points import list_points
from headgate.usecases.restore_points.make_point import make_point
from integration.spark.driven import Driven
from integration.spark.test_spark_rewind import run_slowly
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PREFIX = "spark.sql.streaming.stateStore."
HDFS = (
    f"{PREFIX}providerClass",
    ("org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"),
)
ROCKSDB = (
    f"{PREFIX}providerClass",
    ("org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"),
)
PROVIDERS = {
    "hdfs": dict([HDFS]),
    "rocksdb": dict([ROCKSDB]),
    "changelog": dict([ROCKSDB, (f"{PREFIX}rocksdb.changelogCheckpointing.enabled", "true")]),
    "ids": {
        **dict([ROCKSDB, (f"{PREFIX}rocksdb.changelogCheckpointing.enabled", "true")]),
        f"{PREFIX}checkpointFormatVersion": "2",
    },
}
# Spark deletes as fast as it can: two batches stay, maintenance runs each half second.
QUICK = {
    "spark.sql.streaming.minBatchesToRetain": "2",
    f"{PREFIX}minDeltasForSnapshot": "2",
    f"{PREFIX}maintenanceInterval": "500ms",
    f"{PREFIX}maintenance.shutdownTimeout": "5s",
}


class Counted(Driven):
    """Counts a topic's records by value; the newest count of each value is in `counts`."""

    def __init__(self, spark, folder, broker, topic, conf):
        super().__init__(folder)
        self.spark, self.broker, self.topic, self.conf = spark, broker, topic, conf
        self.checkpoint = folder / "checkpoint"
        self.counts: dict[str, int] = {}
        self.batches: list[float] = []

    def begin(self):
        records = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.broker)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .load()
        )
        counts = records.selectExpr("CAST(value AS STRING) AS value").groupBy("value").count()

        def put(frame, _batch):
            self.counts |= {row["value"]: row["count"] for row in frame.collect()}

        for key, value in self.conf.items():
            self.spark.conf.set(key, value)
        try:
            writer = counts.writeStream.foreachBatch(put).outputMode("update")
            writer = writer.option("checkpointLocation", str(self.checkpoint))
            return writer.trigger(processingTime="200 milliseconds").start()
        finally:
            for key in self.conf:
                self.spark.conf.unset(key)

    def records(self, before=None):
        """The topic's values, counted: all, or those before a point's offsets."""
        frame = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.broker)
        frame = frame.option("subscribe", self.topic).option("startingOffsets", "earliest")
        if before is not None:
            ends = {t: {str(n): o for n, o in ps.items()} for t, ps in before.items()}
            frame = frame.option("endingOffsets", json.dumps(ends))
        rows = frame.load().selectExpr("CAST(value AS STRING) AS value").collect()
        return dict(Counter(row["value"] for row in rows))

    def state(self, point, conf):
        """What Spark's state reader finds in a point."""
        for key, value in conf.items():
            self.spark.conf.set(key, value)
        try:
            reader = self.spark.read.format("statestore").option("batchId", str(point.batch))
            rows = reader.load(point.location).collect()
            return {row["key"]["value"]: row["value"]["count"] for row in rows}
        finally:
            for key in conf:
                self.spark.conf.unset(key)


class Stream:
    """A producer that goes on: new values, old ones, doubles, in no order."""

    def __init__(self, produce, topic):
        self._produce, self._topic, self._end = produce, topic, threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def _write(self):
        number = 0
        while not self._end.wait(0.1):
            values = [f"v{number}", f"v{number // 2}", f"v{number % 7}", f"v{number}"]
            self._produce(self._topic, values)
            number += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


@pytest.mark.parametrize(
    "provider",
    ["changelog", *(pytest.param(p, marks=pytest.mark.long) for p in ("hdfs", "rocksdb", "ids"))],
)
def test_points_of_a_running_query_are_exact_and_can_be_gone_back_to(
    provider, spark, team, topic, produce, broker
):
    name, conf = topic("values", partitions=2), PROVIDERS[provider]
    with Counted(spark, team.folder, broker, name, QUICK | conf) as query:
        team.register('[restore_points]\nevery = "1 second"', query.table("counted"))
        with Stream(produce, name):
            query.shell("start")
            points = _points(team.context, query, count=3)
            # Go on until Spark has removed the first point's batch from its own logs.
            until(lambda: min(_logged(query.checkpoint)) > points[1].batch)
        assert not query.why
        hashes = [tree_hash(Path(p.location)) for p in points]
        for point in points:
            assert query.state(point, conf) == query.records(point.offsets)
        # Reading changed nothing in the points, nor did the query meanwhile.
        assert [tree_hash(Path(p.location)) for p in points] == hashes
        assert check_point(team.context, points[1]).problem is None
        row = next(r for r in list_points(team.context, "counted").points if r.id == points[1].id)
        assert row.verified_at and row.rows == len(query.records(points[1].offsets))
        assert row.in_kafka is True

        until(lambda: query.counts == query.records())
        # Back to a batch that only the point has.
        asked = ("--batch", str(points[1].batch), "--sink", "other")
        file, plan = team.plan("counted", *asked, scenario="rewind")
        assert plan["can_apply"], plan["blockers"]
        assert plan["options"] == {"restore-point": points[1].id, "sink": "other"}
        again = sum(query.records().values()) - sum(query.records(points[1].offsets).values())
        assert plan["impact"]["total"] == again
        produce(name, ["after", "after", "v1"])
        _busy(query, produce, "before-run")
        query.counts = {}
        done = run_slowly(team, "apply", str(file))
        assert done["state"] == "done"
        whole, old = query.records(), query.records(points[1].offsets)
        changed = {k: n for k, n in whole.items() if n != old.get(k)}
        # Counts go on from the point's: were its state another one, they would differ.
        until(lambda: query.counts == changed or query.why)
        assert query.counts == changed, query.why

        _busy(query, produce, "before-undo")
        undone = run_slowly(team, "undo", done["run"])
        assert undone["state"] == "done"
        produce(name, ["undone"])
        until(lambda: query.counts.get("undone") == 1)
        until(lambda: query.counts | whole == query.records() | query.counts)
        assert all(query.counts[k] <= n for k, n in query.records().items() if k in query.counts)
        query.shell("stop")


def _busy(query, produce, word):
    """Let batches come one upon the other until Spark has removed all others from its logs.

    A query counts as stopped after a silence of several times the distance of its batches. In this
    test they are far apart while points are looked at, and the first after a start takes long.
    """
    for number in range(4):
        produce(query.topic, [f"{word}-{number}"])
        until(lambda n=number: f"{word}-{n}" in query.counts or query.why)


def _logged(checkpoint):
    return [int(p.name) for p in (checkpoint / "offsets").iterdir() if p.name.isdecimal()]


def _points(context, query, count):
    """Make points as fast as they come, of different batches."""
    until(lambda: _has_batch(query))
    points = {}
    deadline = time.monotonic() + PATIENCE
    while len(points) < count:
        assert time.monotonic() < deadline, query.why
        point = make_point(context, "counted")
        points[point.batch] = point
        time.sleep(0.05)
    return [points[batch] for batch in sorted(points)]


def _has_batch(query):
    if not (query.checkpoint / "metadata").exists():
        return False
    found = read_checkpoint(str(query.checkpoint))
    return found is not None and (found.last_commit_batch or 0) >= 1
