"""A real group's code is upgraded and taken back, and offsets outside their logs are mended."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.waiting import until

pytestmark = pytest.mark.kafka
STAND_IN = Path(__file__).parents[2] / "scenes" / "stand_in.py"


@pytest.fixture
def billing(team, topic, produce, unique, broker):
    """A stopped group that has read 6 of 8 records; `code` names the version that is deployed."""
    team.orders, team.group = topic("orders", partitions=2), unique("billing")
    for partition in (0, 1):
        produce(team.orders, ["late", "a", "a", "b"], partition=partition)
    # A number alone may be another process's by now; what has ended has no command line.
    runs = f"grep -qsaF {team.group} /proc/$(cat member.pid)/cmdline"
    program = f"{sys.executable} {STAND_IN} group {broker} out.jsonl {team.orders}"
    commands = {
        "start": f"nohup {program} --group {team.group} > log 2>&1 & echo $! > member.pid",
        "stop": f"[ -e member.pid ] || exit 0; kill $(cat member.pid) 2>/dev/null;"
        f" while {runs}; do sleep 0.1; done",
        "status": f"[ -e member.pid ] && {runs} && exit 0 || exit 3",
        "deploy": "echo new > code",
        "rollback": "echo old > code",
    }
    team.register(
        f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{team.group}"\n'
        "[pipeline.commands]\n",
        *(f"{word} = {json.dumps(text)}" for word, text in commands.items()),
    )
    yield team
    subprocess.run(commands["stop"], shell=True, cwd=team.folder, check=False)


def read_by(team):
    """What the member has read, as partitions and offsets."""
    file = team.folder / "out.jsonl"
    lines = map(json.loads, file.read_text().splitlines() if file.exists() else ())
    return [(line["part"], line["offset"]) for line in lines if "part" in line]


def test_a_group_goes_on_with_new_code_and_its_undo_puts_the_offsets_back(billing, groups):
    team, orders = billing, billing.orders
    groups.commit(team.group, {(orders, 0): (3, "mine"), (orders, 1): (3, "")})
    kept = groups.committed(team.group)
    file, plan = team.plan("billing", scenario="offline-upgrade")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "record_offsets",
        "back_up_offsets",
        "deploy_version",
        "start_version",
        "verify_version",
    ]
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    assert (team.folder / "code").read_text() == "new\n"
    # Exactly what was not read yet, in order.
    assert sorted(read_by(team)) == [(f"{orders}-0", 3), (f"{orders}-1", 3)]

    undone = team.run("undo", done["run"])
    assert undone["state"] == "done"
    assert (team.folder / "code").read_text() == "old\n"
    assert groups.committed(team.group) == kept


@pytest.mark.long
def test_offsets_that_no_log_holds_are_mended_and_no_others(billing, groups, kafka_admin):
    from confluent_kafka import TopicPartition

    team, orders = billing, billing.orders
    assert "nothing to repair" in team.plan("billing", scenario="repair", code=3)[1]["blockers"][0]
    kafka_admin.delete_records([TopicPartition(orders, 0, 2)])[TopicPartition(orders, 0)].result()
    groups.commit(team.group, {(orders, 0): (1, "before"), (orders, 1): (9, "")})
    before = groups.committed(team.group)
    asked = team.plan("billing", scenario="repair", code=3)[1]["blockers"][0]
    assert (
        f"the committed offset in these partitions is after the latest offset: {orders}[1]. If"
        in asked
    )

    file, plan = team.plan("billing", "--beyond", "end", scenario="repair")
    assert plan["can_apply"], plan["blockers"]
    # Where the group was is not known: any record of that log may be one that it never reads.
    assert plan["impact"]["never_read"] == [f"{orders}[1] offsets 0 to 3"]
    assert plan["impact"]["skipped"] == {orders: 4}
    done = team.run("apply", str(file))
    reset = next(s for s in plan["steps"] if s["action"] == "reset_offsets")
    assert {(m["partition"], m["from"], m["to"]) for m in reset["details"]["offsets"]} == {
        (0, 1, 2),
        (1, 9, 4),
    }
    # The member that was started reads what was left: nothing is skipped, nothing read twice.
    until(lambda: len(read_by(team)) >= 2)
    assert read_by(team) == [(f"{orders}-0", 2), (f"{orders}-0", 3)]
    team.run("undo", done["run"])
    assert groups.committed(team.group) == before
