"""The bounded program by itself: it ends at the offsets of its first start, whatever kills it."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from headgate.errors import RunCancelledError, StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
from headgate.gateway.checkpoint.folders import read_checkpoint
from headgate.gateway.process.shell_commands import marked
from headgate.model.registered_pipelines import Registry, SparkSettings
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from integration.spark.bounded_query import SOURCE, counted, written
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.small_spark import SMALL
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]


class Bounded:
    """A team's folder with the query, and the program run on it."""

    def __init__(self, folder, bootstrap, topic, master="local[2]", config=SMALL):
        self.folder, self.bootstrap, self.topic = folder, bootstrap, topic
        self.reports, self.cancel, self.act = [], False, lambda report: None
        (folder / "bounded_orders.py").write_text(SOURCE)
        self.configure()
        spark = SparkSettings(master=master, config=config)
        registry = Registry(path=str(folder / "headgate.toml"), spark=spark)
        self.context = RunContext(
            registry=registry, home=folder / "home", run="r1", pause=self.pause
        )

    def configure(self, **given):
        found = {"bootstrap": self.bootstrap, "topic": self.topic, **given}
        (self.folder / "query.json").write_text(json.dumps(found))

    def pause(self, seconds):
        if self.cancel:
            raise RunCancelledError("cancelled")
        time.sleep(seconds)

    def told(self, report):
        self.reports.append(report)
        self.act(report)

    def run(self, *more):
        self.reports = []
        given = ("--entry-point=bounded_orders:orders", f"--checkpoint={self.checkpoint}")
        bounds = f"--bounds={self.folder / 'bounds.json'}"
        job = SparkJob(program="run_bounded", arguments=(*given, bounds, *more), what="the run")
        try:
            return SparkJobAdapter(self.context).run(job, self.told)
        finally:
            left = self.folder / "home" / "runs" / "r1" / "spark" / "run_bounded"
            assert not (left / "spark.properties").exists(), "the settings may be secrets"
            assert marked("r1:spark:run_bounded") == [], "something of it still runs"

    @property
    def checkpoint(self):
        return self.folder / "checkpoint"

    @property
    def reached(self):
        return dict(read_checkpoint(str(self.checkpoint)).offsets[self.topic])

    def kill(self, report):
        """Kill the driver, JVM and all, after the second batch."""
        if len(self.reports) == 2:
            for pid in marked("r1:spark:run_bounded"):
                os.kill(pid, signal.SIGKILL)

    def is_behind(self, ends):
        """Whether records came behind these offsets."""
        truth = read_all(self.bootstrap, [self.topic])
        return any(r.offset >= ends[part] for (_, part), rs in truth.items() for r in rs)

    def expected(self, ends):
        truth = read_all(self.bootstrap, [self.topic])
        return [r for (_, part), found in truth.items() for r in found if r.offset < ends[part]]


@pytest.fixture
def bounded(tmp_path, broker, unique):
    topic = unique("orders")
    make_topic(broker, topic, 3)
    write_history(broker, topic, 2, count=120)  # the third partition stays empty
    writer = Writer(broker, topic, 2, each=0.1)
    yield Bounded(tmp_path, broker, topic)
    writer.close()


def ends_of(bounded):
    found = json.loads((bounded.folder / "bounds.json").read_text())
    return {int(p): at for p, at in found["sources"]["0"]["bound"][bounded.topic].items()}


