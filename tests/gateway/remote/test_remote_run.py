"""A run over a checkpoint in a real store: its worker is killed in the middle of the copy."""

import json
import signal
import subprocess
import sys

import pytest

from headgate.gateway.checkpoint.remote_copy import copy_issue, listing_hash
from headgate.gateway.files.remote_write import open_changes
from integration.conftest import Team, end_workers
from support.waiting import PATIENCE, until

OLD = "s3a://bucket/runs/ck"
# So many files that a copy goes on for long after its first file is there.
FILES = 300
START = """
import sys
from pyarrow import fs

place, port = sys.argv[1].removeprefix("s3a://"), sys.argv[2]
store = fs.S3FileSystem(
    access_key="someone", secret_key="secret", endpoint_override=f"127.0.0.1:{port}", scheme="http"
)
if store.get_file_info(place + "/metadata").type == fs.FileType.NotFound:
    with store.open_output_stream(place + "/metadata") as out:
        out.write(b'{"id":"new"}')
with store.open_output_stream(place + "/offsets/9") as out:
    out.write(b"v1")
open("running", "w").close()
with open("started", "a") as out:
    print(sys.argv[1], file=out)
"""


@pytest.fixture
def team(s3, tmp_path):
    """A team whose query has its checkpoint in the store; three batches are done."""
    put = s3.more["put"]
    put("runs/ck/metadata", b'{"id":"old"}')
    for batch in range(3):
        head = f'v1\n{{"batchTimestampMs":{batch}}}\n{{"logOffset":{batch}}}'
        put(f"runs/ck/offsets/{batch}", head.encode())
        put(f"runs/ck/commits/{batch}", b"v1\n{}")
        taken = f'v1\n{{"path":"s3a://in/{batch}","timestamp":1,"batchId":{batch}}}'
        put(f"runs/ck/sources/0/{batch}", taken.encode())
    for number in range(FILES):
        put(f"runs/ck/other/{number}", b"%d" % number)
    (tmp_path / "start.py").write_text(START)
    (tmp_path / "running").touch()
    start = f"AWS_REQUEST_CHECKSUM_CALCULATION=when_required {sys.executable} start.py"
    commands = {
        "stop": "rm -f running",
        "start": f"{start} $HEADGATE_CHECKPOINT {s3.port}",
        "status": "[ -e running ] && exit 0 || exit 3",
    }
    text = ["[file_systems.s3]", *(f"{k} = {json.dumps(v)}" for k, v in s3.settings["s3"].items())]
    text += ["[[pipeline]]", 'name = "q"', 'engine = "spark"', f'checkpoint = "{OLD}"']
    text += ["[pipeline.commands]", *(f"{k} = {json.dumps(v)}" for k, v in commands.items())]
    (tmp_path / "headgate.toml").write_text("\n".join(text))
    made = Team(tmp_path, "")
    yield made
    end_workers(made)


def worker_of(team):
    log = (team.folder / "worker.log").open("ab")
    argv = [sys.executable, "-m", "headgate.worker.main", "--config", team.config]
    return subprocess.Popen(argv, cwd=team.folder, stdout=log, stderr=log)


@pytest.mark.long
def test_a_killed_copy_is_ended_by_the_next_worker_and_the_run_is_undone(team, s3):
    settings, new = s3.settings, f"{OLD}.2"
    before = listing_hash(OLD, settings)
    file, plan = team.plan("q", "--batch", "1", "--sink", "kafka", scenario="rewind")
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["snapshot"]["copied"] == plan["impact"]["snapshot"]["bytes"] > 0
    first = worker_of(team)
    run = team.run("apply", str(file), "--detach")["run"]
    changes, path = open_changes(new, settings)
    until(lambda: changes.stored(path))
    first.send_signal(signal.SIGKILL)
    first.wait()
    said = f"{new}.manifest.json, which Headgate writes last, is missing"
    assert copy_issue(new, settings) == f"the copy {new} is incomplete: {said}"

    second = worker_of(team)
    until(lambda: team.run("runs", run)["state"] == "done", every=1)
    assert team.context.registry.pipeline("q").checkpoint == new
    assert listing_hash(OLD, settings) == before
    found = set(changes.stored(path))
    assert {f"other/{n}" for n in range(FILES)} < found
    assert {n for n in found if n.split("/")[0] in ("offsets", "commits")} == {
        *("offsets/0", "offsets/1", "commits/0", "commits/1"),
        "offsets/9",
    }
    assert team.run("undo", run)["state"] == "done"
    assert team.context.registry.pipeline("q").checkpoint == OLD
    assert (team.folder / "started").read_text().split() == [new, OLD]
    second.terminate()
    second.wait(PATIENCE)
