"""A sample of `make faults`: workers that are killed, an outage, a store that refuses."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from headgate.store.rows import RunState
from scenes import scene
from scenes.chains import Chain
from scenes.faults import BROKER, DRIVER, Cell
from scenes.forked import Forks
from scenes.lab import Kafka, Lab
from scenes.points import Target
from support.waiting import PATIENCE

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A broker of its own, because it is stopped, too."""
    folder = tmp_path_factory.mktemp("faults")
    kafka = Kafka(folder / "kafka")
    with Forks(folder) as forks:
        yield Lab(folder, kafka, forks)
    kafka.close()


@pytest.mark.parametrize(
    ("name", "at", "back_at"),
    [
        ("from-scratch-spark", "after move of step 2", "after move of step 1"),
        pytest.param(
            "from-scratch-streams",
            "after delete_topic of step 6",
            "after create_topic of step 2",
            marks=pytest.mark.long,
        ),
        # Between two groups that move: the killed one comes after another that is done.
        pytest.param(
            "chain-spark",
            "after alter_offsets of step 5",
            "after alter_offsets of step 6",
            marks=pytest.mark.long,
        ),
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


@pytest.mark.long
def test_a_run_that_ends_each_of_its_workers_is_given_up_and_can_be_resumed_and_undone(lab):
    with lab.trial(scene("from-point-group")) as trial:
        fault = {"at": "before alter_offsets of step 2", "recoveries": 2}
        # Before the run: `apply` itself starts a worker where there is none.
        worker = trial.worker(**fault)
        run = trial.apply(trial.plan())
        for again in (True, True, False):
            trial.passed(worker)
            assert not worker.lives
            assert trial.row(run).state is RunState.RUNNING
            if again:
                worker = trial.worker(**fault)
        fourth = trial.worker(at="after alter_offsets of step 2", recoveries=2)
        given_up = trial.ended(run)
        assert given_up.state is RunState.FAILED
        assert "crashed each time that it resumed this run" in given_up.error
        # What a person resumes is counted anew.
        trial.resume(run)
        trial.passed(fourth)
        assert not fourth.lives
        trial.worker()
        trial.must_be_done(run)
        trial.scene.check_end()
        trial.must_be_done(trial.undo(run))
        trial.scene.check_undone()


def test_a_broker_that_goes_away_in_the_midst_of_a_run(lab):
    with lab.trial(scene("from-point-group")) as trial:
        worker = trial.worker(at="after begin of step 2", how="stop")
        run = trial.apply(trial.plan())
        trial.passed(worker)
        lab.kafka.stop()
        worker.signal(signal.SIGCONT)
        # As long as the broker is away.
        time.sleep(2)
        lab.kafka.start()
        trial.finish(run)
        trial.scene.check_end()


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("fault", [DRIVER, BROKER])
def test_a_program_whose_driver_or_broker_is_killed_in_the_midst_of_its_work(lab, fault):
    kind = scene("bounded-spark")
    target = Target(2, "run", "before", 0, "stop inside", jobs=1)
    chain = Chain(kind, fault, [Cell(kind, fault, "step 2: inside run", "resume", target=target)])
    for _ in chain.run(lab):
        if lab.kafka.is_up:
            lab.kafka.kill()
        else:
            lab.kafka.start()
    assert [c.fault for c in chain.struck] == [fault]


@pytest.mark.long
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
        assert f"no thread executes run {run}" in trial.logs()[0]


_READER = """
import sys
from headgate.errors import UnreachableError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import read_offsets

with Kafka(sys.argv[1], timeout=1.0) as kafka:
    kafka.cluster_id()
    print("knows the broker", flush=True)
    sys.stdin.readline()
    try:
        read_offsets(kafka, "nobody")
    except UnreachableError:
        print("gave up", flush=True)
    sys.stdin.readline()
    kafka.timeout = 60.0
    print(read_offsets(kafka, "nobody"), flush=True)
"""


def test_a_broker_that_stands_still_for_a_while_does_not_end_who_asks(lab):
    """librdkafka aborts where a coordinator is found after the request for it ran out of time."""
    reader = subprocess.Popen(
        [sys.executable, "-c", _READER, lab.kafka.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with reader:
        assert reader.stdout.readline() == "knows the broker\n"
        with lab.kafka.standing_still():
            reader.stdin.write("\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == "gave up\n"
        said, _ = reader.communicate("\n", timeout=PATIENCE)
    assert (said, reader.returncode) == ("{}\n", 0)
