"""The engine's verdict beside ours, and what two versions wrote for the same input."""

import json

import pytest

from headgate.model.rehearsal import EngineOutcome, EngineVerdict, OutputDifference
from headgate.rules.compare.engine_agreement import Agreement, compare_rows, judge
from headgate.rules.core.report import Finding, Outcome, Report

RUNS, REFUSES, OPEN = EngineOutcome.RESUMES, EngineOutcome.REFUSES, EngineOutcome.UNKNOWN
OTHER = OutputDifference(old=RUNS, same_input=True, only_before=1)
SAME = OutputDifference(old=RUNS, same_input=True, equal=3)


def report(outcome, error=None):
    finding = Finding(
        rule="X", outcome=outcome, why="w", source="s", question="q?", error_class=error
    )
    return Report(findings=(finding,))


@pytest.mark.parametrize(
    ("ours", "engine", "output", "expected"),
    [
        (Outcome.RESUMES, RUNS, None, Agreement.AGREE),
        (Outcome.NO_EFFECT, RUNS, None, Agreement.AGREE),
        (Outcome.REFUSES, REFUSES, None, Agreement.AGREE),
        (Outcome.SILENTLY_WRONG, RUNS, OTHER, Agreement.AGREE),
        # One batch that looks right proves nothing.
        (Outcome.SILENTLY_WRONG, RUNS, SAME, Agreement.OPEN),
        (Outcome.SILENTLY_WRONG, RUNS, None, Agreement.OPEN),
        (Outcome.REFUSES, RUNS, None, Agreement.DISAGREE),
        (Outcome.RESUMES, REFUSES, None, Agreement.DISAGREE),
        (Outcome.NO_EFFECT, REFUSES, None, Agreement.DISAGREE),
        (Outcome.SILENTLY_WRONG, REFUSES, None, Agreement.DISAGREE),
        (Outcome.UNKNOWN, REFUSES, None, Agreement.OPEN),
        (Outcome.UNKNOWN, RUNS, None, Agreement.OPEN),
        (Outcome.REFUSES, OPEN, None, Agreement.OPEN),
    ],
)
def test_agreement(ours, engine, output, expected):
    verdict = EngineVerdict(outcome=engine, error_class="STATE_X", output=output)
    assert judge(report(ours, "STATE_X"), verdict).agreement is expected


def test_another_class_of_error_is_named():
    verdict = EngineVerdict(outcome=REFUSES, error_class="java.lang.AssertionError")
    assert judge(report(Outcome.REFUSES, "AssertionError"), verdict).why.endswith(
        "fails to start with java.lang.AssertionError."
    )
    assert "the rules expect STATE_X" in judge(report(Outcome.REFUSES, "STATE_X"), verdict).why


def lines(*rows):
    return tuple(json.dumps(row) for row in rows)


def test_rows_are_compared_as_often_as_they_occur_and_a_missing_field_is_null():
    before = lines({"k": "a", "n": 1}, {"k": "a", "n": 1}, {"k": "b"})
    after = lines({"n": 1, "k": "a"}, {"k": "b", "n": None}, {"k": "c", "n": 2})
    found = compare_rows(before, after, (("k", "n"), ("k", "n")), old=EngineVerdict(outcome=RUNS))
    assert (found.equal, found.only_before, found.only_after) == (2, 1, 1)
    assert found.sample_before == ({"k": "a", "n": 1},)
    assert found.sample_after == ({"k": "c", "n": 2},)
    assert found.note == ""


def test_other_columns_are_said_and_what_both_have_is_compared():
    found = compare_rows(
        lines({"k": "a", "n": 1}),
        lines({"k": "a", "s": 7}),
        (("k", "n"), ("k", "s")),
        old=EngineVerdict(outcome=RUNS),
    )
    assert (found.equal, found.columns) == (1, ("k",))
    assert found.note == "the new version writes different columns (removed: n; added: s)"
