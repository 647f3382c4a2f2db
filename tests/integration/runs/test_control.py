"""A person stands in for a command, over a real group: asked, confirmed, proven; then paused."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from headgate.errors import RefusedError
from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from support.waiting import until

pytestmark = pytest.mark.kafka
MEMBER = Path(__file__).with_name("member.py")


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    """A group with one live member in another process, which a person has to stop."""
    orders, group = topic("orders", partitions=2), unique("billing")
    for partition in (0, 1):
        produce(orders, [f"{partition}-{n}" for n in range(10)], partition=partition)
    groups.commit(group, {(orders, 0): (7, ""), (orders, 1): (5, "")})
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        '[pipeline.commands]\nstop = { ask = "Stop billing on its host" }\n'
        'start = { ask = "Start billing on its host" }\n'
        "notify = 'echo \"$HEADGATE_MESSAGE\" >> told'\n"
    )
    members = []

    def start():
        argv = [sys.executable, str(MEMBER), team.bootstrap, group, orders]
        members.append(subprocess.Popen(argv))

    start()
    until(lambda: _members(team, group) == 1)
    yield group, orders, members, start
    for process in members:
        process.kill()
        process.wait()


def _members(team, group):
    from headgate.gateway.kafka.cluster import Kafka

    with Kafka(team.bootstrap) as kafka:
        return len(kafka.describe_group(group).members)


def _waits_for(team, run):
    """Wait until the run asks a person, and return its question."""
    with closing(team.store()) as store:
        return until(lambda: store.questions.open(run), f"run {run} asks nobody")


def _ended(team, run):
    """Wait for the run's end and return it as the command shows it."""
    with closing(team.store()) as store:
        until(lambda: not store.runs.get(run).state.is_active)
    return team.run("runs", run)


def test_a_person_stops_it_confirms_and_is_not_simply_believed(team, groups, billing):
    group, orders, members, start = billing
    file, plan = team.plan("billing", "--to-earliest", scenario="from-point")
    assert plan["can_apply"]
    assert plan["steps"][0]["details"]["command"] == "manual step: Stop billing on its host"
    run = team.run("apply", str(file), "--detach")["run"]
    asked = _waits_for(team, run)
    assert (asked.word, asked.request) == ("stop", "Stop billing on its host")
    assert groups.committed(group)[orders, 0][0] == 7

    # Killed, it stays a member until its session times out: the run waits for that, too.
    os.kill(members[0].pid, signal.SIGKILL)
    members[0].wait()
    assert _members(team, group) == 1
    team.run("confirm", run, "--by", "ann")
    asked = _waits_for(team, run)
    assert asked.word == "start"
    assert _members(team, group) == 0
    assert {p: o for p, (o, _) in groups.committed(group).items()} == {
        (orders, 0): 0,
        (orders, 1): 0,
    }
    start()
    team.run("confirm", run)
    detail = _ended(team, run)
    assert (detail["state"], detail["waits_for"]) == ("done", None)
    said = [(a["action"], a["by"].partition(" ")[0]) for a in detail["audit"]]
    assert ("confirm", "ann") in said
    assert len([action for action, _ in said if action == "confirm"]) == 2
    assert "no longer waits for a manual step" in team.run("confirm", run, code=3)["error"]


@pytest.mark.long
def test_a_confirmed_stop_that_did_not_happen_is_cancelled_with_nothing_done(team, groups, billing):
    group, *_ = billing
    before = groups.committed(group)
    file, _ = team.plan("billing", "--to-earliest", scenario="from-point")
    run = team.run("apply", str(file), "--detach")["run"]
    _waits_for(team, run)
    team.run("confirm", run)
    with closing(team.store()) as store:
        until(lambda: any("confirmed" in n.message for n in store.journal.notes(run)))
    team.run("cancel", run, "--wait")
    assert team.run("runs", run)["state"] == "cancelled"
    assert groups.committed(group) == before
    assert _members(team, group) == 1


@pytest.mark.long
def test_a_pause_is_shown_with_since_and_by_whom_until_it_is_resumed(team, billing):
    group, _, members, start = billing
    file, plan = team.plan("billing", scenario="pause")
    assert plan["can_apply"]
    run = team.run("apply", str(file), "--detach")["run"]
    _waits_for(team, run)
    members[0].terminate()
    members[0].wait()
    team.run("confirm", run)
    row = _ended(team, run)
    (paused,) = team.run("runs")["paused"]
    assert paused == {
        "pipeline": "billing",
        "run": run,
        "since": row["ended_at"],
        "by": row["created_by"],
    }
    assert "has no members. Unread records: 8" in str(row["progress"])
    back = team.run("undo", run, "--detach")["run"]
    _waits_for(team, back)
    start()
    team.run("confirm", back)
    assert _ended(team, back)["state"] == "done"
    assert team.run("runs")["paused"] == []
    assert _members(team, group) == 1
    told = (team.folder / "told").read_text().splitlines()
    assert [line.partition(" (run")[0] for line in told] == [
        "billing is paused",
        "billing is being resumed",
    ]


def test_a_static_member_that_left_in_order_counts_until_its_session_ends(
    team, topic, unique, produce
):
    from confluent_kafka import Consumer

    orders, group = topic("orders"), unique("static")
    produce(orders, ["1"])
    team.register(f'[[pipeline]]\nname = "static"\nengine = "consumer-group"\ngroup = "{group}"\n')
    consumer = Consumer(
        {
            "bootstrap.servers": team.bootstrap,
            "group.id": group,
            "group.instance.id": "one",
            "session.timeout.ms": 6000,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([orders])
    until(lambda: consumer.poll(0.5) is not None)
    consumer.commit(asynchronous=False)
    consumer.close()
    context = team.context
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        with pytest.raises(RefusedError, match=r"has 1 member"):
            check_stopped(inspector, "static", group=group)
        until(lambda: not inspector.kafka.group(group).members)
        check_stopped(inspector, "static", group=group)
