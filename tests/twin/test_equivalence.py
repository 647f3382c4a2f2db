"""Two recorded queries are the same only if all that was recorded of them is."""

import pytest

from headgate.twin.equivalence import equivalence

OPERATOR = {"operator": "Aggregate", "inputs": ["i"], "keys": "k", "values": "v"}
STUDY = {"canonical": {"plan": "p", "operators": [OPERATOR]}}
CAPTURE = {"sources": [], "sink": {"format": "kafka"}, "functions": [{"name": "f", "sha256": "1"}]}


def compared(study=STUDY, capture=CAPTURE, settings=None):
    return equivalence((STUDY, study), (CAPTURE, capture), ({}, settings or {}))


def test_what_is_equal_in_all_parts_is_the_same():
    found = compared(capture=CAPTURE | {"checkpoint": "/elsewhere"})
    assert found.is_same and found.has_same_keys(0) and not found.has_same_keys(1)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"settings": {"spark.sql.ansi.enabled": "false"}}, ("settings",)),
        ({"capture": CAPTURE | {"sink": {"format": "json"}}}, ("sink",)),
        ({"capture": CAPTURE | {"output_mode": "update"}}, ("output mode",)),
        ({"capture": CAPTURE | {"error": "no"}}, ("start",)),
    ],
)
def test_anything_else_that_differs_is_run(changed, names):
    found = compared(**changed)
    assert found.plan and not found.is_same and found.differs == names


def test_other_code_of_a_function_can_not_be_compared():
    found = compared(capture=CAPTURE | {"functions": [{"name": "f", "sha256": "2"}]})
    assert (found.plan, found.differs, found.operators) == (None, ("user functions",), ())
    assert compared(study={"canonical": None}).plan is None


def test_operators_are_compared_part_by_part():
    def one(**fields):
        study = {"canonical": {"plan": "q", "operators": [OPERATOR | fields]}}
        (found,) = compared(study=study).operators
        return found.inputs, found.keys, found.values

    assert one(values="w") == (True, True, False)
    assert one(inputs=["j"], keys="k") == (False, None, None)
    other = {"canonical": {"plan": "q", "operators": []}}
    assert compared(study=other).operators == ()
