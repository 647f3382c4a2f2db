"""What docs/ci.md shows works as it stands there: configuration, hook, baseline, workflow."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.parse.config.headgate_toml import parse
from headgate.views.reports.document import Document, Level
from headgate.views.reports.document_markdown import markdown_text, marker

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
CASES = ROOT / "tests" / "cases" / "spark"
COMMANDS = re.findall(r"(?m)^\s*(?:- |run: |entry: )?(headgate (?:diff|capture) [^\n>`]+)", PAPER)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAPER, re.DOTALL)


def run(*arguments):
    return CliRunner().invoke(headgate, [*map(str, arguments)])


def test_the_configuration_is_one():
    (text,) = blocks("toml")
    registry = parse(text, path="/team/headgate.toml")
    assert [a.rule for a in registry.accepts] == ["AGG002"]
    assert registry.rules_url
    assert tomllib.loads(text)["accept"][0]["until"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_options_that_there_are(command):
    name, *arguments = shlex.split(command)[1:]
    known = {o for p in headgate.get_command(None, name).params for o in p.opts}
    assert {a for a in arguments if a.startswith("-")} <= known


def test_the_hook_runs_a_command_that_there_is():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert "entry: headgate diff\n" in text
    assert "pass_filenames: false" in text


GATES = [
    command
    for path in ("action.yml", "docs/guides/gate.md", ".pre-commit-hooks.yaml")
    for command in re.findall(
        r"headgate gate[^\n`]*(?:\\\n[^\n`]*)*", (ROOT / path).read_text(encoding="utf-8")
    )
]


@pytest.mark.parametrize("command", GATES)
def test_the_gate_has_the_options_of_the_action_and_the_guide(command):
    known = {o for p in headgate.get_command(None, "gate").params for o in p.opts}
    assert set(re.findall(r"--[a-z-]+", command)) <= known


@pytest.mark.parametrize(("paper", "name"), [("ci.md", "diff"), ("guides/gate.md", "gate")])
def test_a_workflow_finds_its_own_comment_by_the_line_that_the_report_ends_with(paper, name):
    text = (ROOT / "docs" / paper).read_text(encoding="utf-8")
    assert f'contains("{marker(f"headgate {name}")}")' in text
    report = Document(command=f"headgate {name}", level=Level.NOTE, title="t", items=(), passed="p")
    assert markdown_text(report).endswith(f"\n{marker(f'headgate {name}')}\n")


def test_the_action_gives_no_secret_to_the_code():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "secrets." not in text and "token" not in text
    assert any("--write markdown=" in command for command in GATES)
    # Inputs reach the shell as variables: an expression in a script would be run as code.
    scripts = re.findall(r"(?ms)^      run: \|\n(.*?)(?=^    - |\Z)", text)
    assert scripts and all("${{" not in script for script in scripts)


def test_a_baseline_holds_what_the_checkpoint_pins(tmp_path):
    case = CASES / "conf_shuffle_partitions"
    pieces = [case / "before" / p for p in ("checkpoint", "formatted.txt", "capture.json")]
    baseline = tmp_path / "orders.headgate.json"
    assert run("capture", *pieces, case / "before" / "conf.json", "-o", baseline).exit_code == 0
    result = run("diff", "--before", baseline, "--after", case / "after", "--format=json")
    answer = json.loads(result.stdout)
    assert answer["outcome"] == "no_effect"
    assert [f["rule"] for f in answer["findings"] if f["outcome"] == "no_effect"] == ["CFG002"]


@pytest.mark.parametrize("case", ["agg_add_column", "kafka_topic_change", "agg_filter_remove"])
def test_version_files_say_what_the_evidence_itself_says(tmp_path, case):
    told = []
    for sides in ((CASES / case / "before", CASES / case / "after"), ("before", "after")):
        if sides == ("before", "after"):
            for side in sides:
                run("capture", CASES / case / side, "-o", tmp_path / f"{side}.json")
            sides = [tmp_path / f"{side}.json" for side in sides]
        result = run("diff", "--before", sides[0], "--after", sides[1], "--format=json")
        told.append(json.loads(result.stdout)["findings"])
    assert told[0] == told[1]


def test_gitlab_posts_the_comment_with_a_shell_script_that_is_one():
    text = (ROOT / "docs/guides/gate.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"(?ms)^gate-comment:\n.*?^```", text)
    script = job.partition("    - |\n")[2].removesuffix("```")
    done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "needs: [gate]" in job and "body@comment.md" in script
    assert f'contains("{marker("headgate gate")}")' in script
    # What the script needs beside GitLab's own variables is said to the reader.
    named = set(re.findall(r"\$([A-Z_]+)", script))
    assert {n for n in named if not n.startswith("CI_")} == {"HEADGATE_TOKEN"}
    assert "`HEADGATE_TOKEN`" in text
