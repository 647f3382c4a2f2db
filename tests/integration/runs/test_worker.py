"""Workers that race, are killed, are asked to end, or meet commands that fail."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headgate.gateway.kafka.cluster import Kafka
from headgate.store.rows import Event, RunState
from headgate.store.worker_slots import Slot
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka
MEMBER = Path(__file__).parent / "member.py"
RUNS = "grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat member.pid)/status"


def commands(broker, group, topic):
    """Slow ones, so that a kill finds them at work; a start while it runs leaves `twice`.

    They leave `stopping`, `starting` and `started` where they are so far. While `hold` is there,
    the stop doesn't end.
    """
    member = f"nohup {sys.executable} {MEMBER} {broker} {group} {topic} > member.log 2>&1 &"
    return {
        "start": f"{RUNS} && echo >> twice; touch starting; sleep 0.5; {member}"
        " echo $! > member.pid; touch started; sleep 2",
        "stop": "touch stopping; while [ -e hold ]; do sleep 0.1; done;"
        " sleep 0.5; kill $(cat member.pid);"
        f" while {RUNS}; do sleep 0.1; done; sleep 0.5",
        "status": f"{RUNS} && exit 0 || exit 3",
    }


def register(team, group, topic, words):
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{topic}"]\n[pipeline.commands]\n',
        *(f"{word} = {json.dumps(text)}" for word, text in words.items()),
    )


@pytest.fixture
def billing(team, broker, topic, unique, groups, produce):
    """A group whose only member was started by its command."""
    orders, group = topic("orders", partitions=2), unique("billing")
    for partition in (0, 1):
        produce(orders, [str(n) for n in range(10)], partition=partition)
    groups.commit(group, {(orders, 0): (7, "by hand")})
    words = commands(broker, group, orders)
    register(team, group, orders, words)
    subprocess.run(words["start"], shell=True, cwd=team.folder, check=True)
    yield group, orders
    subprocess.run(words["stop"], shell=True, cwd=team.folder, check=False)


def start_worker(team):
    log = (team.folder / "worker.log").open("ab")
    argv = [sys.executable, "-m", "headgate.worker.main", "--config", team.config]
    return subprocess.Popen(argv, cwd=team.folder, stdout=log, stderr=log)


@pytest.fixture
def worker(team):
    started = []

    def start():
        process = start_worker(team)
        started.append(process)
        store = team.store()
        until(lambda: process.poll() is not None or not Slot(store.database).is_free())
        store.close()
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)


def begun(store, run, position):
    entries = store.journal.entries(run)
    return any(e.position == position and e.event is Event.BEGUN for e in entries)


def has_member(team, group):
    with Kafka(team.bootstrap) as kafka:
        return bool(kafka.describe_group(group).members)


def ended(store, run):
    state = store.runs.get(run).state
    return None if state.is_active else state


@pytest.mark.parametrize(
    ("position", "mark"),
    [
        pytest.param(0, "stopping", id="in-stop", marks=pytest.mark.long),
        pytest.param(2, None, id="in-reset", marks=pytest.mark.long),
        pytest.param(3, "starting", id="before-start", marks=pytest.mark.long),
        pytest.param(3, "started", id="after-start"),
    ],
)
def test_a_killed_worker_s_run_is_finished_by_the_next(
    team, worker, groups, billing, position, mark
):
    group, orders = billing
    before = groups.committed(group)
    for name in ("starting", "started"):
        (team.folder / name).unlink()
    file, _ = team.plan("billing")
    first, store = worker(), team.store()
    run = team.run("apply", str(file), "--detach")["run"]
    until(lambda: begun(store, run, position))
    if mark is not None:
        until((team.folder / mark).exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert store.runs.get(run).state is RunState.RUNNING

    worker()
    assert until(lambda: ended(store, run)) is RunState.DONE
    assert groups.committed(group) == {(orders, 0): (0, None), (orders, 1): (0, None)}
    assert not (team.folder / "twice").exists()
    done = [e.position for e in store.journal.entries(run) if e.event is Event.DONE]
    assert done == [0, 1, 2, 3]
    team.run("undo", run)
    assert groups.committed(group) == before


@pytest.mark.long
def test_a_killed_worker_s_question_to_a_person_still_waits(team, worker, groups, billing):
    """No start command: the run ends when somebody confirmed it and the group has a member."""
    group, orders = billing
    words = commands(team.bootstrap, group, orders)
    start = words.pop("start")
    register(team, group, orders, words)
    file, plan = team.plan("billing")
    assert "manual step: start billing" in plan["steps"][3]["describe"]
    first, store = worker(), team.store()
    run = team.run("apply", str(file), "--detach")["run"]
    until(lambda: store.questions.open(run))
    first.send_signal(signal.SIGKILL)
    first.wait()
    worker()
    # Time in which a run that doesn't wait would end.
    time.sleep(2)
    assert store.runs.get(run).state is RunState.RUNNING
    subprocess.run(start, shell=True, cwd=team.folder, check=True)
    until(lambda: has_member(team, group))
    # The run looks every second at the latest.
    time.sleep(3)
    # That it runs is not enough: perhaps an orchestrator did that.
    assert store.runs.get(run).state is RunState.RUNNING
    assert team.run("confirm", run, "--by", "ann")["confirmed"] == "Start billing"
    assert until(lambda: ended(store, run)) is RunState.DONE
    asked = [e for e in store.journal.entries(run) if e.event is Event.ASKED]
    assert [(e.position, e.data["word"]) for e in asked] == [(3, "start")]


@pytest.mark.long
def test_a_worker_that_is_asked_to_end_leaves_the_run_to_the_next(team, worker, billing):
    file, _ = team.plan("billing")
    (team.folder / "hold").touch()
    first, store = worker(), team.store()
    run = team.run("apply", str(file), "--detach")["run"]
    until(lambda: begun(store, run, 0))
    first.terminate()
    (team.folder / "hold").unlink()
    assert first.wait(PATIENCE) == 0
    assert store.runs.get(run).state is RunState.RUNNING
    worker()
    assert until(lambda: ended(store, run)) is RunState.DONE
    assert not (team.folder / "twice").exists()


@pytest.mark.long
def test_of_two_workers_one_gets_the_slot(team, billing):
    file, _ = team.plan("billing")
    pair = [start_worker(team) for _ in range(2)]
    until(lambda: any(p.poll() is not None for p in pair))
    run, store = team.run("apply", str(file), "--detach")["run"], team.store()
    assert until(lambda: ended(store, run)) is RunState.DONE
    codes = [p.poll() for p in pair]
    assert sorted(codes, key=str) == [3, None]
    (alive,) = (p for p in pair if p.poll() is None)
    alive.terminate()
    assert alive.wait(PATIENCE) == 0
    assert "another worker already holds slot-0" in (team.folder / "worker.log").read_text()


@pytest.mark.long
def test_a_failing_command_fails_the_run_and_a_resume_uses_the_mended_one(
    team, worker, broker, groups, billing
):
    group, orders = billing
    before = groups.committed(group)
    good = commands(broker, group, orders)
    register(team, group, orders, {**good, "start": "echo no such jar >&2; exit 7"})
    alive = worker()
    file, _ = team.plan("billing")
    failed = team.run("apply", str(file), code=5)
    assert failed["state"] == "failed" and "no such jar" in failed["error"]
    assert [s["state"] for s in failed["steps"]] == ["done", "done", "done", "failed"]
    _, again = team.plan("billing")
    assert any("part-way" in risk for risk in again["risks"])

    register(team, group, orders, good)
    resumed = team.run("resume", failed["run"])
    assert resumed["state"] == "done"
    team.run("undo", failed["run"])
    assert groups.committed(group) == before
    assert alive.poll() is None


@pytest.mark.long
def test_a_failed_run_can_be_undone_instead(team, worker, broker, groups, billing):
    group, orders = billing
    before = groups.committed(group)
    good = commands(broker, group, orders)
    register(team, group, orders, {**good, "start": "exit 7"})
    worker()
    file, _ = team.plan("billing")
    failed = team.run("apply", str(file), code=5)
    register(team, group, orders, good)
    team.run("undo", failed["run"])
    assert groups.committed(group) == before
    assert subprocess.run(good["status"], shell=True, cwd=team.folder, check=False).returncode == 0
    assert "undone" in team.run("resume", failed["run"], code=3)["error"]


def test_a_cancelled_run_stops_at_a_safe_place(team, worker, groups, billing):
    from headgate.usecases.runs.cancel_run import cancel_run

    group, _ = billing
    before = groups.committed(group)
    worker()
    file, _ = team.plan("billing")
    store = team.store()
    (team.folder / "hold").touch()
    run = team.run("apply", str(file), "--detach")["run"]
    until(lambda: begun(store, run, 0))
    cancel_run(team.context, run, by="ann")
    (team.folder / "hold").unlink()
    assert until(lambda: ended(store, run)) is RunState.CANCELLED
    assert groups.committed(group) == before
    team.run("undo", run)
    assert groups.committed(group) == before
    asked = [a.action for a in store.audit.list(run) if not a.is_of_step]
    assert asked == ["apply", "cancel", "cancelled"]


@pytest.mark.long
def test_two_runs_on_one_group_are_not_active_at_once(team, worker, billing):
    file, _ = team.plan("billing")
    worker()
    (team.folder / "hold").touch()
    run = team.run("apply", str(file), "--detach")["run"]
    refused = team.run("apply", str(file), code=3)
    assert run in refused["error"]
    (team.folder / "hold").unlink()
    store = team.store()
    assert until(lambda: ended(store, run)) is RunState.DONE


def test_ctrl_c_detaches(team, worker, billing):
    file, _ = team.plan("billing")
    worker()
    (team.folder / "hold").touch()
    store = team.store()
    process = team.popen("apply", str(file), "--format", "json")
    row = until(lambda: store.runs.list())[0]
    until(lambda: begun(store, row.id, 0))
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    (team.folder / "hold").unlink()
    assert process.returncode == 0 and f"run {row.id} continues" in err
    assert json.loads(out)["run"] == row.id
    assert until(lambda: ended(store, row.id)) is RunState.DONE
