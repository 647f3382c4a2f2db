"""A run that one person asks for and another one approves, over a real broker."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.kafka


@pytest.fixture
def as_user(monkeypatch):
    """The command line takes its user from the system; a name in the environment goes first."""

    def become(name: str) -> None:
        for variable in ("LOGNAME", "USER"):
            monkeypatch.setitem(os.environ, variable, name)

    return become


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    orders, group = topic("orders"), unique("billing")
    produce(orders, [str(n) for n in range(10)], partition=0)
    groups.commit(group, {(orders, 0): (7, "by hand")})
    team.register(f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n')
    return group, orders


def test_one_asks_another_approves_the_worker_runs_it(team, groups, billing, as_user):
    group, orders = billing
    as_user("ann")
    ask = ("request", "from-point", "billing", "--to-offset=3", "--reason", "orders 3 to 7 failed")
    asked = team.run(*ask)
    assert asked["plan"]["impact"]["records"] == {orders: 4}
    request = asked["request"]
    assert groups.committed(group) == {(orders, 0): (7, "by hand")}
    own = team.run("approve", request, code=3)
    assert "somebody else decides" in own["error"]

    as_user("bob")
    wrong = team.run("approve", request, "--plan", "0" * 64, code=3)
    assert "not for the plan that was looked at" in wrong["error"]
    done = team.run("approve", request, "--plan", asked["plan"]["hash"], "--reason", "fine")
    assert done["state"] == "done"
    assert groups.committed(group) == {(orders, 0): (3, None)}
    shown = team.run("requests", request)
    assert (shown["state"], shown["run"], shown["asked_by"], shown["decided_by"]) == (
        "approved",
        done["run"],
        "ann",
        "bob",
    )
    assert [entry["action"] for entry in shown["audit"]] == ["request", "approve"]
    assert "already" in team.run("approve", request, code=3)["error"]


def test_what_is_declined_withdrawn_or_overtaken_is_not_run(
    team, groups, billing, produce, as_user
):
    group, orders = billing
    ask = ("request", "from-point", "billing", "--to-offset=3", "--reason", "why not")
    as_user("ann")
    first, second, third = (team.run(*ask)["request"] for _ in range(3))
    refused = team.run(*ask[:3], "--to-offset=99", "--reason", "too far", code=3)
    assert "beyond the end" in refused["refusals"][0]
    assert team.run("cancel", first)["cancelled"]

    as_user("bob")
    assert team.run("decline", second, "--reason", "not today")["state"] == "declined"
    assert "declines it" in team.run("cancel", third, code=3)["error"]
    from confluent_kafka.admin import AdminClient, NewPartitions

    admin = AdminClient({"bootstrap.servers": groups.bootstrap})
    admin.create_partitions([NewPartitions(orders, 2)])[orders].result(10)
    stale = team.run("approve", third, code=3)
    assert "the world moved since the plan was made" in stale["error"]
    assert groups.committed(group) == {(orders, 0): (7, "by hand")}
    states = {row["request"]: row["state"] for row in team.run("requests")["requests"]}
    assert states == {first: "withdrawn", second: "declined", third: "open"}
    assert team.run("runs")["runs"] == []
