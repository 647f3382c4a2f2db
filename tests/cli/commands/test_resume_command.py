"""`headgate resume` of a run whose worker was killed, and what other commands say of it."""

import itertools
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.cli.shared import follow
from headgate.errors import StepError
from headgate.model.output_comparison import OutputComparison
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.outputs.compare_results import CompareResults
from headgate.store import open_store
from headgate.store.rows import RunState
from headgate.store.worker_slots import Slot
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.runs.apply_plan import new_run
from headgate.worker.run_journal import RunJournal

CHECKPOINT = Path(__file__).parents[2] / "golden" / "checkpoints" / "stateless_rate" / "checkpoint"
REGISTRY = """
[[pipeline]]
name = "q"
engine = "spark"
checkpoint = "ck"

[pipeline.commands]
stop = "true"
start = "true"
status = "[ -e up ] && exit 0 || exit 3"
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CHECKPOINT, "ck")
    Path("headgate.toml").write_text(REGISTRY)
    Path("up").touch()
    with closing(open_store(open_context().store_url)) as store:
        yield store


@pytest.fixture
def plan(store):
    return plan_scenario(open_context(), "pause", "q", {})


@pytest.fixture
def run(store, plan):
    """A run that the worker of slot 1 had when it was killed."""
    run = store.runs.enqueue(new_run(plan), by="ann", action="apply")
    store.runs.claim("slot-1")
    return run


def call(*argv):
    return CliRunner().invoke(headgate, argv)


def test_resume_starts_a_worker_of_the_run_s_slot(store, run, monkeypatch):
    started = []

    def start(context, slot):
        started.append(slot)
        store.runs.finish(run, RunState.DONE)

    monkeypatch.setattr(follow, "start_worker", start)
    done = call("resume", run)
    assert done.exit_code == 0, done.output
    assert started == [1]
    assert store.runs.get(run).attempt == 1
    assert [a.action for a in store.audit.list(run)] == ["apply", "resume", "done"]


@pytest.fixture
def impatient(monkeypatch):
    """Whoever follows a run looks for a worker all the time."""
    clock = itertools.count(step=2)
    monkeypatch.setattr(follow, "time", SimpleNamespace(monotonic=clock.__next__, sleep=time.sleep))


@pytest.fixture
def workers(monkeypatch):
    """The processes that were started instead of workers; each has ended, or never serves."""
    started, ended = [], []

    def start(context, slot):
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        started.append(process)
        if ended:
            process.kill()
            process.wait()
        return process

    monkeypatch.setattr(follow, "start_worker", start)
    yield SimpleNamespace(started=started, end_at_once=lambda: ended.append(True))
    for process in started:
        process.kill()
        process.wait()


def test_workers_that_exit_are_replaced_twice(store, run, workers, impatient):
    workers.end_at_once()
    done = call("resume", run)
    assert done.exit_code == 5
    assert "3 workers exited before they served it" in " ".join(done.output.split())
    assert len(workers.started) == 3


def test_a_worker_that_takes_its_time_to_start_is_the_only_one(store, run, workers, impatient):
    done = call("resume", run)
    said = " ".join(done.output.split())
    assert done.exit_code == 5, said
    (process,) = workers.started
    assert f"(process {process.pid}) is still starting after 300 s" in said
    assert process.poll() is None


def test_other_commands_name_resume(store, plan, run):
    told = f"`headgate resume {run}`"
    Path("q.json").write_text(dump_plan(plan))
    for argv in (("plan", "pause", "q"), ("undo", run), ("apply", "q.json")):
        said = " ".join(call(*argv).output.split())
        assert f"run {run} is running" in said and "but no worker executes the run" in said, said
        assert told in said
    assert (
        f"No worker is running. To continue the run: headgate resume {run}"
        in call("runs", run).output
    )
    doctor = " ".join(call("doctor").output.split())
    assert f"run {run} is running, but no worker executes the run" in doctor and told in doctor


def test_a_run_with_a_worker_is_only_followed(store, run):
    slot = Slot(store.database, 1)
    assert slot.take()
    try:
        done = call("resume", run)
        assert done.exit_code == 3
        assert f"`headgate runs --follow {run}` waits until the run ends" in done.output
        undo = " ".join(call("undo", run).output.split())
        assert f"is running: wait until the run ends, or run `headgate cancel {run}`" in undo
    finally:
        slot.release()


DIFFERENT = OutputComparison(
    a="a",
    b="b",
    equal=False,
    rows_a=6,
    rows_b=6,
    missing=0,
    extra=0,
    different=2,
    columns=(),
    samples=(),
    keys=("city",),
)


@pytest.mark.parametrize(("found", "code"), [(DIFFERENT, 1), (StepError("Spark failed"), 5)])
def test_a_difference_exits_with_another_code_than_a_run_that_broke(
    store, monkeypatch, found, code
):
    step = CompareResults(before="a", after="b", keys=("city",))
    run = store.runs.enqueue(
        new_run(plan := Plan(scenario="ab", pipeline="q", steps=(step,))), by="ann", action="apply"
    )
    applier = MagicMock()
    applier.spark_jobs.compare.side_effect = [found]

    def work(context, slot):
        store.runs.claim("slot-1")
        with pytest.raises(StepError) as error:
            Executor(applier, RunJournal(store, run, plan, undo_of=None)).apply(0, step)
        store.runs.finish(run, RunState.FAILED, error=str(error.value))

    monkeypatch.setattr(follow, "start_worker", work)
    ended = call("resume", run)
    assert ended.exit_code == code, ended.output
