"""A plan's file that is damaged, or was sealed again by hand, costs one sentence."""

import json

import pytest

from headgate.errors import PlanFileError
from headgate.reprocess.plan import UNDO, Plan, _sha, dump_plan, load_plan


def resealed(plan, **changes):
    """Return the file of a plan with other fields, sealed as a plan is."""
    document = json.loads(dump_plan(plan)) | changes
    del document["seal"]
    return json.dumps(document | {"seal": _sha(document)})


PLAN = Plan(scenario="from-scratch", pipeline="orders")


def reason(text):
    with pytest.raises(PlanFileError) as found:
        load_plan(text, source="p.json")
    return str(found.value)


def test_a_whole_file_is_read():
    assert load_plan(dump_plan(PLAN), source="p.json") == PLAN


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_deep_nesting_is_no_plan(text):
    assert reason(text) == "p.json: the plan file isn't JSON: the JSON is nested too deeply"


def test_a_plan_names_its_pipeline():
    other = Plan(scenario="from-scratch", pipeline=None)
    assert "`pipeline` is missing" in reason(dump_plan(other))


def test_an_undo_names_its_run():
    undo = Plan(scenario=UNDO, pipeline="orders", options={"run": "r1"})
    assert "`run` is missing in the options of the undo" in reason(resealed(undo, options={}))


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": 1},
        {"pipeline": ["orders"]},
        {"steps": 3},
        {"steps": ["stop"]},
        {"steps": [{"action": ["stop"], "details": {}}]},
        {"risks": "none"},
        {"options": [["run", 1]]},
        {"impact": {"total": float("inf")}, "resources": [1]},
        {"undoes": [0.5]},
        {"outputs": []},
        {"outputs": {"run": 1}},
    ],
    ids=str,
)
def test_fields_of_another_type_are_damage(changes):
    assert "the plan is damaged" in reason(resealed(PLAN, **changes))


def test_half_a_character_is_damage():
    assert reason(dump_plan(PLAN).replace('"orders"', '"\\ud800"'))
