"""A run that one person asks for and another one approves, over a real broker."""

from __future__ import annotations

import os

import pytest

from headgate.gateway.process.system_user import system_user
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.request_run import request_plan

pytestmark = pytest.mark.kafka


ANN = "ann (uid 1000 on a, not verified)"


@pytest.fixture
def as_other(monkeypatch):
    """The command line takes its user from the kernel; names in the environment must not count."""
    for variable in ("LOGNAME", "USER"):
        monkeypatch.setitem(os.environ, variable, "bob")


def ask_as_ann(team, offset: int) -> tuple[str, str]:
    """Request it as somebody else than the account of this test; return the id and the hash."""
    plan = plan_scenario(team.context, "from-point", "billing", {"to_offset": offset})
    return request_plan(team.context, plan, reason="orders failed", by=ANN), plan.hash


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    orders, group = topic("orders"), unique("billing")
    produce(orders, [str(n) for n in range(10)], partition=0)
    groups.commit(group, {(orders, 0): (7, "by hand")})
    team.register(f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n')
    return group, orders


def test_one_asks_another_approves_the_worker_runs_it(team, groups, billing, as_other):
    group, orders = billing
    ask = ("request", "from-point", "billing", "--to-offset=3", "--reason", "orders 3 to 7 failed")
    asked = team.run(*ask)
    assert asked["plan"]["impact"]["records"] == {orders: 4}
    own = team.run("approve", asked["request"], code=3)
    assert "another person must approve" in own["error"]
    assert groups.committed(group) == {(orders, 0): (7, "by hand")}

    request, plan = ask_as_ann(team, 3)
    wrong = team.run("approve", request, "--plan", "0" * 64, code=3)
    assert "isn't the plan that you reviewed" in wrong["error"]
    done = team.run("approve", request, "--plan", plan, "--reason", "fine")
    assert done["state"] == "done"
    assert groups.committed(group) == {(orders, 0): (3, None)}
    shown = team.run("requests", request)
    assert (shown["state"], shown["run"], shown["asked_by"], shown["decided_by"]) == (
        "approved",
        done["run"],
        ANN,
        system_user(),
    )
    assert "not verified" in shown["decided_by"]
    assert [entry["action"] for entry in shown["audit"]] == ["request", "approve"]
    assert "already" in team.run("approve", request, code=3)["error"]


def test_what_is_declined_cancelled_or_overtaken_is_not_run(
    team, groups, billing, produce, as_other
):
    group, orders = billing
    ask = ("request", "from-point", "billing", "--to-offset=3", "--reason", "why not")
    first = team.run(*ask)["request"]
    second, third = (ask_as_ann(team, 3)[0] for _ in range(2))
    refused = team.run(*ask[:3], "--to-offset=99", "--reason", "too far", code=3)
    assert "beyond the latest offset" in refused["blockers"][0]
    assert team.run("cancel", first)["cancelled"]

    assert team.run("decline", second, "--reason", "not today")["state"] == "declined"
    assert f"Run `headgate decline {third}` instead" in team.run("cancel", third, code=3)["error"]
    from confluent_kafka.admin import AdminClient, NewPartitions

    admin = AdminClient({"bootstrap.servers": groups.bootstrap})
    admin.create_partitions([NewPartitions(orders, 2)])[orders].result()
    stale = team.run("approve", third, code=3)
    assert "the plan is stale" in stale["error"]
    assert f"Decline the request with `headgate decline {third}`" in stale["error"]
    assert f"{first} was already cancelled" in team.run("approve", first, code=3)["error"]
    assert groups.committed(group) == {(orders, 0): (7, "by hand")}
    states = {row["request"]: row["state"] for row in team.run("requests")["requests"]}
    assert states == {first: "cancelled", second: "declined", third: "open"}
    assert team.run("runs")["runs"] == []
