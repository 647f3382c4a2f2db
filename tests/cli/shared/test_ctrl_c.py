"""Ctrl-C ends a command before its run is queued; afterwards the run continues without it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.reprocess.plan import dump_plan
from headgate.store import open_store
from headgate.store.rows import Event, RunState
from headgate.store.worker_slots import Slot
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.request_run import request_plan
from headgate.usecases.runs.apply_plan import new_run
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow  # A process each.
CHECKPOINT = Path(__file__).parents[2] / "golden" / "checkpoints" / "stateless_rate" / "checkpoint"
REGISTRY = """
[[pipeline]]
name = "q"
engine = "spark"
checkpoint = "ck"
[pipeline.commands]
start = "touch up"
stop = "rm -f up"
status = "[ -e up ] && exit 0 || exit 3"
"""
# Presses Ctrl-C right after a function of ours returned; what Python raises then is swallowed on
# demand, as by a library's clean-up.
PROGRAM = """
import importlib, os, signal, sys
from headgate.cli.main import main

name, swallows, *sys.argv[1:] = sys.argv[1:]
module, _, attribute = name.partition(":")
*path, attribute = attribute.split(".")
owner = importlib.import_module(module)
for step in path:
    owner = getattr(owner, step)
real = getattr(owner, attribute)

def pressed(*args, **kwargs):
    found = real(*args, **kwargs)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        if not int(swallows):
            raise
    return found

setattr(owner, attribute, pressed)
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
# What queues in each command, and the last of what it looks at before.
QUEUES = {
    "apply": "headgate.store.sqlite_reader:_Runs.enqueue",
    "undo": "headgate.store.runs:Runs.enqueue",
    "resume": "headgate.store.runs:Runs.requeue",
    "approve": "headgate.store.requests:Requests.approve",
}
CHECKS = {
    "apply": "headgate.usecases.runs.apply_plan:approved_now",
    "undo": "headgate.usecases.runs.undo_run:plan_undo",
    "resume": "headgate.usecases.runs.resume_run:_refuse_if_overtaken",
    "approve": "headgate.usecases.requests.decide_request:approved_now",
}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store whose slot is taken: no worker starts, and what is queued stays so."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CHECKPOINT, "ck")
    Path("headgate.toml").write_text(REGISTRY)
    Path("up").touch()
    store = open_store(open_context().store_url)
    slot = Slot(store.database)
    assert slot.take()
    yield store
    slot.release()
    store.close()


@pytest.fixture
def plan(store):
    return plan_scenario(open_context(), "pause", "q", {})


def argument(command, store, plan):
    """Make what the command acts on, and return it."""
    if command == "approve":
        return request_plan(open_context(), plan, reason="maintenance", by="ann")
    if command == "apply":
        file = Path("q.plan.json")
        file.write_text(dump_plan(plan))
        return str(file)
    run = store.runs.enqueue(new_run(plan), by="ann", action="apply")
    store.runs.claim("slot-0")
    store.journal.add(run, 0, Event.BEGUN, {"was": {"running": True}})
    if command == "undo":
        store.journal.add(run, 0, Event.DONE, {})
    store.runs.finish(run, RunState.FAILED)
    return run


def press(command, at, argument, swallows=False):
    """Run a command and press Ctrl-C right after `at` returned."""
    argv = [sys.executable, "-c", PROGRAM, at, str(int(swallows)), command, argument]
    return subprocess.run(
        [*argv, "--format", "json"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize("command", QUEUES)
def test_after_the_run_is_queued_it_detaches(command, store, plan):
    done = press(command, QUEUES[command], argument(command, store, plan))
    run = store.runs.list()[0]
    assert done.returncode == 0, done.stderr
    assert run.state is RunState.QUEUED
    assert f"Detached: run {run.id} continues; see `headgate runs {run.id}`" in done.stderr
    assert json.loads(done.stdout)["run"] == run.id


@pytest.mark.parametrize(("command", "swallows"), [("apply", False), *((c, True) for c in CHECKS)])
def test_before_it_ends_the_command_and_nothing_is_queued(command, swallows, store, plan):
    done = press(command, CHECKS[command], argument(command, store, plan), swallows)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr.endswith("Interrupted.\n")
    assert [r for r in store.runs.list() if r.state.is_active] == []
