"""`headgate estimate`: the costs of a plan, and its blocker with the exit code of one."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from headgate.cli.commands import estimate
from headgate.reprocess.impact import UNKNOWN_INPUT
from support.console_seed import add_stopped_pipeline


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """A stopped query over files, and one without a checkpoint."""
    file = tmp_path / "headgate.toml"
    file.write_text('[[pipeline]]\nname = "bare"\nengine = "spark"\ncheckpoint = "none"\n')
    add_stopped_pipeline(file)
    monkeypatch.setenv("HEADGATE_CONFIG", str(file))


def run(*arguments):
    # As `headgate` does it: the command returns its exit code.
    found = CliRunner().invoke(
        estimate.command, arguments, standalone_mode=False, catch_exceptions=False
    )
    return found.return_value, found.output


def test_costs_are_told_without_steps(registered):
    code, output = run("from-scratch", "returns")
    assert code == 0
    told = dict(line.split(": ", 1) for line in output.splitlines())
    assert told["Records reprocessed"] == f"unknown number of records ({UNKNOWN_INPUT})."
    # It has no state: only that is linked.
    assert told["Snapshot"].endswith("B, full copy.")
    assert "for 14 days" in told["Snapshot retention"]
    assert "stop returns" not in output


def test_json_has_the_fields_of_the_contract(registered):
    code, output = run("from-scratch", "returns", "--format", "json")
    assert code == 0
    document = json.loads(output)
    unknown = document.pop("unknown")
    assert document == {
        "schema": 1,
        "scenario": "from-scratch",
        "pipeline": "returns",
        "can_apply": True,
        "blockers": [],
        "records": None,
        "bytes": None,
        "seconds": None,
    }
    assert [text.partition(":")[0] for text in unknown] == ["records", "bytes", "duration"]


def test_what_may_not_be_done_is_refused_with_its_reason(registered):
    code, output = run("from-scratch", "bare")
    assert code == 3
    assert "Blocked: " in output