def test_a_killed_run_ends_at_the_offsets_of_its_first_start(bounded):
    bounded.configure(seconds=0.3)
    bounded.act = bounded.kill
    with pytest.raises(StepError, match="ended without a result"):
        bounded.run("--max-records=30")
    bounded.act = lambda report: None
    ends = ends_of(bounded)
    assert ends[2] == 0 and ends[0] + ends[1] >= 140
    killed_at = bounded.reached
    assert sum(killed_at.values()) < sum(ends.values())
    # More is written, and must not be read.
    until(lambda: bounded.is_behind(ends), "no more is written")
    found = bounded.run("--max-records=30")
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    assert found.facts["bound"] == {"0": {bounded.topic: {str(p): at for p, at in ends.items()}}}
    assert found.facts["reached"] == found.facts["bound"]
    assert bounded.reached == ends == ends_of(bounded)
    assert all(r["done"] <= r["total"] == sum(ends.values()) for r in bounded.reports)
    assert bounded.reports[-1]["done"] == sum(ends.values())
    assert written(bounded.folder) == counted(bounded.expected(ends))
    # Once more with the same bounds, it has nothing to do.
    again = bounded.run()
    assert (again.outcome, again.facts["records"]) == (JobOutcome.DONE, 0)
    assert bounded.reached == ends


def test_the_time_limit_and_a_cancel_stop_between_two_batches(bounded):
    bounded.configure(seconds=1)
    first = bounded.run("--max-records=20", "--time-limit=1")
    assert first.outcome is JobOutcome.STOPPED, first
    assert first.facts["why"] == "time"
    ends, at = ends_of(bounded), bounded.reached
    assert 0 < sum(at.values()) < sum(ends.values())
    head = read_checkpoint(str(bounded.checkpoint)).head
    assert head[0] == head[1] == first.facts["last_batch"], "a batch was left half done"
    bounded.act = lambda report: setattr(bounded, "cancel", True)
    with pytest.raises(RunCancelledError, match="the run stopped"):
        bounded.run("--max-records=20")
    head = read_checkpoint(str(bounded.checkpoint)).head
    assert head[0] == head[1] > first.facts["last_batch"]
    # Before the first batch, too.
    with pytest.raises(RunCancelledError):
        bounded.run()
    assert read_checkpoint(str(bounded.checkpoint)).head == head
    bounded.cancel, bounded.act = False, lambda report: None
    bounded.configure()
    assert bounded.run("--max-records=1000").outcome is JobOutcome.DONE
    assert bounded.reached == ends == ends_of(bounded)
    assert written(bounded.folder) == counted(bounded.expected(ends))


def test_a_function_that_raises_stops_the_run_and_says_what_was_done(bounded, produce):
    produce(bounded.topic, [("city-9", "broken")], partition=0)
    bounded.configure(poison="broken")
    poison = next(r for r in read_all(bounded.bootstrap, [bounded.topic])[bounded.topic, 0]
                  if r.value == b"broken")  # fmt: skip
    found = bounded.run("--max-records=20")
    assert found.outcome is JobOutcome.FAILED
    assert "not an order" in found.error
    assert found.facts["batches"] == found.facts["last_batch"] + 1 > 0
    reached = {int(p): at for p, at in found.facts["reached"]["0"][bounded.topic].items()}
    assert reached[0] <= poison.offset
    assert read_checkpoint(str(bounded.checkpoint)).head[1] == found.facts["last_batch"]
    assert written(bounded.folder) == counted(bounded.expected(reached))


def test_on_a_cluster_it_loses_an_executor_and_ends_exactly(
    standalone_cluster, tmp_path, broker, unique
):
    topic = unique("orders")
    make_topic(broker, topic, 2)
    write_history(broker, topic, 2, count=120)
    config = standalone_cluster.config
    bounded = Bounded(tmp_path, broker, topic, standalone_cluster.master, config)
    bounded.configure(seconds=0.5)
    killed = []

    def kill_an_executor(report):
        if len(bounded.reports) == 1:
            killed.append(standalone_cluster.executors())
            os.kill(killed[0][0], signal.SIGKILL)

    bounded.act = kill_an_executor
    found = bounded.run("--max-records=30")
    assert found.outcome is JobOutcome.DONE, found.error
    assert len(killed[0]) == 2, "the two workers did not share the work"
    ends = ends_of(bounded)
    assert bounded.reached == ends and sum(ends.values()) >= 140
    assert written(bounded.folder) == counted(bounded.expected(ends))
