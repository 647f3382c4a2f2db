"""Names from outside never steer the terminal, and JSON stays JSON with the same values."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.cli.shared.options import json_text
from headgate.cli.shared.terminal import _Stream, terminal_console
from headgate.text.tables import terminal_safe
from support.waiting import PATIENCE

HOSTILE = "x\x1b[2J\x1b]0;title\x07\n  + forged line\r\x9b31m\u202egpj.exe\u2028y\x7f\x1b[8mhidden"
STEERING = "\x1b\x07\r\x9b\u202e\u2028\u2029\x7f\x00\x08\u2066\u200f"


def run(folder: Path, *args: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "headgate.cli.main", *args],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    return done.stdout, done.stderr


def run_in_terminal(folder: Path, *args: str) -> str:
    """What a real terminal is sent, where colours are on."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "headgate.cli.main", *args]
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "COLUMNS": "400"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen(command, cwd=folder, stdout=follower, stderr=follower, env=env)
    os.close(follower)
    seen = bytearray()
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:
            break
        if not block:
            break
        seen += block
    process.wait(PATIENCE)
    os.close(leader)
    return seen.decode("utf-8", "replace").replace("\r\n", "\n")


def check(text: str) -> None:
    assert not set(text) & set(STEERING), ascii(text)
    assert "\n  + forged" not in text


@pytest.fixture
def folder(tmp_path):
    capture = {
        "sources": [{"format": HOSTILE, "name": HOSTILE, "options": {"subscribe": HOSTILE}}],
        "sink": {"format": "kafka", "target": HOSTILE, "options": {"topic": HOSTILE}},
        "name": HOSTILE,
        "output_mode": "append",
    }
    (tmp_path / "capture.json").write_text(json.dumps(capture))
    (tmp_path / "after.json").write_text(json.dumps({**capture, "output_mode": "update"}))
    toml = json.dumps(HOSTILE).replace("\\u2028", "\\u2028").replace("\x7f", "\\u007f")
    (tmp_path / "headgate.toml").write_text(
        '[[pipeline]]\nname = "p"\nengine = "spark"\n'
        f"evidence = [{toml}]\n[pipeline.commands]\nstop = {toml}\nstart = {toml}\n"
        "status = 'exit 3'\n"
        '[[pipeline]]\nname = "q"\nengine = "spark"\nevidence = ["capture.json"]\n'
    )
    return tmp_path


COMMANDS = (
    ("topology", "capture.json"),
    ("diff", "--before", "capture.json", "--after", "after.json"),
    ("check", "capture.json"),
    ("landscape",),
    ("doctor",),
    ("plan", "pause", "p"),
    ("plan", "from-scratch", "p"),
    ("topology", HOSTILE),
    ("plan", HOSTILE, "p"),
    ("runs", HOSTILE),
    ("apply", HOSTILE),
)


@pytest.mark.slow  # A process each.
@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: ascii(" ".join(c))[:30])
def test_no_command_lets_a_name_steer_the_terminal(folder, command):
    for text in run(folder, *command):
        check(text)


@pytest.mark.slow
def test_nor_where_colours_are_on(folder):
    text = run_in_terminal(folder, "topology", "capture.json")
    assert "\x1b[1m" in text
    assert "\x1b[8m" not in text and "\x1b[2J" not in text and "\x1b]0" not in text
    assert not set(text) & set(STEERING.replace("\x1b", ""))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [("topology", "capture.json"), ("doctor",), ("plan", "pause", "p")],
    ids=lambda c: c[0],
)
def test_json_stays_json_and_keeps_the_names(folder, command):
    out, _ = run(folder, *command, "--format", "json")
    check(out)
    found = json.loads(out)
    if command[0] == "topology":
        assert found["name"] == HOSTILE
    assert json.loads(json_text({"name": HOSTILE, "ü": "é😀"})) == {
        "schema": 1,
        "name": HOSTILE,
        "ü": "é😀",
    }
    check(json_text({HOSTILE: HOSTILE}))
    assert "é😀" in json_text({"name": "é😀"})


def test_the_streams_are_the_last_line():
    under = io.StringIO()
    stream = _Stream(under)
    assert stream.write(f"\x1b[1mbold\x1b[0m\tok\n{HOSTILE}\n") > 0
    said = under.getvalue()
    assert said.startswith("\x1b[1mbold\x1b[0m\tok\n")
    assert not set(said.replace("\x1b[8m", "").partition("\n")[2]) & set(STEERING)
    assert terminal_safe("日本 é 👨\u200d👩\u200d👧") == "日本 é 👨\u200d👩\u200d👧"


def test_rich_keeps_its_colours_and_cleans_the_texts():
    from rich.text import Text

    under = io.StringIO()
    console = terminal_console(file=under, force_terminal=True, width=400, color_system="standard")
    console.print(Text(HOSTILE.replace("\n", " "), style="bold red"))
    console.print(HOSTILE, markup=False)
    text = under.getvalue()
    assert "\x1b[1;31m" in text and "\x1b[8m" not in text and "\x1b[2J" not in text
    assert not set(text) & set(STEERING.replace("\x1b", ""))
    assert "\n  + forged" not in text


@pytest.mark.slow
def test_a_terminal_gets_the_version_file_of_a_capture(tmp_path):
    case = Path(__file__).parents[2] / "golden" / "spark" / "agg_add_column" / "before"
    shown = run_in_terminal(tmp_path, "capture", str(case))
    assert json.loads(shown)["kind"] == "headgate-version"
