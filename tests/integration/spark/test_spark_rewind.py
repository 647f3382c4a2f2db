"""A real query goes back to an older batch, and forward again: no value is lost or doubled."""

import json
import threading
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from integration.spark.driven import Driven
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class Distinct(Driven):
    """Writes every value of a topic once, as JSON files; it keeps what it has seen."""

    def __init__(self, spark, folder, broker, topic):
        super().__init__(folder)
        self.spark, self.broker, self.topic = spark, broker, topic
        self.checkpoint, self.out = folder / "checkpoint", folder / "out"

    def begin(self):
        records = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.broker)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .load()
        )
        values = records.selectExpr("CAST(value AS STRING) AS value").dropDuplicates(["value"])
        writer = values.writeStream.format("json").option("path", str(self.out))
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        return writer.trigger(processingTime="300 milliseconds").start()


class Writer:
    """A producer that goes on while the run does: new values, old ones again, out of order."""

    def __init__(self, produce, topic):
        self._produce, self._topic = produce, topic
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self.written: set[str] = set()

    def send(self, numbers):
        values = [f"v{n}" for n in numbers]
        self._produce(self._topic, values + values[::-2])
        self.written |= set(values)

    def _write(self):
        number = 1000
        while not self._end.wait(0.5):
            self.send([number, 3, number - 1000, 17])
            number += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


@pytest.fixture
def distinct(spark, team, topic, produce, broker):
    """A pipeline that runs: it has done three batches or more of a topic and waits for more."""
    values = topic("values", partitions=2)
    writer = Writer(produce, values)
    writer.send(range(8))
    with Distinct(spark, team.folder, broker, values) as query:
        team.register(query.table("distinct"))
        query.shell("start")
        for numbers in (range(8), range(4, 16), range(12, 24)):
            writer.send(numbers)
            until(lambda: sorted(visible(query.out)) == sorted(writer.written))
        yield writer, query.checkpoint, query.out
        query.shell("stop")


def visible(out):
    """Every value in the files that the sink's own log names: what Spark's readers see."""
    log = out / "_spark_metadata"
    entries = sorted(log.glob("[0-9]*"), key=lambda p: int(p.name.removesuffix(".compact")))
    compact = [n for n, p in enumerate(entries) if p.name.endswith(".compact")]
    try:
        lines = [
            t for p in entries[max(compact, default=0) :] for t in p.read_text().split("\n")[1:]
        ]
        paths = {json.loads(line)["path"].removeprefix("file://") for line in lines if line}
        return [
            json.loads(row)["value"]
            for p in paths
            for row in Path(p).read_text().split("\n")
            if row
        ]
    except FileNotFoundError:  # the query compacts its log while it is read
        return []


def run_slowly(team, *args):
    """Three starts of Spark are in a run: a busy machine needs minutes for them."""
    process = team.popen(*args, "--format", "json")
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, f"{out}\n{err}{team.worker_log()}"
    return json.loads(out)


@pytest.mark.long
def test_every_value_comes_once_after_going_back_and_after_the_undo(team, distinct):
    writer, checkpoint, out = distinct
    # The sink has a batch before its commit is written.
    until(lambda: read_checkpoint(str(checkpoint)).last_commit_batch >= 2)
    last = read_checkpoint(str(checkpoint)).last_commit_batch
    with writer:
        asked = ("--batch", "1", "--sink", "file", "--sink-path", str(out))
        file, plan = team.plan("distinct", *asked, scenario="rewind")
        assert plan["can_apply"], plan["blockers"]
        assert plan["impact"]["total"] >= 12
        done = run_slowly(team, "apply", str(file))
        assert done["state"] == "done"
        aside = team.folder / f".checkpoint.before-{done['run']}"
        kept, log = tree_hash(aside), tree_hash(out / f".headgate-before-{done['run']}" / "log")
        until(lambda: read_checkpoint(str(checkpoint)).last_commit_batch > last + 1)
    # A batch that the sink had dropped, or state of later batches that stayed, would lose values.
    until(lambda: sorted(visible(out)) == sorted(writer.written))
    # What the query has done since did not reach what was put aside, though the files are linked.
    assert tree_hash(aside) == kept

    undone = run_slowly(team, "undo", done["run"])
    assert undone["state"] == "done"
    notes = [n["message"] for n in team.run("runs", undone["run"])["progress"]]
    assert any("identical to the original" in note for note in notes)
    assert not aside.exists() and log
    until(lambda: sorted(visible(out)) == sorted(writer.written))
