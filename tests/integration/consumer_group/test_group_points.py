"""Restore points of a consumer group on a real broker: offsets, restored while Kafka can."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition

pytestmark = pytest.mark.kafka


@pytest.fixture
def billing(team, topic, unique, groups, produce):
    """A group that has read ten records of partition 0 and four of partition 1."""
    name, group = topic("orders", partitions=2), unique("billing")
    produce(name, [f"0-{n}" for n in range(30)], partition=0)
    produce(name, [f"1-{n}" for n in range(30)], partition=1)
    groups.commit(group, {(name, 0): (10, ""), (name, 1): (4, "")})
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{name}"]\n'
    )
    return group, name


def test_a_group_goes_back_to_the_offsets_of_a_point(team, groups, billing):
    group, name = billing
    made = team.run("restore-points", "billing", "--create")
    point = made["created"]
    assert made["points"][0]["offsets"] == {name: {"0": 10, "1": 4}}
    assert made["points"][0]["in_kafka"] is True
    assert made["points"][0]["batch"] is None
    assert made["held_bytes"] == made["bytes"] == 0
    assert team.run("restore-points", "billing", "--create")["created"] is None

    later = {(name, 0): (25, ""), (name, 1): (20, "")}
    groups.commit(group, later)
    second = team.run("restore-points", "billing", "--create")
    assert [p["id"] for p in second["points"]] == [second["created"], point]

    file, plan = team.plan("billing", f"--restore-point={point}", scenario="from-point")
    assert plan["can_apply"], plan["blockers"]
    assert plan["options"]["restore-point"] == point
    assert plan["impact"]["records"] == {name: 15 + 16}
    before = groups.committed(group)
    done = team.run("apply", str(file))
    assert {k: v[0] for k, v in groups.committed(group).items()} == {(name, 0): 10, (name, 1): 4}
    team.run("undo", done["run"])
    assert groups.committed(group) == before


def test_records_past_retention_block_the_point(team, billing, kafka_admin):
    _, name = billing
    point = team.run("restore-points", "billing", "--create")["created"]
    kafka_admin.delete_records([TopicPartition(name, 0, 13)])[TopicPartition(name, 0)].result()
    row = team.run("restore-points", "billing")["points"][0]
    assert row["in_kafka"] is False
    assert row["kafka"] == f"Kafka has deleted the records of {name}[0] from offset 10 to 12"
    _, plan = team.plan("billing", f"--restore-point={point}", scenario="from-point", code=3)
    assert not plan["can_apply"]
    assert any("retention" in reason or "earliest" in reason for reason in plan["blockers"])


def test_delete_and_unknown_points(team, billing):
    point = team.run("restore-points", "billing", "--create")["created"]
    _, plan = team.plan("billing", "--restore-point=x", scenario="from-point", code=3)
    assert plan["blockers"] == [f"billing has no restore point x; restore points: {point}"]
    assert team.run("restore-points", "billing", f"--delete={point}")["deleted"] == point
    assert team.run("restore-points", "billing")["points"] == []
    gone = team.run("restore-points", "billing", f"--delete={point}", code=2)
    assert "has no restore point" in gone["error"]
    both = team.run("restore-points", "billing", "--create", "--delete=x", code=2)
    assert "only one of" in both["error"]
