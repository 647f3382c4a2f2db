"""A Kafka Streams application counts again; a group that reads its counts skips the old ones."""

from __future__ import annotations

import json
import subprocess

import pytest

from integration.kafka_streams.test_reset_streams import app, by_key
from integration.spark.chain_queries import member_entry
from scenes.generations import generations
from support import resettable
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.long]
__all__ = ["app"]


@pytest.fixture
def counted(team, broker, app, class_path, unique, groups):
    """The application and the group at work, all of the history counted and read."""
    words = resettable.argv(
        class_path, "rekeyed", broker,
        application_id=app, prefix=app, state_dir=team.folder / "state", describe=team.folder,
        session_timeout_ms=6000, heartbeat_interval_ms=500,
    )  # fmt: skip
    commands = resettable.commands(words, team.folder / "state")
    table = "\n".join(f"{word} = {json.dumps(text)}" for word, text in commands.items())
    entry, member = member_entry(team, "billing", unique("billing"), f"{app}-out")
    team.register(
        f'[[pipeline]]\nname = "app"\nengine = "kafka-streams"\ngroup = "{app}"\n'
        f'evidence = ["rekeyed.txt"]\n[pipeline.commands]\n{table}\n',
        entry,
    )
    resettable.produce(broker, f"{app}-in", resettable.HISTORY)
    # The application whose id begins with that of this one.
    groups.commit(f"{app}-2", {(f"{app}-in", 0): (1, "")})
    both = (commands, member)
    for found in both:
        subprocess.run(found["start"], shell=True, cwd=team.folder, check=True)
    out, size = team.folder / "billing.jsonl", len(resettable.HISTORY)
    until(lambda: _read(out, app) == list(range(size)), "not all was counted and read")
    team.run("capture", str(team.folder / "rekeyed.txt"), "--pipeline", "app")
    yield out
    for found in both:
        subprocess.run(found["stop"], shell=True, cwd=team.folder, check=False)


def _read(out, name, since=0):
    """The offsets that the members read of the only partition, from a life on."""
    return [n for life in generations(out)[since:] for n in life.read.get(f"{name}-out-0", ())]


def test_a_group_reads_each_new_count_once(team, broker, app, counted):
    size = len(resettable.HISTORY)
    file, plan = team.plan("app", "--to-earliest", scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    rows = [(r["pipeline"], r["choice"]) for r in plan["impact"]["chain"]]
    assert rows == [("app", "reset"), ("billing", "skip")]
    assert team.run("apply", str(file))["state"] == "done"
    until(lambda: len(_read(counted, app)) == 2 * size, "not all was counted again")
    assert _read(counted, app, since=1) == list(range(size, 2 * size))
    written = resettable.read(broker, f"{app}-out")[size:]
    assert by_key(written) == resettable.rekeyed(resettable.read(broker, f"{app}-in"))


def test_no_choice_is_correct_for_state_that_has_no_history(team, app, counted):
    """The plan says so, and what a choice of its own brings about."""
    text = (team.folder / "headgate.toml").read_text()
    table = '[[pipeline]]\nname = "up"\nengine = "kafka-streams"\ngroup = "up"\nevidence = ["u"]\n'
    up = (team.folder / "rekeyed.txt").read_text().replace(f"{app}-in", "up-in")
    (team.folder / "u").write_text(up.replace(f"{app}-out", f"{app}-in"))
    (team.folder / "headgate.toml").write_text(f"{text}\n{table}")
    asked = ("up", "--at=2026-01-01T00:00:00Z")
    _, plan = team.plan(*asked, scenario="chain", code=3)
    assert any(b.startswith("app: Kafka Streams keeps no old state") for b in plan["blockers"])
    _, plan = team.plan(*asked, "--choose=app=skip", scenario="chain", code=3)
    assert any("counted twice" in risk for risk in plan["risks"])
