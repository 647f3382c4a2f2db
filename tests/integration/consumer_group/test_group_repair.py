"""A group whose offset is beyond its log: what it never reads is named, and where it was last."""

from __future__ import annotations

import pytest

from headgate.usecases.activity.check_pipelines import check_pipelines
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture
def billing(team, topic, unique, produce):
    """A group over two partitions of ten records each, which nothing here starts or stops."""
    team.group, team.orders = unique("billing"), topic("orders", partitions=2)
    for number in (0, 1):
        produce(team.orders, [str(n) for n in range(10)], partition=number)
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{team.group}"\n'
    )
    return team


def repair(team, *options, code=0):
    return team.plan("billing", *options, scenario="repair", code=code)


def moves(plan):
    (step,) = [s for s in plan["steps"] if s["action"] == "reset_offsets"]
    return {(m["partition"], m["to"]) for m in step["details"]["offsets"]}


def at(groups, team):
    return [offset for _, (offset, _) in sorted(groups.committed(team.group).items())]


def test_what_is_never_read_is_named_and_nobody_is_warned_of_duplicates(billing, groups):
    orders = billing.orders
    groups.commit(billing.group, {(orders, 0): (900, ""), (orders, 1): (4, "")})
    asked = repair(billing, code=3)[1]["blockers"][0]
    assert "last-known" not in asked, "nothing knows where it was"
    refused = repair(billing, "--beyond=last-known", code=3)[1]["blockers"][0]
    assert f"the last position in {orders}[0] is unknown" in refused

    _, plan = repair(billing, "--beyond=end")
    assert moves(plan) == {(0, 10)}
    said = " ".join(plan["risks"])
    assert f"skips up to 10 records in 1 partition: {orders}[0] offsets 0 to 9" in said
    assert f"the last position in {orders}[0] is unknown" in said
    assert "second time" not in said
    assert plan["impact"]["total"] == 0 and plan["impact"]["skipped"] == {orders: 10}
    assert any("missing" in text for text in plan["outputs"]["run"])


def test_the_workers_last_look_is_a_choice_and_bounds_what_is_never_read(billing, groups):
    orders = billing.orders
    groups.commit(billing.group, {(orders, 0): (7, ""), (orders, 1): (4, "")})
    check_pipelines(billing.context)
    groups.commit(billing.group, {(orders, 0): (900, ""), (orders, 1): (4, "")})
    # A look at an offset that no log holds does not forget where the group was.
    check_pipelines(billing.context)
    asked = repair(billing, code=3)[1]["blockers"][0]
    assert f"--beyond=last-known: offset 7 of {orders}[0] (20" in asked

    _, end = repair(billing, "--beyond=end")
    assert end["impact"]["never_read"] == [f"{orders}[0] offsets 7 to 9"]
    file, plan = repair(billing, "--beyond=last-known")
    assert moves(plan) == {(0, 7)}
    assert "skipped" not in plan["impact"] or plan["impact"]["skipped"] == {}
    assert plan["impact"]["total"] == 0
    done = billing.run("apply", str(file))
    assert at(groups, billing) == [7, 4]
    billing.run("undo", done["run"])
    assert at(groups, billing) == [900, 4]


@pytest.mark.long
def test_the_journal_knows_where_a_run_left_the_group_unless_the_topic_was_recreated(
    billing, groups, kafka_admin, produce
):
    from confluent_kafka.admin import NewTopic

    orders = billing.orders
    groups.commit(billing.group, {(orders, 0): (9, ""), (orders, 1): (4, "")})
    file, _ = billing.plan("billing", "--to-offset=3", scenario="from-point")
    billing.run("apply", str(file))
    groups.commit(billing.group, {(orders, 0): (900, ""), (orders, 1): (4, "")})
    _, plan = repair(billing, "--beyond=last-known")
    assert moves(plan) == {(0, 3)}, "it was at 9 before the run, and at 3 after it"

    kafka_admin.delete_topics([orders])[orders].result()
    until(lambda: orders not in kafka_admin.list_topics(timeout=10).topics)
    kafka_admin.create_topics([NewTopic(orders, 2, 1)])[orders].result()
    produce(orders, [str(n) for n in range(10)], partition=0)
    produce(orders, [str(n) for n in range(10)], partition=1)
    groups.commit(billing.group, {(orders, 0): (900, ""), (orders, 1): (4, "")})
    refused = repair(billing, "--beyond=last-known", code=3)[1]["blockers"][0]
    assert f"the last position in {orders}[0] is unknown" in refused
