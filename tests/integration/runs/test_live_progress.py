"""How far a run and its pipeline are, and where a cancelled run leaves things, on a real broker."""

from __future__ import annotations

import pytest

from headgate.usecases.runs.read_catch_up import pace, read_positions
from headgate.usecases.runs.read_run import read_run
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    """A stopped group that has read 60 of 60 records in three partitions."""
    orders, group = topic("orders", partitions=3), unique("billing")
    for partition in range(3):
        produce(orders, [str(n) for n in range(20)], partition=partition)
    groups.commit(group, {(orders, n): (20, "") for n in range(3)})
    team.table = (
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{orders}"]\n'
    )
    team.register(team.table)
    return group, orders


@pytest.mark.long
def test_counts_of_a_run_and_how_its_pipeline_catches_up(team, groups, produce, billing):
    group, orders = billing
    file, _ = team.plan("billing")
    done = team.run("apply", str(file))
    shown = team.run("runs", done["run"])
    (count,) = [c for c in shown["counts"] if c["unit"] == "partitions"]
    moved = [s["action"] for s in shown["steps"]].index("reset_offsets")
    assert (count["position"], count["done"], count["total"]) == (moved, 3, 3)
    each = ["step begun", "step done"] * len(shown["steps"])
    assert [entry["action"] for entry in shown["audit"]] == ["apply", *each, "done"]

    detail = read_run(team.context, done["run"])
    first = read_positions(team.context, detail)
    assert (first.done, first.left, first.at_end, first.partitions) == (0, 60, 0, 3)

    # Two partitions are read again while a producer keeps writing to the third.
    groups.commit(group, {(orders, 0): (20, ""), (orders, 1): (20, ""), (orders, 2): (5, "")})
    produce(orders, ["new"] * 4, partition=2)
    last = read_positions(team.context, detail)
    assert (last.done, last.left, last.at_end) == (45, 19, 2)
    found = pace(first, last)
    assert found.reads == pytest.approx(45 / (last.at - first.at))
    assert found.arrives == pytest.approx(4 / (last.at - first.at))

    groups.commit(group, {(orders, n): (24 if n == 2 else 20, "") for n in range(3)})
    followed = team.run("runs", done["run"], "--follow")
    assert (followed["catch_up"]["done"], followed["catch_up"]["left"]) == (64, 0)


def test_a_cancelled_run_says_where_it_leaves_things(team, groups, billing):
    group, _orders = billing
    before = groups.committed(group)
    # The stop takes a while, and what it says after it is waited for: there a run can stop.
    team.register(
        team.table,
        '[pipeline.commands]\nstop = "touch asked"\nstart = "rm -f asked"\nstatus = "exit 0"\n',
    )
    file, plan = team.plan("billing")
    assert plan["can_apply"], plan["blockers"]
    run = team.run("apply", str(file), "--detach")["run"]
    until((team.folder / "asked").exists, team.worker_log)
    cancelled = team.run("cancel", run, "--wait")
    assert cancelled["state"] == "cancelled"
    told = " ".join(cancelled["state_after"])
    assert "Step 1 may be partly applied: stop billing" in told
    assert f"headgate undo {run}" in told
    assert groups.committed(group) == before
    # What the page and `runs` say is the same.
    assert team.run("runs", run)["state_after"] == cancelled["state_after"]
