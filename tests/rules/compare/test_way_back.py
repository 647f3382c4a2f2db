"""The way back that a rehearsal tried, beside the one that the findings promise."""

import pytest

from headgate.model.rehearsal import EngineOutcome, RollbackTrial
from headgate.model.twin import Counterexample, TwinVerdict
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.rules.compare.engine_agreement import Agreement
from headgate.rules.compare.rollback import expected_rollback, judge_rollback, rollback_of
from headgate.rules.compare.twin_findings import with_twin
from headgate.rules.core.report import Finding, Location, Outcome, Report, Rollback

RUNS, FAILS, OPEN = EngineOutcome.RESUMES, EngineOutcome.REFUSES, EngineOutcome.UNKNOWN


def report(*found):
    findings = [
        Finding(rule="R", outcome=o, why="", source="", rollback=r, question="?") for o, r in found
    ]
    return Report(findings=findings)


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        (RollbackTrial(outcome=RUNS), Rollback.SAFE),
        (RollbackTrial(outcome=FAILS, removed=("offsets/1",), repaired=RUNS), Rollback.REPAIRABLE),
        (RollbackTrial(outcome=FAILS, removed=("offsets/1",), repaired=FAILS), Rollback.LOST),
        (RollbackTrial(outcome=FAILS), Rollback.LOST),
        (RollbackTrial(outcome=FAILS, removed=("offsets/1",), repaired=OPEN), Rollback.UNKNOWN),
        (RollbackTrial(outcome=OPEN), Rollback.UNKNOWN),
    ],
)
def test_what_the_starts_prove(back, expected):
    assert rollback_of(back) is expected


def test_what_is_refused_does_nothing_else():
    silent = (Outcome.SILENTLY_WRONG, Rollback.LOST)
    refused = (Outcome.REFUSES, Rollback.REPAIRABLE)
    assert expected_rollback(report()) is Rollback.SAFE
    assert expected_rollback(report(silent)) is Rollback.LOST
    assert expected_rollback(report(silent, refused)) is Rollback.REPAIRABLE
    both = report(refused, (Outcome.REFUSES, Rollback.UNKNOWN))
    assert expected_rollback(both) is Rollback.UNKNOWN


@pytest.mark.parametrize(
    ("rules", "back", "agreement"),
    [
        (Rollback.SAFE, RollbackTrial(outcome=RUNS), Agreement.AGREE),
        (Rollback.SAFE, RollbackTrial(outcome=FAILS), Agreement.DISAGREE),
        (Rollback.REPAIRABLE, RollbackTrial(outcome=RUNS, rows_in=3), Agreement.DISAGREE),
        # What would have harmed it was not there: new rows were not taken, or none were left.
        (
            Rollback.REPAIRABLE,
            RollbackTrial(outcome=RUNS, rows_in=3, is_own_entry=True),
            Agreement.OPEN,
        ),
        (Rollback.LOST, RollbackTrial(outcome=RUNS), Agreement.OPEN),
        (Rollback.UNKNOWN, RollbackTrial(outcome=RUNS), Agreement.OPEN),
        (Rollback.SAFE, RollbackTrial(outcome=OPEN, note="no function"), Agreement.OPEN),
    ],
)
def test_both_are_set_side_by_side(rules, back, agreement):
    judged = judge_rollback(report((Outcome.REFUSES, rules)), back)
    assert judged.agreement is agreement
    assert judged.why.endswith(".")


@pytest.mark.parametrize(
    ("node", "rules", "twin"),
    [
        # As recorded of agg_reorder_same_type and agg_min_to_max: the old version runs again.
        ("a", Rollback.SAFE, Rollback.SAFE),
        ("a", Rollback.LOST, Rollback.LOST),
        ("a", Rollback.UNKNOWN, Rollback.UNKNOWN),
        ("b", Rollback.SAFE, Rollback.UNKNOWN),
    ],
)
def test_a_twin_run_takes_the_rollback_of_the_rules(node, rules, twin):
    operators = tuple(
        StatefulOperator(kind=OperatorKind.AGGREGATE, node=n, operator_id=i)
        for i, n in enumerate("ab")
    )
    version = Version(engine=Engine.SPARK, stateful=operators)
    example = Counterexample(kind="state", operator_id=0, key={}, before=1, after=2)
    verdict = TwinVerdict(outcome="silently_wrong", why="x", rows=9, seed=7, counterexample=example)
    found = Finding(
        rule="AGG002",
        outcome=Outcome.SILENTLY_WRONG,
        why="",
        source="",
        location=Location(node, node),
        rollback=rules,
    )
    added = with_twin(Report(findings=(found,)), verdict, version, version).report.findings[0]
    assert (added.rule, added.rollback) == ("TWN002", twin)
    alone = with_twin(Report(), verdict, version, version).report.findings[0]
    assert alone.rollback is Rollback.UNKNOWN
