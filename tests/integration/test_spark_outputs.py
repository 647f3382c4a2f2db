"""A real query begins anew into an emptied folder: each record once, and back again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
QUERY = Path(__file__).parent / "rows_to_files.py"
# A killed process that nobody has reaped yet runs no more: its state is Z.
RUNS = "grep -qs '^State:[[:space:]]*[^ZX]' /proc/$(cat query.pid)/status"


@pytest.fixture
def rows(team, topic, produce, broker):
    """A pipeline that runs, has written twenty records to files, and is known by its progress."""
    orders, out = topic("orders", partitions=2), team.folder / "out"
    produce(orders, [f"city-{n}" for n in range(20)])
    program = f"{sys.executable} {QUERY} {broker} {orders} {team.folder / 'checkpoint'} {out}"
    start = f"nohup {program} progress.json > query.log 2>&1 & echo $! > query.pid"
    commands = {
        "start": start,
        "stop": f"kill $(cat query.pid); while {RUNS}; do sleep 0.1; done",
        "status": f"{RUNS} && exit 0 || exit 3",
    }
    team.register(
        '[[pipeline]]\nname = "rows"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        "[pipeline.commands]\n",
        *(f"{word} = {json.dumps(text)}" for word, text in commands.items()),
    )
    subprocess.run(start, shell=True, cwd=team.folder, check=True)
    wait_for(lambda: len(read(out)) == 20 and (team.folder / "progress.json").exists(), team)
    team.run("capture", "progress.json", "--pipeline", "rows")
    yield orders, out
    subprocess.run(commands["stop"], shell=True, cwd=team.folder, check=False)


def read(out: Path) -> list[tuple[int, int, str]]:
    """What a reader of the sink sees: the files that its log names, each row as often as it is."""
    log = out / "_spark_metadata"
    if not log.exists():
        return []
    names = [
        json.loads(line)["path"].rpartition("/")[2]
        for batch in log.iterdir()
        if not batch.name.startswith(".")
        for line in batch.read_text().splitlines()[1:]
    ]
    lines = [line for name in sorted(set(names)) for line in (out / name).read_text().splitlines()]
    return sorted((r["partition"], r["offset"], r["value"]) for r in map(json.loads, lines))


def truth(consume, topic: str, count: int) -> list[tuple[int, int, str]]:
    return sorted((m.partition(), m.offset(), m.value().decode()) for m in consume(topic, count))


def wait_for(condition, team, seconds=240):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, (team.folder / "query.log").read_text()[-3000:]
        time.sleep(0.3)


def test_the_files_of_before_make_place_and_come_back(team, rows, produce, consume):
    orders, out = rows
    file, plan = team.plan("rows", "--outputs=empty")
    assert plan["appliable"], plan["refusals"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "snapshot_checkpoint",
        "replace_checkpoint",
        "set_aside",
        "start_pipeline",
    ]
    produce(orders, [f"late-{n}" for n in range(5)])
    done = team.run("apply", str(file))
    wait_for(lambda: len(read(out)) >= 25, team)
    assert read(out) == truth(consume, orders, 25)
    aside = team.folder / f".out.aside-{done['run']}"
    kept = {path.name: path.read_bytes() for path in aside.glob("*.json")}
    assert kept and len(read(aside)) in (20, 25)

    team.run("undo", done["run"])
    since = list(team.folder.glob(".out.since-*"))
    assert not aside.exists() and len(since) == 1
    assert read(since[0]) == truth(consume, orders, 25)
    # The old query goes on behind the files that it had written.
    wait_for(lambda: len(read(out)) >= 25, team)
    assert read(out) == truth(consume, orders, 25)
    assert {name: (out / name).read_bytes() for name in kept} == kept
