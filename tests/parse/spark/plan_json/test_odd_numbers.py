"""Numbers that Python's JSON knows and no engine writes: a warning, never a trace."""

import json

import pytest

from headgate.parse.spark.plan_json.read import read_json_plan

PLANS = "org.apache.spark.sql.catalyst.plans.logical"
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1" * 400 + ".5", '"x"', "[]"])
@pytest.mark.parametrize("field", ["num-children", "value"])
def test_an_odd_number_is_a_warning(number, field):
    literal = {"class": f"{EXPRESSIONS}.Literal", "num-children": 0, "value": "1", field: "ODD"}
    node = {"class": f"{PLANS}.Filter", "num-children": 0, "condition": [literal]}
    text = json.dumps([node]).replace('"ODD"', number)
    (read,) = read_json_plan(json.loads(text)).nodes
    assert read.name == "Filter"


def test_it_says_which_node():
    literal = {"class": f"{EXPRESSIONS}.Literal", "num-children": float("inf")}
    plan = read_json_plan([{"class": f"{PLANS}.Filter", "num-children": 0, "condition": [literal]}])
    assert plan.warnings == (
        "node 1 (Filter) of the query plan as JSON has an unexpected structure, so Headgate "
        "ignores the details of the node: "
        "OverflowError('cannot convert float infinity to integer')",
    )
