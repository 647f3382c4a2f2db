"""A twin run lowers a finding only if all that it takes is there."""

from dataclasses import replace

import pytest

from headgate.model.twin import OperatorRows, TwinVerdict
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.rules.compare.twin_findings import can_lower, with_twin
from headgate.rules.core.report import Finding, Location, Outcome, Report

OPERATOR = StatefulOperator(kind=OperatorKind.AGGREGATE, node="a", operator_id=0)
VERSION = Version(engine=Engine.SPARK, stateful=(OPERATOR,))
ROWS = OperatorRows(operator_id=0, operator="save", rows_before=40, rows_after=40, keys=20)
EQUAL = TwinVerdict(outcome="resumes", why="equal", rows=674, seed=7, operators=(ROWS,))
AGAIN = replace(EQUAL, seed=8)
FINDING = Finding(
    rule="AGG001",
    outcome=Outcome.SILENTLY_WRONG,
    why="keys",
    source="x",
    location=Location("a", "a"),
)


def lowered(finding=FINDING, first=EQUAL, second=AGAIN):
    found = with_twin(Report(findings=(finding,)), first, VERSION, VERSION, again=second)
    return found.report.outcome, [one.seeds for one in found.lowered]


def test_two_equal_runs_lower_a_finding_about_state():
    assert can_lower(Report(findings=(FINDING,)), EQUAL, VERSION, VERSION)
    assert lowered() == (Outcome.RESUMES, [(7, 8)])


@pytest.mark.parametrize(
    "changed",
    [
        {"finding": replace(FINDING, rule="CFG007")},
        {"finding": replace(FINDING, rule="WIN001")},
        {"finding": replace(FINDING, after=["to_date(from_utc_timestamp(s0.ts, Asia/Tokyo))"])},
        {"finding": replace(FINDING, location=Location("a", None))},
        {"finding": replace(FINDING, location=Location("sink", "sink"))},
        {"second": replace(EQUAL, outcome="silently_wrong")},
        {"second": replace(EQUAL, mixed=True)},
        {"first": replace(EQUAL, mixed=True)},
        {"first": replace(EQUAL, rows=0)},
        {"first": replace(EQUAL, operators=(replace(ROWS, rows_after=29),))},
        {"first": replace(EQUAL, operators=(replace(ROWS, keys=7),))},
        {"first": replace(EQUAL, operators=())},
    ],
)
def test_anything_less_keeps_it(changed):
    assert lowered(**changed) == (Outcome.SILENTLY_WRONG, [])


def test_rows_that_are_too_few_leave_the_rules_their_outcome():
    thin = TwinVerdict(outcome="unknown", why="2 keys", question="More rows?", is_thin=True)
    for outcome in (Outcome.RESUMES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN):
        question = "Same key?" if outcome is Outcome.UNKNOWN else None
        report = Report(findings=(replace(FINDING, outcome=outcome, question=question),))
        found = with_twin(report, thin, VERSION, VERSION).report
        assert found.outcome is outcome
        assert ("TWN003" in {f.rule for f in found.findings}) == (outcome is Outcome.UNKNOWN)
    nothing = with_twin(Report(findings=()), replace(thin, is_thin=False), VERSION, VERSION)
    assert nothing.report.outcome is Outcome.UNKNOWN
