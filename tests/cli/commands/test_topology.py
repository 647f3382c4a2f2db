"""`headgate topology`, as the command line's contract has it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from headgate.cli.commands.topology import command
from headgate.errors import EvidenceError

CASE = Path(__file__).parents[2] / "golden" / "spark" / "join_left_to_inner" / "before"


def run(*arguments):
    return CliRunner().invoke(command, arguments, catch_exceptions=True)


def test_json_is_the_contracts():
    result = run(str(CASE), "--format", "json")
    found = json.loads(result.stdout)
    assert list(found) == [
        *("schema", "name", "engine", "nodes", "edges", "subtopologies", "topics", "pinned"),
        *("evidence", "warnings"),
    ]
    node_keys = {"id", "kind", "operator", "label", "subtopology", "details"}
    assert all(n.keys() == node_keys for n in found["nodes"])
    ids = {n["id"] for n in found["nodes"]}
    assert {e[k] for e in found["edges"] for k in ("from", "to")} <= ids
    assert sorted(i for s in found["subtopologies"] for i in s["nodes"]) == sorted(ids)
    stores = [n["details"]["store"] for n in found["nodes"] if n["kind"] == "state_store"]
    assert stores == [
        *("left-keyToNumValues", "left-keyWithIndexToValue"),
        *("right-keyToNumValues", "right-keyWithIndexToValue"),
    ]


@pytest.mark.parametrize(
    ("form", "begin"), [("text", "(unnamed)"), ("mermaid", "flowchart"), ("dot", "digraph")]
)
def test_other_forms(form, begin):
    result = run(str(CASE), "--format", form)
    assert result.exit_code == 0
    assert result.stdout.startswith(begin)
    assert "stream_join" in result.stdout


def test_graphml_is_xml():
    ElementTree.fromstring(run(str(CASE), "--format", "graphml").stdout)


def test_messages_go_to_stderr(tmp_path):
    (tmp_path / "a").write_text("== Physical Plan ==\nMagic\n+- FileScan json [k#1]\n")
    result = run(str(tmp_path / "a"), "--format", "dot")
    assert "Magic" in result.stderr
    assert "warning" not in result.stdout


def test_no_evidence_is_an_error():
    assert isinstance(run("/nowhere").exception, EvidenceError)
    assert run().exit_code == 2


def test_brackets_are_text(tmp_path):
    capture = {"sources": [{"format": "[b]x", "options": {"path": "/data/[/no]"}}], "sink": {}}
    (tmp_path / "a").write_text(json.dumps(capture))
    result = run(str(tmp_path / "a"))
    assert result.exit_code == 0
    assert result.stdout.count("[b]x") == result.stdout.count("/data/[/no]") == 2


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_terminal_without_our_signs_gets_the_rest(form):
    code = "from headgate.cli.main import headgate; headgate()"
    done = subprocess.run(
        [sys.executable, "-c", code, "topology", str(CASE), "--format", form],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b"stream_join" in done.stdout


@pytest.mark.slow
def test_what_would_steer_a_terminal_is_not_said(tmp_path):
    folder = tmp_path / "a\x1b[31m\nb"
    folder.mkdir()
    (folder / "plan.txt").write_text("== Physical Plan ==\nFileScan json [k#1]\n")
    (folder / "notes\x1b]0;x\x07.md").write_text("hello\n")
    for place, code in ((folder, 0), (folder / "notes\x1b]0;x\x07.md", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "headgate.cli.main", "topology", str(place)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        (line,) = (x for x in done.stderr.splitlines() if "notes" in x)
        assert line.startswith(("warning: ", "Error: "))
        assert "\x1b" not in done.stderr + done.stdout


def test_offsets_stand_by_topic_partition_and_offset():
    checkpoint = Path(__file__).parents[2] / "golden/checkpoints/asynchronous/checkpoint"
    done = run(str(checkpoint))
    assert "orders 0:0 1:0  orders 0:3 1:3" in done.stdout
