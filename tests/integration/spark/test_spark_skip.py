"""A real query that dies of one record leaves it out: state and output are those of all others."""

from __future__ import annotations

from collections import defaultdict

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from integration.spark.poisoned import POISON, Poisoned
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture
def poisoned(spark, team, topic, produce, broker):
    """Makes a query that has done batch 0, and dies of a record in the midst of batch 1."""
    spark.conf.set(PROVIDER, ROCKSDB)
    made = []

    def make(kind):
        orders = topic("orders", partitions=2)
        out = topic("counts") if kind == "stateful" else str(team.folder / "out")
        query = Poisoned(spark, team.folder, kind, broker, orders, out)
        team.register(query.table("poisoned"))
        made.append(query.__enter__())
        sent = {0: ["a", "b", "c"], 1: ["a", "x"]}
        for part, values in sent.items():
            produce(orders, values, partition=part)
        query.shell("start")
        until(lambda: committed(query) == 0, lambda: query.why)
        query.shell("stop")
        more = {0: ["b", "a", POISON, "c", "d", "a"], 1: ["y", "x", "a"]}
        for part, values in more.items():
            produce(orders, values, partition=part)
            sent[part] = sent[part] + values
        query.shell("start")
        until(lambda: "can not be read" in query.why, lambda: query.why)
        return query, sent

    yield make
    for query in made:
        query.__exit__()
    spark.conf.unset(PROVIDER)


def committed(query):
    found = read_checkpoint(str(query.checkpoint))
    return found.last_commit_batch if found and found.head[0] == found.head[1] else None


def read_so_far(query, sent):
    """Whether every record that was sent is in a batch that is done."""
    found = read_checkpoint(str(query.checkpoint))
    ends = {part: len(values) for part, values in sent.items()}
    return found.head[0] == found.head[1] and found.offsets[query.topic] == ends


def state_of(spark, checkpoint, batch):
    found = spark.read.format("statestore").option("batchId", batch).load(str(checkpoint))
    return {r["key"]["value"]: tuple(r["value"]) for r in found.collect()}


def counted_directly(sent, without):
    """What the state must be: by value, how many records and the largest offset."""
    rows = defaultdict(list)
    for part, values in sent.items():
        for offset, value in enumerate(values):
            if (part, offset) != without:
                rows[value].append(offset)
    return {value: (len(offsets), max(offsets)) for value, offsets in rows.items()}


def rows_of(spark, out):
    """Every row that Spark reads of the file sink, so often as it is there."""
    schema = "partition int, offset long, value string"
    return sorted((r[0], r[1], r[2]) for r in spark.read.schema(schema).json(out).collect())


def sent_rows(sent, without=None):
    return sorted(
        (part, offset, value)
        for part, values in sent.items()
        for offset, value in enumerate(values)
        if (part, offset) != without
    )


def test_a_record_is_left_out_and_the_state_is_that_of_all_others(team, poisoned, spark, produce):
    query, sent = poisoned("stateful")
    before, state = tree_hash(query.checkpoint), state_of(spark, query.checkpoint, 0)
    asked = (f"--records={query.topic}:0:5", "--sink=kafka")
    file, plan = team.plan("poisoned", *asked, scenario="skip-records")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        *("stop_pipeline", "back_up_records", "cut_copy", "swap_cut_checkpoint", "finish_batch"),
        *("cut_copy", "swap_cut_checkpoint", "start_pipeline"),
    ]
    run = team.run("apply", str(file))
    produce(query.topic, ["c", "a", "z"], partition=0)
    sent[0] += ["c", "a", "z"]
    until(lambda: read_so_far(query, sent), lambda: query.why)
    query.shell("stop")
    last = committed(query)
    assert state_of(spark, query.checkpoint, last) == counted_directly(sent, without=(0, 5))
    # What was done before the record is in a batch of its own, with nothing behind it.
    assert state_of(spark, query.checkpoint, 0) == state
    up_to = {0: sent[0][:5], 1: sent[1]}
    assert state_of(spark, query.checkpoint, 1) == counted_directly(up_to, without=None)

    team.run("undo", run["run"])
    assert tree_hash(query.checkpoint) == before
    assert state_of(spark, query.checkpoint, 0) == state


def test_files_have_every_record_but_the_skipped_one_and_after_the_undo_all(
    team, poisoned, spark, produce
):
    query, sent = poisoned("stateless")
    before = tree_hash(query.checkpoint)
    asked = (f"--records={query.topic}:0:5", "--sink=file", f"--sink-path={query.out}")
    file, plan = team.plan("poisoned", *asked, scenario="skip-records")
    assert plan["can_apply"], plan["blockers"]
    run = team.run("apply", str(file))
    produce(query.topic, ["c", "a"], partition=0)
    sent[0] += ["c", "a"]
    until(lambda: read_so_far(query, sent), lambda: query.why)
    query.shell("stop")
    assert rows_of(spark, query.out) == sent_rows(sent, without=(0, 5))

    team.run("undo", run["run"])
    assert tree_hash(query.checkpoint) == before
    # A version that can read the record does the batch whole: the sink must not drop it.
    query.fixed = True
    query.shell("start")
    until(lambda: read_so_far(query, sent), lambda: query.why)
    query.shell("stop")
    assert rows_of(spark, query.out) == sent_rows(sent)
