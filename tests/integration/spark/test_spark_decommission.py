"""Two real Spark queries: one is decommissioned with its group; the undo restores it."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pyspark.sql import functions as F

from headgate.gateway.checkpoint.folders import tree_hash

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
# Only so does Spark join a group: by default it asks for offsets as an administrator.
JOINS = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"


class Count:
    """A query that counts a topic's values, and commits to its group how far it is."""

    def __init__(self, spark, groups, topic, place, group):
        self.spark, self.groups, self.topic = spark, groups, topic
        self.place, self.group = place, group
        self.counts: dict[str, int] = {}

    def run(self):
        """Read what is there in one batch, commit its end, and return all counts by now."""
        rows = self.spark.readStream.format("kafka")
        rows = rows.option("kafka.bootstrap.servers", self.groups.bootstrap)
        rows = rows.option("subscribe", self.topic).option("startingOffsets", "earliest")
        rows = rows.option("kafka.group.id", self.group).load()
        counted = rows.groupBy(F.col("value").cast("string").alias("v")).count()

        def sink(batch, number):
            self.counts.update({r["v"]: r["count"] for r in batch.collect()})

        writer = counted.writeStream.outputMode("update").foreachBatch(sink)
        writer = writer.option("checkpointLocation", str(self.place)).trigger(availableNow=True)
        query = writer.start()
        query.awaitTermination()
        (ends,) = json.loads(query.lastProgress.sources[0].endOffset).values()
        at = {(self.topic, int(p)): (offset, "by the query") for p, offset in ends.items()}
        self.groups.commit(self.group, at)
        return self.counts

    def left(self):
        """Everything that is its own: each byte of its checkpoint, and what its group has."""
        return tree_hash(self.place), self.groups.committed(self.group)


@pytest.fixture
def pair(spark, groups, topic, team, unique, produce):
    """Two stopped queries over one topic, whose names begin alike; each has done a batch."""
    orders, group = topic("orders", partitions=2), unique("totals")
    mine = Count(spark, groups, orders, team.folder / "ck", group)
    other = Count(spark, groups, orders, team.folder / "ck-2", f"{group}-2")
    team.register(
        *(
            f'[[pipeline]]\nname = "{name}"\nengine = "spark"\ncheckpoint = "{one.place.name}"\n'
            f'group = "{one.group}"\n[pipeline.commands]\nstatus = "exit 3"\n'
            for name, one in {"totals": mine, "totals-2": other}.items()
        )
    )
    spark.conf.set(JOINS, "true")
    produce(orders, [f"v{n * 3 % 7}" for n in range(24)])
    for one in (mine, other):
        one.run()
    yield mine, other
    spark.conf.unset(JOINS)


def counted(consume, topic, count):
    """The same counts, made directly from the topic's records."""
    return Counter(m.value().decode() for m in consume(topic, count))


def test_a_query_goes_with_its_group_and_its_neighbour_goes_on(
    team, pair, produce, consume, kafka_admin
):
    mine, other = pair
    assert mine.counts == other.counts == counted(consume, mine.topic, 24)
    was, beside = mine.left(), other.left()
    file, plan = team.plan("totals", scenario="decommission")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "record_offsets",
        "delete_group",
        "move_to_backup",
    ]
    run = team.run("apply", str(file))["run"]

    # Nothing of it is left where it was, and all of it is in one place.
    assert not mine.place.exists() and mine.groups.committed(mine.group) == {}
    groups = {g.group_id for g in kafka_admin.list_consumer_groups().result().valid}
    assert groups & {mine.group, other.group} == {other.group}
    (aside,) = team.folder.glob(".ck.*")
    assert (aside.name, tree_hash(aside)) == (f".ck.aside-{run}", was[0])
    assert other.left() == beside
    produce(mine.topic, [f"v{n}" for n in range(5, 9)])
    truth = counted(consume, mine.topic, 28)
    assert other.run() == truth

    beside = other.left()
    team.run("undo", run)
    assert mine.left() == was and not list(team.folder.glob(".ck.*"))
    assert other.left() == beside
    # It goes on behind what it had counted, and has missed nothing.
    assert mine.run() == truth
    assert other.left() == beside
