"""A real query, started and stopped by registered commands, reset and undone."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
QUERY = Path(__file__).parent / "query.py"
# A killed process that nobody has reaped yet runs no more: its state is Z.
RUNS = "grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat query.pid)/status"


@pytest.fixture
def counts(team, topic, produce, broker):
    """A pipeline that runs: it has read 20 records and waits for more."""
    orders, checkpoint = topic("orders", partitions=2), team.folder / "checkpoint"
    produce(orders, [f"city-{n % 3}" for n in range(20)])
    start = f"nohup {sys.executable} {QUERY} {broker} {orders} {checkpoint} > query.log 2>&1 &"
    commands = {
        "start": f"{start} echo $! > query.pid",
        "stop": f"kill $(cat query.pid); while {RUNS}; do sleep 0.1; done",
        "status": f"{RUNS} && exit 0 || exit 3",
    }
    team.register(
        '[[pipeline]]\nname = "counts"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        "[pipeline.commands]\n",
        *(f"{word} = {json.dumps(text)}" for word, text in commands.items()),
    )
    subprocess.run(commands["start"], shell=True, cwd=team.folder, check=True)
    until(lambda: committed(checkpoint) == {orders: 20})
    yield orders, checkpoint
    subprocess.run(commands["stop"], shell=True, cwd=team.folder, check=False)


def committed(checkpoint):
    """Records read by batches that are done, by topic; empty while the last one is not."""
    found = read_checkpoint(str(checkpoint))
    if found is None or found.last_commit_batch != found.last_offset_batch:
        return {}
    return {topic: sum(parts.values()) for topic, parts in found.offsets.items()}


def status(team):
    script = f"{RUNS} && exit 0 || exit 3"
    return subprocess.run(script, shell=True, cwd=team.folder, check=False).returncode


def test_a_query_begins_anew_and_goes_back_byte_for_byte(team, counts, produce):
    orders, checkpoint = counts
    file, plan = team.plan("counts")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "snapshot_checkpoint",
        "replace_checkpoint",
        "start_pipeline",
    ]
    assert plan["impact"]["records"] == {orders: 20}
    old = read_checkpoint(str(checkpoint))

    done = team.run("apply", str(file))
    assert done["state"] == "done"
    assert read_checkpoint(str(checkpoint)).query_id != old.query_id
    until(lambda: committed(checkpoint) == {orders: 20})
    followed = team.run("runs", done["run"], "--follow")["catch_up"]
    assert (followed["done"], followed["left"], followed["at_end"]) == (20, 0, 2)
    assert followed["batch"] == read_checkpoint(str(checkpoint)).last_commit_batch
    aside = team.folder / f".checkpoint.before-{done['run']}"
    kept = tree_hash(aside)
    assert kept == tree_hash(team.folder / ".headgate" / "runs" / done["run"] / "checkpoint")

    produce(orders, ["city-9"] * 5)
    until(lambda: committed(checkpoint) == {orders: 25})
    undone = team.run("undo", done["run"])
    assert undone["state"] == "done"
    detail = team.run("runs", undone["run"])
    assert any(kept[:12] in note["message"] for note in detail["progress"])
    assert read_checkpoint(str(checkpoint)).query_id == old.query_id
    assert not aside.exists()
    # The old query goes on where it stopped: 5 records came since.
    until(lambda: committed(checkpoint) == {orders: 25})
    assert read_checkpoint(str(checkpoint)).last_commit_batch == old.last_commit_batch + 1


@pytest.mark.long
def test_a_query_that_goes_on_after_the_stop_is_refused_and_left_alone(team, counts, produce):
    orders, checkpoint = counts
    text = (team.folder / "headgate.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith(("stop", "status"))]
    (team.folder / "headgate.toml").write_text("\n".join([*lines, 'stop = "true"']))
    file, _ = team.plan("counts")
    before = read_checkpoint(str(checkpoint)).query_id
    process = team.popen("apply", str(file), "--format", "json")
    while process.poll() is None:
        produce(orders, ["city-1"])
        time.sleep(0.3)
    out, err = process.communicate()
    assert process.returncode == 3, err
    assert "still runs" in json.loads(out)["error"]
    assert read_checkpoint(str(checkpoint)).query_id == before
    assert status(team) == 0
    assert not list(team.folder.glob(".checkpoint.*"))
