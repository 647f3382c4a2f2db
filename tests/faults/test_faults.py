"""A sample of `make faults`: workers that are killed, an outage, a store that refuses."""

import signal
import sqlite3
import time
from contextlib import closing

import pytest

from scenes import scene
from scenes.faults import Kafka, Lab
from scenes.forked import Forks

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A broker of its own, because it is stopped, too."""
    folder = tmp_path_factory.mktemp("faults")
    kafka = Kafka(folder / "kafka")
    with Forks() as forks:
        yield Lab(folder, kafka, forks)
    kafka.close()


@pytest.mark.parametrize(
    ("name", "at", "back_at"),
    [
        (
            "from-point-group",
            "after alter_offsets of step 2",
            "before command of step 2",
        ),
        ("from-scratch-spark", "after move of step 2", "after move of step 1"),
    ],
)
def test_a_run_and_its_undo_survive_a_killed_worker(lab, name, at, back_at):
    with lab.trial(scene(name)) as trial:
        first = trial.worker(at=at)
        run = trial.apply(trial.plan())
        trial.passed(first)
        assert not first.lives
        second = trial.worker(at=back_at)
        trial.must_be_done(run)
        trial.scene.check_end()
        trial.end(second)

        third = trial.worker(at=back_at, how="inside" if "before" in back_at else "kill")
        undo = trial.undo(run)
        trial.passed(third)
        assert not third.lives
        trial.worker()
        trial.must_be_done(undo)
        trial.scene.check_undone()


def test_a_broker_that_goes_away_in_the_midst_of_a_run(lab):
    with lab.trial(scene("from-point-group")) as trial:
        worker = trial.worker(at="after begin of step 2", how="stop")
        run = trial.apply(trial.plan())
        trial.passed(worker)
        lab.kafka.stop()
        worker.signal(signal.SIGCONT)
        time.sleep(2)
        lab.kafka.start()
        trial.finish(run)
        trial.scene.check_end()


def test_a_workflow_that_died_because_the_store_refused_its_end_goes_on(lab):
    """As on a full disk: neither the step's result nor its error can be written."""
    with lab.trial(scene("from-point-group")) as trial:
        worker = trial.worker(at="after begin of step 2", how="stop")
        run = trial.apply(trial.plan())
        trial.passed(worker)
        store = trial.scene.folder / ".headgate" / "headgate.db"
        with closing(sqlite3.connect(store, isolation_level=None, timeout=30)) as other:
            for table in ("operation_outputs", "workflow_status"):
                other.execute(f"ALTER TABLE {table} RENAME TO away_{table}")
            worker.signal(signal.SIGCONT)
            trial.wait(lambda: "in background workflow" in trial.logs()[0])
            for table in ("operation_outputs", "workflow_status"):
                other.execute(f"ALTER TABLE away_{table} RENAME TO {table}")
        trial.finish(run)
        trial.scene.check_end()
        assert f"run {run} lost its workflow" in trial.logs()[0]
