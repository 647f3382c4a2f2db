"""Values of a scenario's options as people write them on the command line."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.cli.shared.scenario_options import Scenarios
from headgate.errors import ScenarioError
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.usecases.reprocess.plan_scenario import with_rows

given = {}


def remember(scenario, pipeline, answers):
    given.clear()
    given.update(answers)
    return 0


@click.group(cls=Scenarios, run=remember)
def command():
    """Remember the answers."""


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        (["--shift-by=-200"], {"shift_by": "-200"}),
        (["--shift-by", "-200"], {"shift_by": "-200"}),
        (["--shift-by", "200", "--topic", "a", "--topic=b:0,1"],
         {"shift_by": "200", "topic": ("a", "b:0,1")}),
        (["--to-earliest"], {"to_earliest": True}),
    ],
)  # fmt: skip
def test_a_value_may_begin_with_a_dash(arguments, answers):
    command.main(["from-point", "p", *arguments], standalone_mode=False)
    assert given == answers


def test_a_value_is_not_left_out():
    with pytest.raises(click.UsageError, match="requires an argument"):
        command.main(["from-point", "p", "--to-datetime"], standalone_mode=False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("from-scrach", "unknown scenario from-scrach: did you mean from-scratch?"),
        ("moon", "unknown scenario moon; known: ab, .* and [0-9]+ more"),
    ],
)
def test_a_scenario_that_there_is_not_is_answered_with_those_that_there_are(name, words):
    with pytest.raises(ScenarioError, match=words):
        command.main([name, "p"], standalone_mode=False)


def test_what_is_wrong_in_a_file_of_offsets_is_said_of_the_file(tmp_path):
    file = tmp_path / "offsets.csv"
    file.write_text("orders,0,7\norders;1;8\n")
    with pytest.raises(ScenarioError, match=rf"--from-file: {file}, line 2: expected TOPIC"):
        with_rows(SCENARIOS["from-point"], {"from-file": str(file)})
    file.write_text("orders,0,7\n")
    assert with_rows(SCENARIOS["from-point"], {"from-file": str(file)}) == {
        "to-offsets": ["orders,0,7"]
    }


def test_each_scenario_has_a_whole_sentence_in_the_list():
    listed = CliRunner().invoke(headgate, ["plan", "--help"]).output
    lines = listed.partition("Commands:\n")[2].splitlines()
    assert len(lines) == len(SCENARIOS)
    assert [line for line in lines if not re.fullmatch(r"  [a-z-]+ +[A-Z].*[^.]\.", line)] == []
