"""Values of a scenario's options as people write them on the command line."""

from __future__ import annotations

import click
import pytest

from headgate.cli.scenarios import Scenarios

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
