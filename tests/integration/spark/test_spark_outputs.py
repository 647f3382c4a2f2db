"""A real query begins anew into an emptied folder: each record once, and back again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.spark.driven import Driven
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class Rows(Driven):
    """Writes a topic's records as JSON files."""

    def __init__(self, spark, folder, broker, topic):
        super().__init__(folder)
        self.spark, self.broker, self.topic = spark, broker, topic
        self.out, self.query = folder / "out", None

    def begin(self):
        records = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.broker)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .load()
        )
        rows = records.selectExpr("partition", "offset", "CAST(value AS STRING) AS value")
        writer = rows.writeStream.format("json").option("path", str(self.out))
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint"))
        self.query = writer.trigger(processingTime="500 milliseconds").start()
        return self.query


@pytest.fixture
def rows(spark, team, topic, produce, broker):
    """A pipeline that runs, has written twenty records to files, and is known by its progress."""
    orders = topic("orders", partitions=2)
    produce(orders, [f"city-{n}" for n in range(20)])
    with Rows(spark, team.folder, broker, orders) as made:
        team.register(made.table("rows"))
        made.shell("start")
        until(lambda: len(read(made.out)) == 20 and made.query.lastProgress, lambda: made.why)
        (team.folder / "progress.json").write_text(made.query.lastProgress.json)
        team.run("capture", "progress.json", "--pipeline", "rows")
        yield made
        made.shell("stop")


def read(out: Path) -> list[tuple[int, int, str]]:
    """What a reader of the sink sees: the files that its log names, each row as often as it is."""
    log = out / "_spark_metadata"
    if not log.exists():
        return []
    names = [
        json.loads(line)["path"].rpartition("/")[2]
        for batch in log.iterdir()
        if not batch.name.startswith(".")
        for line in batch.read_text().splitlines()[1:]
    ]
    lines = [line for name in sorted(set(names)) for line in (out / name).read_text().splitlines()]
    return sorted((r["partition"], r["offset"], r["value"]) for r in map(json.loads, lines))


def truth(consume, topic: str, count: int) -> list[tuple[int, int, str]]:
    return sorted((m.partition(), m.offset(), m.value().decode()) for m in consume(topic, count))


def test_the_files_of_before_make_place_and_come_back(team, rows, produce, consume):
    orders, out = rows.topic, rows.out
    file, plan = team.plan("rows", "--outputs=empty")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "snapshot_checkpoint",
        "replace_checkpoint",
        "move_to_backup",
        "start_pipeline",
    ]
    produce(orders, [f"late-{n}" for n in range(5)])
    done = team.run("apply", str(file))
    until(lambda: len(read(out)) >= 25, lambda: rows.why)
    assert read(out) == truth(consume, orders, 25)
    aside = team.folder / f".out.aside-{done['run']}"
    kept = {path.name: path.read_bytes() for path in aside.glob("*.json")}
    assert kept and len(read(aside)) in (20, 25)

    team.run("undo", done["run"])
    since = list(team.folder.glob(".out.since-*"))
    assert not aside.exists() and len(since) == 1
    assert read(since[0]) == truth(consume, orders, 25)
    # The old query goes on behind the files that it had written.
    until(lambda: len(read(out)) >= 25, lambda: rows.why)
    assert read(out) == truth(consume, orders, 25)
    assert {name: (out / name).read_bytes() for name in kept} == kept
