import json

import pytest

pytestmark = pytest.mark.kafka


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    """A foreign group that has committed one of two partitions, with metadata."""
    orders, group = topic("orders", partitions=2), unique("billing")
    for partition in (0, 1):
        produce(orders, [f"{partition}-{n}" for n in range(10)], partition=partition)
    groups.commit(group, {(orders, 0): (7, "by hand")})
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{orders}"]\n'
    )
    return group, orders


def test_a_reset_goes_to_the_beginning_and_its_undo_back(team, groups, billing):
    group, orders = billing
    before = groups.committed(group)
    file, plan = team.plan("billing")
    assert plan["can_apply"] and plan["blockers"] == []
    assert plan["impact"]["records"] == {orders: 7}
    reset = next(s for s in plan["steps"] if s["action"] == "reset_offsets")
    assert reset["details"]["offsets"] == [
        {"topic": orders, "partition": 0, "from": 7, "to": 0},
        {"topic": orders, "partition": 1, "from": None, "to": 0},
    ]
    assert groups.committed(group) == before

    done = team.run("apply", str(file))
    assert done["state"] == "done" and {s["state"] for s in done["steps"]} == {"done"}
    assert groups.committed(group) == {(orders, 0): (0, None), (orders, 1): (0, None)}

    undone = team.run("undo", done["run"])
    assert undone["state"] == "done"
    assert groups.committed(group) == before
    detail = team.run("runs", done["run"])
    assert {s["state"] for s in detail["steps"]} == {"undone"}
    assert not detail["can_undo"]
    assert [r["run"] for r in team.run("runs")["runs"]] == [undone["run"], done["run"]]
    said = team.run("undo", done["run"], code=3)["error"]
    assert said == f"run {done['run']} was already undone by run {undone['run']}"


def test_a_group_with_a_member_is_refused(team, groups, billing):
    group, orders = billing
    file, plan = team.plan("billing")
    member = groups.member(group, orders)
    try:
        before = groups.committed(group)
        refused = team.run("apply", str(file), code=3)
        assert refused["state"] == "refused" and "member" in refused["error"]
        _, plan = team.plan("billing", code=3)
        assert not plan["can_apply"] and "member" in plan["blockers"][0]
        assert groups.committed(group) == before
        assert team.run("runs")["runs"] == []
    finally:
        member.close()


def test_a_group_that_is_not_there_is_not_proven_empty(team, topic, unique):
    orders = topic("orders")
    team.register(
        f'[[pipeline]]\nname = "x"\nengine = "consumer-group"\ngroup = "{unique("g")}"\n'
        f'topics = ["{orders}"]\n'
    )
    _, plan = team.plan("x", code=3)
    assert "can't verify" in plan["blockers"][0]


@pytest.mark.long
def test_a_missing_topic_is_refused(team, groups, billing, unique):
    group, _ = billing
    missing = unique("nowhere")
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{missing}"]\n'
    )
    before = groups.committed(group)
    file, plan = team.plan("billing", code=3)
    assert plan["blockers"] == [
        f"topic {missing} does not exist. Check its name, or recreate the topic if it was deleted"
    ]
    team.run("apply", str(file), code=3)
    assert groups.committed(group) == before


def test_a_plan_whose_topic_was_made_anew_is_stale(team, groups, billing, kafka_admin):
    from confluent_kafka.admin import NewPartitions

    group, orders = billing
    file, _ = team.plan("billing")
    before = groups.committed(group)
    kafka_admin.create_partitions([NewPartitions(orders, 3)])[orders].result()
    refused = team.run("apply", str(file), code=3)
    assert "stale" in refused["error"] and "topics" in refused["error"]
    assert groups.committed(group) == before


@pytest.mark.long
def test_what_moves_by_itself_makes_no_plan_stale(team, groups, billing, produce):
    group, orders = billing
    file, first = team.plan("billing")
    produce(orders, ["more"], partition=0)
    groups.commit(group, {(orders, 0): (9, "later")})
    _, second = team.plan("billing")
    assert first["hash"] == second["hash"]
    done = team.run("apply", str(file))
    team.run("undo", done["run"])
    assert groups.committed(group) == {(orders, 0): (9, "later")}


def test_a_changed_file_is_no_plan(team, billing):
    file, _ = team.plan("billing")
    document = json.loads(file.read_text())
    document["steps"][2]["details"]["target"]["place"] = "end"
    file.write_text(json.dumps(document))
    assert "changed" in team.run("apply", str(file), code=2)["error"]
    document["steps"] = document["steps"][:1]
    file.write_text(json.dumps(document))
    assert "changed" in team.run("apply", str(file), code=2)["error"]


@pytest.mark.long
def test_an_undo_is_refused_while_somebody_is_in_the_group(team, groups, billing):
    group, orders = billing
    file, _ = team.plan("billing")
    done = team.run("apply", str(file))
    member = groups.member(group, orders)
    try:
        now = groups.committed(group)
        refused = team.run("undo", done["run"], code=3)
        assert "member" in refused["error"]
        assert groups.committed(group) == now
    finally:
        member.close()


@pytest.mark.long
def test_a_kafka_streams_application_that_is_not_there_is_refused(team, unique):
    team.register(
        f'[[pipeline]]\nname = "x"\nengine = "kafka-streams"\ngroup = "{unique("app")}"\n'
    )
    _, plan = team.plan("x", code=3)
    assert "not found: no application has this id" in plan["blockers"][0]
