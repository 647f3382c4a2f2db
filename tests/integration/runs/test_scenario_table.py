"""Every cell of the table of scenarios and engines that is not refused, on a real broker."""

from __future__ import annotations

import json

import pytest

from headgate.errors import HeadgateError
from headgate.model.version import Engine
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenario import Answer, Kind
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from support.console_seed import write_checkpoint

pytestmark = pytest.mark.kafka

OPEN = [
    (name, engine)
    for name, scenario in SCENARIOS.items()
    for engine in Engine
    if scenario.support[engine].answer is not Answer.REFUSED
]
COMMANDS = """
[pipeline.commands]
stop = "true"
start = "true"
status = "exit 3"
"""


@pytest.fixture
def one_of_each(team, groups, topic, produce, unique):
    """A registered pipeline of each engine over the same topic, all of them stopped."""
    team.topic, team.group, application = topic("table"), unique("group"), unique("app")
    produce(team.topic, ["a", "b", "c", "d", "e"])
    for group in (team.group, application):
        groups.commit(group, {(team.topic, 0): (3, "")})
    write_checkpoint(team.folder / "ck", batches=3)
    for file in (team.folder / "ck" / "offsets").iterdir():
        *head, _ = file.read_text().splitlines()
        file.write_text("\n".join([*head, json.dumps({team.topic: {"0": int(file.name) + 1}})]))
    team.register(
        f'[[pipeline]]\nname = "spark"\nengine = "spark"\ncheckpoint = "ck"{COMMANDS}',
        f'[[pipeline]]\nname = "kafka-streams"\nengine = "kafka-streams"\n'
        f'group = "{application}"{COMMANDS}',
        f'[[pipeline]]\nname = "consumer-group"\nengine = "consumer-group"\n'
        f'group = "{team.group}"{COMMANDS}',
    )
    return team


def answers(name: str, engine: Engine, team) -> dict:
    """Answer what must be answered, of several the first."""
    found, seen = {}, set()
    for option in SCENARIOS[name].asks(engine):
        word = option.one_of or option.name
        if option.required and word not in seen and option.kind is not Kind.FILE:
            seen.add(word)
            found[option.name] = sample(option, team)
    return found


def sample(option, team):
    """An answer of the form that the option asks for."""
    match option.kind:
        case Kind.FLAG:
            return True
        case Kind.NUMBER:
            return 1
        case Kind.CHOICE:
            return option.choices[0]
    value = {
        "TIME": "2020-01-01T00:00:00Z",
        "DURATION": "P1D",
        "TOPIC,PARTITION,OFFSET": f"{team.topic},0,1",
        "GROUP": team.group,
    }.get(option.metavar or "", team.topic)
    return [value] if option.kind is Kind.MANY else value


@pytest.mark.parametrize(("name", "engine"), OPEN, ids=lambda v: str(v))
def test_a_cell_that_is_not_refused_gives_steps_or_a_reason_of_the_world(one_of_each, name, engine):
    declared = SCENARIOS[name].support
    try:
        plan = plan_scenario(
            one_of_each.context, name, engine.value, answers(name, engine, one_of_each)
        )
    except HeadgateError as error:
        # What was answered does not fit this pipeline: still a sentence, and not the table's.
        reasons = [str(error)]
    else:
        reasons = list(plan.blockers)
        assert plan.steps or reasons
        assert load_plan(dump_plan(plan), source="this test") == plan
        if plan.steps:
            assert plan.outputs.run and plan.outputs.undo
    refused = {s.why for s in declared.values() if s.answer is Answer.REFUSED}
    assert not refused & set(reasons)
    assert all(" " in reason and "Traceback" not in reason for reason in reasons)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("from-scratch", Engine.SPARK),
        ("from-scratch", Engine.CONSUMER_GROUP),
        ("from-point", Engine.CONSUMER_GROUP),
    ],
    ids=lambda v: str(v),
)
def test_a_plain_pipeline_gets_a_plan_that_can_run(one_of_each, name, engine):
    plan = plan_scenario(
        one_of_each.context, name, engine.value, answers(name, engine, one_of_each)
    )
    assert plan.blockers == ()
    assert plan.can_apply
