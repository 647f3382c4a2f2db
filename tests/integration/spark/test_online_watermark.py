"""A version with windows and a watermark runs beside another: both write the same windows."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headgate.gateway.adapters.checkpoints import CheckpointAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
from headgate.gateway.checkpoint.batches import read_batches
from headgate.gateway.checkpoint.folders import read_checkpoint
from headgate.model.registered_pipelines import Registry, SparkSettings
from headgate.reprocess.steps.upgrade.run_beside import RunBeside
from headgate.spark_jobs.batch_log import remove_batches_after, write_empty_batch
from scenes.records import make_topic, read_all
from scenes.small_spark import SMALL
from support.flat_ports import FlatPorts

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
SETTINGS = SMALL | {"spark.sql.shuffle.partitions": "1"}
NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
JOB = """
from pyspark.sql import functions as F

def counts(spark):
    kafka = {{"kafka.bootstrap.servers": "{broker}"}}
    read = spark.readStream.format("kafka").options(**kafka, subscribe="{topic}",
                                                    startingOffsets="earliest").load()
    at = F.timestamp_seconds(F.col("value").cast("string").cast("long")).alias("at")
    found = read.select(at).withWatermark("at", "0 seconds").groupBy(F.window("at", "10 seconds"))
    rows = found.count().select(F.col("window.start").cast("long").alias("start"), "count")
    return (rows.select(F.to_json(F.struct("*")).alias("value")).writeStream.format("kafka")
            .options(**kafka, topic="{sink}").outputMode("append"))
"""


class Windows(FlatPorts):
    """The running version's log is made batch by batch; the new version runs for real."""

    run = "r"

    def __init__(self, spark, folder, broker, unique):
        self.spark, self.folder, self.broker = spark, folder, broker
        self.topic, self.sink, self.shadow = unique("times"), unique("windows"), unique("shadow")
        for name in (self.topic, self.sink, self.shadow):
            make_topic(broker, name, 1)
        self.job = JOB.format(broker=broker, topic=self.topic, sink=self.sink)
        (folder / "windows_jobs.py").write_text(self.job)
        self.old, self.copy = folder / "old", folder / ".old.staged-r"
        self.files, self.notes = {}, []
        registry = Registry(
            path=str(folder / "headgate.toml"),
            spark=SparkSettings(master="local[1]", config=SETTINGS),
        )
        context = RunContext(registry=registry, home=folder / "home", run="r", pause=time.sleep)
        self.context = context

    spark_jobs = property(lambda self: SparkJobAdapter(self.context))
    checkpoints = property(lambda self: CheckpointAdapter(self.context))

    def snapshot_folder(self):
        return str(self.folder)

    def write_record(self, path, text):
        self.files[path] = text
        Path(path).write_text(text, encoding="utf-8")

    def read_record(self, path):
        return self.files.get(path)

    def note(self, message):
        self.notes.append(message)

    def topics(self, names):
        return {}

    def batch(self, *times):
        """Let the running version process these records in one batch; none: a no-data batch."""
        producer = Producer({"bootstrap.servers": self.broker})
        for at in times:
            producer.produce(self.topic, str(at))
        assert producer.flush(30) == 0
        if not times:
            write_empty_batch(self.old)
        jobs = {}
        exec(self.job, jobs)
        session = self.spark.newSession()
        session.conf.set(NO_DATA, "false")
        writer = jobs["counts"](session).option("checkpointLocation", str(self.old))
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(120)

    def written(self, topic):
        found = read_all(self.broker, [topic])
        rows = [json.loads(r.value) for records in found.values() for r in records]
        return sorted((row["start"], row["count"]) for row in rows)


def test_no_window_is_written_by_one_version_only(spark, tmp_path, broker, unique):
    world = Windows(spark, tmp_path, broker, unique)
    world.batch(101, 125)
    shutil.copytree(world.old, world.copy)
    remove_batches_after(world.copy, 0)
    assert world.written(world.sink) == []
    # The no-data batch closes the window of 100, so the 103 is late in the next batch.
    world.batch()
    world.batch(103, 126, 141)
    world.batch()
    world.batch(142, 171)
    # The last batch moves the watermark to 171: what it closes is due in the next batch.
    assert world.written(world.sink) == [(100, 1), (120, 2)]
    step = RunBeside(
        pipeline="p",
        checkpoint=str(world.old),
        query_id=read_checkpoint(str(world.old)).query_id,
        entry_point="windows_jobs:counts",
        topic=world.shadow,
        sink_topic=world.sink,
        goal="switch",
    )
    was = {"copy": str(world.copy)}
    step.apply(world, was)
    assert world.written(world.shadow) == [(100, 1), (120, 2)]
    step.verify(world, was)
    old, new = read_batches(world.old), read_batches(world.copy)
    assert [b.number for b in old] == [0, 1, 2, 3, 4]
    facts = [[(b.number, b.offsets, b.watermark_ms) for b in log] for log in (old, new)]
    assert facts[0] == facts[1]
