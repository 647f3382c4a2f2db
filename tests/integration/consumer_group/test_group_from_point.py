"""From an offset or time on a real broker: what is committed, and what a member then reads."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, Producer

from headgate.text.times import from_milliseconds, iso

pytestmark = pytest.mark.kafka

MINUTE = 60_000
# An hour ago: records that are much older are deleted by the topic's own retention.
FIRST = int(time.time() // 60 - 60) * MINUTE


@pytest.fixture
def minutes(team, broker, topic, unique, groups):
    """One record a minute, ten of them in partition 0, every second in partition 1."""
    name, group = topic("minutes", partitions=3), unique("minutes")
    producer = Producer({"bootstrap.servers": broker})
    for n in range(10):
        producer.produce(name, f"0-{n}", partition=0, timestamp=FIRST + n * MINUTE)
        if n % 2 == 0:
            producer.produce(name, f"1-{n}", partition=1, timestamp=FIRST + n * MINUTE)
    assert producer.flush(30) == 0
    groups.commit(group, {(name, 0): (10, "done"), (name, 1): (5, "")})
    team.register(
        f'[[pipeline]]\nname = "minutes"\nengine = "consumer-group"\ngroup = "{group}"\n'
        f'topics = ["{name}"]\n'
    )
    return group, name


def read_on(broker: str, group: str) -> set[str]:
    """What a member of the group is given next, until nothing comes any more."""
    consumer = Consumer(
        {"bootstrap.servers": broker, "group.id": group, "enable.auto.commit": False}
    )
    with_topics = [t for t in consumer.list_topics(timeout=10).topics if t.startswith("minutes")]
    consumer.subscribe(with_topics)
    # The quiet itself is asked for: 15 s until the first record, 2 s after each.
    found, quiet = set(), time.monotonic() + 15
    while time.monotonic() < quiet:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            found.add(message.value().decode())
            quiet = time.monotonic() + 2
    consumer.close()
    return found


def test_a_time_is_one_point_over_all_partitions_and_its_undo_goes_back(
    team, broker, groups, minutes
):
    group, name = minutes
    before = groups.committed(group)
    at = f"--to-datetime={iso(from_milliseconds(FIRST + 7 * MINUTE))}"
    _, asked = team.plan("minutes", at, scenario="from-point", code=3)
    assert f"{name}[2] has no record at or after" in asked["blockers"][0]
    assert groups.committed(group) == before

    file, plan = team.plan("minutes", at, "--no-record=leave", scenario="from-point")
    assert plan["impact"]["records"] == {name: 3 + 1}
    done = team.run("apply", str(file))
    assert groups.committed(group) == {(name, 0): (7, None), (name, 1): (4, None)}
    assert read_on(broker, group) == {"0-7", "0-8", "0-9", "1-8"}

    team.run("undo", done["run"])
    assert groups.committed(group) == before


@pytest.mark.long
def test_a_file_and_another_group_name_every_partition(team, groups, minutes, tmp_path, unique):
    group, name = minutes
    rows = tmp_path / "offsets.csv"
    rows.write_text(f'"{name}",0,3\r\n{name},1,1\r\n')
    file, _ = team.plan("minutes", f"--from-file={rows}", scenario="from-point")
    rows.unlink()
    team.run("apply", str(file))
    assert groups.committed(group) == {(name, 0): (3, None), (name, 1): (1, None)}

    other = unique("other")
    groups.commit(other, {(name, 0): (6, "its own")})
    file, _ = team.plan("minutes", f"--from-group={other}", scenario="from-point")
    team.run("apply", str(file))
    assert groups.committed(group) == {(name, 0): (6, None), (name, 1): (1, None)}


def test_what_kafkas_tools_accept_is_refused(team, groups, minutes):
    group, name = minutes
    before = groups.committed(group)
    _, beyond = team.plan("minutes", "--to-offset=999", scenario="from-point", code=3)
    assert f"offset 999 of {name}[0] is beyond the latest offset" in beyond["blockers"][0]
    _, typo = team.plan(
        "minutes", "--to-earliest", "--topic=minuets", scenario="from-point", code=3
    )
    assert typo["blockers"] == [
        "topic minuets does not exist. Check its name, or recreate the topic if it was deleted"
    ]
    wrong = team.run("plan", "from-point", "minutes", "--to-datetime=yesterday", code=2)
    assert "expected a time such as" in wrong["error"]
    assert groups.committed(group) == before
