"""The answers to a scenario's questions: read, checked, and written as a command line."""

from __future__ import annotations

import pytest

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.plan import as_arguments
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, Scenario
from headgate.reprocess.scenario_inputs import read_answers

SPARK, GROUP = Engine.SPARK, Engine.CONSUMER_GROUP
REWIND = Scenario(
    name="rewind",
    title="Rewind",
    short="Short.",
    what="Go back.",
    support=dict.fromkeys(Engine, SUPPORTED),
    build=lambda asked: asked.block("not today"),
    steps=(),
    risks=tuple,
    options=(
        Option(name="batch", ask="Which?", help="A batch.", kind=Kind.NUMBER, one_of="point"),
        Option(name="at", ask="When?", help="A time.", one_of="point"),
        Option(name="sink", ask="How?", help="A way.", kind=Kind.CHOICE, choices=("keep", "empty")),
        Option(name="topic", ask="Of what?", help="A topic.", kind=Kind.MANY),
        Option(name="force", ask="Sure?", help="Really.", kind=Kind.FLAG),
        Option(name="group", ask="Who?", help="A group.", engines=frozenset({GROUP})),
    ),
)


def test_answers_are_what_their_kind_says():
    given = {"batch": "7", "topic": ("a", "b"), "force": True, "sink": "keep", "at": None}
    expected = {"batch": 7, "topic": ["a", "b"], "force": True, "sink": "keep"}
    assert read_answers(REWIND, given, SPARK) == expected
    # What was read is read the same once more, as when a plan is built anew before its run.
    assert read_answers(REWIND, expected, SPARK) == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"bach": 1}, "no option --bach. Its options: --batch, --at"),
        ({"batch": "seven"}, "--batch of rewind: expected a whole number, found 'seven'"),
        ({"sink": "burn"}, "expected one of keep, empty, found 'burn'"),
        ({"batch": 1, "at": "noon"}, "either --batch or --at"),
        ({"group": "g"}, "--group of rewind doesn't apply to spark pipelines"),
        ({"at": " "}, "--at of rewind: expected a value"),
        ({"topic": [""]}, "--topic of rewind: expected a value, found ''"),
        ({"topic": [" ", ","]}, "--topic of rewind: expected a value, found ' ,,'"),
    ],
)
def test_wrong_answers_get_one_sentence(given, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        read_answers(REWIND, given, SPARK)


def test_a_required_answer_is_asked_for_where_it_makes_sense():
    option = Option(
        name="group", ask="Who?", help="Whose.", required=True, engines=frozenset({GROUP})
    )
    scenario = Scenario(
        name="copy",
        title="Copy",
        short="Short.",
        what="",
        support={},
        build=lambda _request: pytest.fail("it was built without its answers"),
        steps=(),
        risks=tuple,
        options=(option,),
    )
    with pytest.raises(ScenarioError, match=r"copy needs the option --group: Whose\."):
        read_answers(scenario, {}, GROUP)
    assert read_answers(scenario, {}, SPARK) == {}


def test_a_command_line_can_be_typed_again():
    options = {"shift_by": -3, "topic": ["a b", "c"], "force": True}
    assert as_arguments(options) == " --force --shift-by=-3 --topic='a b' --topic=c"
    assert as_arguments({}) == ""
