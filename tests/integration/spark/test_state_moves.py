"""State spread over other partitions, and state that a new version begins with, on real Spark."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest
from pyspark import cloudpickle
from pyspark.errors import SparkRuntimeException, StreamingQueryException
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from integration.spark import state_processors
from integration.spark.state_processors import OUT, Seen, SeenOnce, Timed, timed_groups

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

PREFIX = "spark.sql.streaming.stateStore."
ROCKSDB = {
    f"{PREFIX}providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{PREFIX}rocksdb.changelogCheckpointing.enabled": "true",
}
# Python's processes import nothing of these tests: what they need goes with the query.
cloudpickle.register_pickle_by_value(state_processors)


class Lines:
    """Rows in files, `key,name`, with doubles; and queries over them."""

    def __init__(self, spark, folder):
        self.spark, self.folder, self.inputs = spark, folder, folder / "in"
        self.inputs.mkdir()
        self.rows: list[tuple[str, str]] = []
        self.checkpoint = folder / "checkpoint"

    def write(self, count):
        rows = [(f"k{n % 7}", f"v{n % 5}") for n in range(len(self.rows), len(self.rows) + count)]
        self.rows += rows + rows[:1]
        text = "\n".join(",".join(row) for row in [*rows, rows[0]]) + "\n"
        (self.inputs / f"{len(self.rows)}.csv").write_text(text)

    def frame(self):
        return self.spark.readStream.schema("k string, value string").csv(str(self.inputs))

    def add(self, *keys):
        (self.inputs / f"{keys[0]}.csv").write_text("".join(f"{key},v\n" for key in keys))

    def run(self, frame, mode="update"):
        return dict(self._run(frame, lambda to: to.trigger(availableNow=True).start(), mode))

    def one_batch(self, frame):
        """Every row of the next batch, sorted; with timers of processing time no end would come."""

        def start(writer):
            before = self._head()
            query = writer.trigger(processingTime="1 day").start()
            while self._head() == before or len(set(self._head())) > 1:
                query.awaitTermination(0.2)
            query.stop()
            return query

        return sorted(self._run(frame, start))

    def _head(self):
        found = read_checkpoint(str(self.checkpoint))
        return found.head if found else (None, None)

    def _run(self, frame, start, mode="update"):
        rows: list[tuple[str, int]] = []

        def sink(batch, number):
            rows.extend((r["k"], r["n"]) for r in batch.collect())

        writer = frame.writeStream.outputMode(mode).foreachBatch(sink)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        for left in (2, 1, 0):
            try:
                start(writer).awaitTermination()
                break
            except StreamingQueryException as error:
                # Spark gives a process of Python's ten seconds to come up, and a busy machine more.
                if not left or "failed to connect back" not in str(error):
                    raise
        return rows

    def counts(self):
        return dict(Counter(k for k, _ in self.rows))


@pytest.fixture
def lines(spark, team):
    team.register(
        '[[pipeline]]\nname = "lines"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        '[pipeline.commands]\nstatus = "exit 3"\n'
    )
    for name, value in ROCKSDB.items():
        spark.conf.set(name, value)
    yield Lines(spark, team.folder)
    for name in ROCKSDB:
        spark.conf.unset(name)


def counted(lines):
    return lines.frame().groupBy("k").agg(F.count("*").alias("n"))


def processed(lines, processor, initial=None):
    return (
        lines.frame()
        .groupBy("k")
        .transformWithState(processor, OUT, "update", "none", initialState=initial)
    )


def timed(lines):
    grouped = lines.frame().groupBy("k")
    return grouped.transformWithState(Timed(), OUT, "update", "processingTime")


def timed_out(lines):
    timeout = GroupStateTimeout.ProcessingTimeTimeout
    grouped = lines.frame().groupBy("k")
    return grouped.applyInPandasWithState(timed_groups, OUT, "n long", "update", timeout)


def partitions(checkpoint):
    return {p.name for p in (checkpoint / "state" / "0").iterdir() if p.name.isdigit()}


def test_state_lies_in_other_partitions_row_by_row_and_goes_on(team, lines):
    lines.write(20)
    lines.run(counted(lines))
    lines.write(10)
    assert lines.run(counted(lines)) == lines.counts()
    before = tree_hash(lines.checkpoint)
    assert partitions(lines.checkpoint) == {"0", "1"}

    file, plan = team.plan("lines", "--partitions=5", scenario="repartition")
    assert plan["can_apply"], plan["blockers"]
    run = team.run("apply", str(file))
    assert partitions(lines.checkpoint) == {"0", "1", "2", "3", "4"}
    notes = [n["message"] for n in team.run("runs", run["run"])["progress"]]
    assert any("all equal in both states" in note for note in notes)

    lines.write(10)
    now = lines.run(counted(lines))
    assert now == {k: lines.counts()[k] for k in now}
    assert len(now) == 7

    team.run("undo", run["run"])
    assert tree_hash(lines.checkpoint) == before
    # The old one goes on from where it was, and takes what came since.
    assert lines.run(counted(lines)) == lines.counts()


@pytest.mark.parametrize("query", [timed, timed_out])
def test_timers_of_processing_time_fire_once_in_other_partitions(team, lines, query):
    keys = [f"k{n}" for n in range(9)]
    lines.add(*keys, "never-1", "never-2", "k3")
    counts = Counter([*keys, "never-1", "never-2", "k3"])
    assert lines.one_batch(query(lines)) == sorted(counts.items())
    file, plan = team.plan("lines", "--partitions=5", scenario="repartition")
    assert plan["can_apply"], plan["blockers"]
    run = team.run("apply", str(file))
    assert partitions(lines.checkpoint) == {"0", "1", "2", "3", "4"}
    notes = [n["message"] for n in team.run("runs", run["run"])["progress"]]
    assert any("timers: 11 rows, all equal" in n for n in notes) is (query is timed)

    lines.add("new")
    fired = [(key, -counts[key]) for key in keys]
    assert lines.one_batch(query(lines)) == sorted([*fired, ("new", 1)])
    lines.add("newer")
    assert lines.one_batch(query(lines)) == [("new", -1), ("newer", 1)]


def test_state_that_spark_can_t_spread_is_refused_with_its_reason(team, lines, spark):
    spark.conf.unset(f"{PREFIX}providerClass")
    lines.write(5)
    lines.run(counted(lines))
    _, plan = team.plan("lines", "--partitions=5", scenario="repartition", code=3)
    assert "HDFSBackedStateStoreProvider" in plan["blockers"][0]


def test_a_limit_is_refused_as_spark_refuses_it(team, lines, spark):
    lines.write(5)
    assert len(lines.run(lines.frame().limit(3).selectExpr("k", "1 AS n"), mode="append")) == 3
    _, plan = team.plan("lines", "--partitions=5", scenario="repartition", code=3)
    assert "limit()" in plan["blockers"][0]
    with pytest.raises(SparkRuntimeException, match="STDS_FAILED_TO_READ_STATE"):
        spark._streamingCheckpointManager.repartition(str(lines.checkpoint), 5, True)


def test_a_new_version_begins_with_the_old_ones_state(team, lines, spark):
    lines.write(20)
    lines.run(processed(lines, Seen()))
    # The schemas of its variables stand in files that the state names by their full address.
    file, _ = team.plan("lines", "--partitions=3", scenario="repartition")
    team.run("apply", str(file))
    assert partitions(lines.checkpoint) == {"0", "1", "2"}

    before, counts = tree_hash(lines.checkpoint), lines.counts()
    folder = lines.folder / "old-state"

    file, plan = team.plan("lines", f"--export-state={folder}", scenario="new-checkpoint")
    assert plan["can_apply"], plan["blockers"]
    assert any("initialState" in risk for risk in plan["risks"])
    run = team.run("apply", str(file))
    (operator,) = json.loads((folder / "manifest.json").read_text())["operators"]
    assert (operator["folder"], operator["rows"]) == ("operator-0", 7)

    exported = spark.read.parquet(str(folder / "operator-0"))
    values = defaultdict(list)
    for key, value in lines.rows:
        values[key].append(value)
    for row in exported.collect():
        assert row["count"]["n"] == counts[row["k"]]
        assert sorted(one["name"] for one in row["names"]) == sorted(values[row["k"]])
        times = {one["key"]["name"]: one["value"]["times"] for one in row["times"]}
        assert times == Counter(values[row["k"]])

    different = {key: len(set(of)) for key, of in values.items()}
    lines.write(10)
    now = lines.run(processed(lines, SeenOnce(), exported.groupBy("k")))
    assert now == {k: lines.counts()[k] * 1000 + different[k] for k in now}
    assert len(now) == 7
    team.run("undo", run["run"])
    assert tree_hash(lines.checkpoint) == before
