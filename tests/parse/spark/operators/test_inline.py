"""The columns of `inline` are the fields of the structs, whatever the user calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.parse.spark.operators.facts import _with_plain_variables
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[3] / "cases"
INLINE = (
    "spark_pulls/baskets_explode_rewritten",
    "spark_pulls_third/builds_steps_inline",
    "spark_pulls_fifth/cinema_seats_filtered_in_array",
)
CASE = CASES / "spark_pulls_fifth" / "cinema_seats_filtered_in_array"


def keys(folder: Path) -> tuple[str, ...] | None:
    (operator,) = read_version([str(folder)]).stateful
    return operator.keys


def test_inline_of_a_filtered_array_gives_what_explode_and_a_dot_give() -> None:
    # After: inline(filter(seats, ...)) AS (seat_row, seat_no).
    assert "explode(s0.seats).row" in (keys(CASE / "before") or ())
    assert keys(CASE / "after") == keys(CASE / "before")


@pytest.mark.parametrize("case", INLINE)
@pytest.mark.parametrize("form", ["formatted.txt", "logical.json"])
def test_one_query_is_never_said_to_lose_its_state_for_the_form_of_its_evidence(
    case: str, form: str
) -> None:
    whole, part = (read_version([str(CASES / case / "after" / name)]) for name in (".", form))
    for report in (compare(whole, part), compare(part, whole)):
        assert report.outcome in (Outcome.UNKNOWN, Outcome.RESUMES), report.findings


def test_variables_of_lambda_functions_are_counted_in_each() -> None:
    one = "transform(a#1, lambdafunction(lambda x_3#7 + 1, lambda x_3#7, false))"
    other = "filter(m#2, lambdafunction(lambda x_9#8 = x1, lambda x_9#8, false))"
    assert _with_plain_variables(f"concat({one}, {other})") == (
        "concat(transform(a#1, lambdafunction(λ1 + 1, λ1, false)), "
        "filter(m#2, lambdafunction(λ1 = x1, λ1, false)))"
    )
    nested = "lambdafunction(lambda y_4#2 - lambda x_3#1, lambda x_3#1, lambda y_4#2, false)"
    assert _with_plain_variables(nested) == "lambdafunction(λ1 - λ2, λ2, λ1, false)"
