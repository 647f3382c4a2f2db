"""Every rule has a pair that makes it speak and one that keeps it silent."""

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.spark.codes import RULES
from rules import (
    checkpoint_cases,
    input_cases,
    output_cases,
    setting_cases,
    spark_cases,
    state_cases,
    variable_cases,
    world_cases,
)

CASES = {
    **input_cases.CASES,
    **state_cases.CASES,
    **setting_cases.CASES,
    **output_cases.CASES,
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_where_it_should(code):
    before, after, outcome, _ = CASES[code]
    found = [f for f in compare(before, after).findings if f.rule == code]
    assert found, f"{code} did not speak: write its check, and in CASES a change that it reports"
    assert max(f.outcome for f in found) is outcome
    assert all(f.why and f.source for f in found)


@pytest.mark.parametrize("code", CASES)
def test_a_rule_stays_silent_where_nothing_changed_for_it(code):
    before, _, _, after = CASES[code]
    assert code not in {f.rule for f in compare(before, after).findings}


def test_every_rule_has_a_case_and_a_code_of_its_own():
    codes = [r.code for r in RULES]
    assert len(codes) == len(set(codes))
    elsewhere = (world_cases, checkpoint_cases, variable_cases, spark_cases)
    assert set(codes) == CASES.keys() | {code for m in elsewhere for code in m.CASES}
