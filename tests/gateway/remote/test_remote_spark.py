"""Real Spark keeps its checkpoint on HDFS, is led to a new place there, goes on, and comes back."""

import json
import os
import threading
import time

import pytest

from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.remote_copy import listing_hash
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.scenarios.build import build_plan
from headgate.store import open_store
from headgate.worker.run_journal import RunJournal
from support.crashing import Lab
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark]
SCHEMA = "k string, v long, t timestamp"
COMMANDS = Commands(
    stop="rm -f wanted; while [ -e running ]; do sleep 0.05; done",
    start='echo "$HEADGATE_CHECKPOINT" > wanted.part; mv wanted.part wanted',
    status="[ -e running ] && exit 0; [ -e wanted ] && exit 9; exit 3",
)
# Each file is one batch; late, duplicate and disordered rows in all.
STOP, ALL = 2, 3


def write(folder, numbers, *, value):
    folder.mkdir(exist_ok=True)
    for number in numbers:
        minutes = [number, max(number - 2, 0), number, number + 1, 0][:: -1 if number % 2 else 1]
        rows = [
            {"k": f"k{(number + n) % 3}", "v": value * (n + 1), "t": f"2026-01-01T00:{m:02d}:00Z"}
            for n, m in enumerate([*minutes, minutes[0]])
        ]
        (folder / f"{number}.json").write_text("\n".join(map(json.dumps, rows)))
        os.utime(folder / f"{number}.json", (1_760_000_000 + number, 1_760_000_000 + number))


def start(spark, folder, checkpoint):
    """Do every file that is there, one a batch."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder))
    counted = rows.withWatermark("t", "2 minutes").groupBy("k").agg({"v": "sum", "*": "count"})
    return (
        counted.writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )


def state(spark, checkpoint, batch):
    """Every row of the state at the end of a batch, key and value."""
    found = spark.read.format("statestore").option("batchId", batch).load(checkpoint)
    return sorted(str((row.partition_id, row.key, row.value)) for row in found.collect())


class Driver(threading.Thread):
    """The process that the commands start and stop: a query where they want its checkpoint."""

    def __init__(self, spark, folder):
        super().__init__(daemon=True)
        self.spark, self.folder, self.ending = spark, folder, threading.Event()
        self.through: list[str] = []

    def run(self):
        wanted, running = self.folder / "wanted", self.folder / "running"
        while not self.ending.wait(0.05):
            if not wanted.exists():
                continue
            query = start(self.spark, self.folder / "in", wanted.read_text().strip())
            running.touch()
            while wanted.exists() and not self.ending.wait(0.05):
                if not query.isActive and not query.exception():
                    self.through.append(wanted.read_text().strip())
                    break
            while wanted.exists() and not self.ending.wait(0.05):
                pass
            query.stop()
            running.unlink()


class HdfsLab(Lab):
    """Runs plans over HDFS; the registry is led by the store."""

    def led(self):
        return self.registry.led(self.store.checkpoint_locations.all())

    @property
    def now(self):
        return self.led().pipeline("q").checkpoint

    def applier(self, run="preview"):
        def switch_checkpoint(pipeline, declared, location):
            self.store.checkpoint_locations.switch_checkpoint(
                pipeline, declared=declared, location=location, run=run
            )

        return LiveApplier(
            RunContext(
                registry=self.led(),
                home=self.home,
                run=run,
                pause=time.sleep,
                switch_checkpoint=switch_checkpoint,
            )
        )

    def apply(self, scenario, options=None):
        plan = build_plan(scenario, "q", self.applier(), options or {})
        assert plan.can_apply, plan.blockers
        run = self.enqueue(plan)
        self.carry_out(run, plan)
        return run, plan

    def remove_batches_after(self, run, plan):
        undo = self.undo(run, plan)
        assert undo.can_apply, undo.blockers
        self.carry_out(self.enqueue(undo, run), undo, run)

    def carry_out(self, run, plan, undo_of=None):
        journal = RunJournal(self.store, run, plan, undo_of=undo_of)
        executor = Executor(self.applier(run), journal)
        for position, step in enumerate(plan.steps):
            executor.apply(position, step)

    def end(self, times):
        """Wait until the query is through with all files, the so manieth time; its last batch."""
        driver = self.driver
        until(lambda: len(driver.through) >= times or not driver.is_alive(), seconds=2 * PATIENCE)
        assert len(driver.through) >= times, "the driver has ended"
        assert driver.through[-1] == self.now
        return self.applier().checkpoints.read(self.now).last_commit_batch


@pytest.fixture
def lab(spark, hdfs, tmp_path):
    base = hdfs.address.removesuffix("/ck")
    pipeline = Pipeline(
        name="q", engine=Engine.SPARK, checkpoint=f"{base}/team/query", commands=COMMANDS
    )
    registry = Registry(
        path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,), file_systems=hdfs.settings
    )
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")
    driver = Driver(spark, tmp_path)
    driver.start()
    made = HdfsLab(tmp_path, registry, store)
    made.driver = driver
    yield made
    driver.ending.set()
    driver.join(PATIENCE)
    store.close()


@pytest.mark.long
def test_back_to_a_batch_from_scratch_and_back_again(spark, lab, tmp_path):
    old, settings = lab.now, lab.registry.file_systems
    write(tmp_path / "in", range(ALL), value=1)
    lab.applier("first").processes.command("q", "start")
    last = lab.end(1)
    at_first = state(spark, old, last)
    # A producer's error is mended meanwhile.
    write(tmp_path / "in", range(STOP, ALL), value=1000)
    direct = str(tmp_path / "direct")
    start(spark, tmp_path / "in", direct).awaitTermination()
    expected = state(spark, direct, last)
    assert expected != at_first

    run, plan = lab.apply("rewind", {"batch": STOP - 1, "sink": "kafka"})
    assert "read_remote_state" in [step.action for step in plan.steps]
    before = listing_hash(old, settings)
    assert lab.now == f"{old}.2"
    assert state(spark, lab.now, lab.end(2)) == expected
    assert listing_hash(old, settings) == before and state(spark, old, last) == at_first

    lab.remove_batches_after(run, plan)
    assert lab.now == old and state(spark, old, last) == at_first

    lab.apply("from-scratch")
    assert lab.now == f"{old}.3"
    # The old query, started again, had nothing more to do.
    assert state(spark, lab.now, lab.end(4)) == expected
