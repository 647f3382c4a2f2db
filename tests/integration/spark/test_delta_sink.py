"""A real Delta table drops a batch that comes again; every evidence of it blocks such a plan."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.gateway.process.jars import delta_jars
from headgate.usecases.evidence.read_version import read_version

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).with_name("delta_program.py")
TOML = """
[[pipeline]]
name = "prices"
engine = "spark"
checkpoint = "checkpoint"
{more}

[pipeline.commands]
status = "exit 3"
start = "true"
stop = "true"
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of the program that wrote to Delta, and the prices in the table at its end."""
    folder = tmp_path_factory.mktemp("delta")
    jars = ",".join(map(str, delta_jars()))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), jars], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, json.loads(done.stdout.splitlines()[-1])


def run(*args):
    found = CliRunner().invoke(headgate, list(args))
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found


def test_delta_drops_a_batch_that_comes_again_and_no_evidence_hides_that(written):
    folder, prices = written
    # Batch 1 came again with 2 and 3: Delta had batch 1 of this query, so 3 is in no table.
    assert prices == [1, 2]
    (log,) = (folder / "log").iterdir()
    evidence = ([log], [folder / "progress.json"], [folder / "explain.txt"], [folder / "watch"])
    for pieces in evidence:
        version = read_version([str(p) for p in pieces], query="prices" if log in pieces else None)
        assert version.sink.format == "delta", pieces
        assert version.sink.target == str(folder / "table"), pieces
    assert read_version([str(folder / "checkpoint")]).sink.format is None


@pytest.mark.parametrize("name", ["progress.json", "explain.txt", "watch"])
def test_a_plan_that_would_repeat_its_batches_is_blocked(written, tmp_path, name, monkeypatch):
    folder, _ = written
    more = 'watch = "watch"' if name == "watch" else f'evidence = ["{name}"]'
    config = folder / f"{name}.toml"
    config.write_text(f'store.url = "sqlite:///{tmp_path}/s.db"\n{TOML.format(more=more)}')
    monkeypatch.setenv("HEADGATE_CONFIG", str(config))
    assert run("capture", str(folder / name), "--pipeline", "prices").exit_code == 0
    plan = ("plan", "rewind", "prices", "--batch", "0", "--format", "json")
    found = json.loads(run(*plan).stdout)
    assert not found["can_apply"]
    (reason,) = found["blockers"]
    assert f"the Delta table {folder / 'table'} has recorded the query's id" in reason
    allowed = json.loads(run(*plan, "--new-query-id").stdout)
    assert allowed["can_apply"]
