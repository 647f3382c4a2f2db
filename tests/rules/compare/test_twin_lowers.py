"""A twin run lowers a finding only if all that it takes is there."""

from dataclasses import replace

import pytest

from headgate.model.twin import Counterexample, Equivalence, OperatorRows, TwinVerdict
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.rules.compare.twin_findings import with_twin, worst_of
from headgate.rules.compare.twin_lowers import can_lower
from headgate.rules.core.report import Finding, Location, Outcome, Report, StateEffect

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


SPRING = "CASE((date_format(s0.ts, MM-dd, Some(UTC)) <= {}), first, (s0.n = 1), second, autumn)"


def lowered(finding=FINDING, first=EQUAL, second=AGAIN):
    found = with_twin(Report(findings=(finding,)), first, VERSION, VERSION, again=second)
    return found.report.outcome, [one.seeds for one in found.lowered]


def test_two_equal_runs_lower_a_finding_about_state():
    assert can_lower(Report(findings=(FINDING,)), EQUAL, VERSION, VERSION)
    assert lowered() == (Outcome.RESUMES, [(7, 8)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(s0.v > 0)", "(s0.v >= 1)"),
        ("(s0.v = s0.w)", "(s0.w = s0.v)"),
        ("upper(trim(s0.k))", "trim(upper(s0.k))"),
        ("substring(s0.k, 1, 3)", "substring(s0.k, 0, 3)"),
    ],
)
def test_another_way_to_say_the_same_is_lowered(before, after):
    assert lowered(replace(FINDING, before=[before], after=[after]))[0] is Outcome.RESUMES


@pytest.mark.parametrize(
    "changed",
    [
        {"finding": replace(FINDING, rule="CFG007")},
        {"finding": replace(FINDING, rule="WIN001")},
        # Generated times of two columns are nearly the same.
        {"finding": replace(FINDING, rule="WIN003")},
        {"finding": replace(FINDING, rule="WMK003")},
        {"finding": replace(FINDING, after=["to_date(from_utc_timestamp(s0.ts, Asia/Tokyo))"])},
        # Nearly all rows are on one side of both constants.
        {
            "finding": replace(
                FINDING, before=[SPRING.format("04-30")], after=[SPRING.format("05-15")]
            )
        },
        {"finding": replace(FINDING, before="(s0.v > 5)", after="(s0.v > 7)")},
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


STORE = OperatorRows(operator_id=-1, operator="store counts", rows_before=40, rows_after=40)
TOPIC = OperatorRows(operator_id=-1, operator="output topic out", rows_before=3, rows_after=3)
STREAMS = TwinVerdict(
    outcome="resumes",
    why="equal",
    rows=674,
    rows_out=60,
    seed=7,
    operators=(STORE, TOPIC),
    streams_version="4.3.1",
    is_exact=True,
)
QUESTION = replace(FINDING, rule="KST000", outcome=Outcome.UNKNOWN, question="Which of these?")


def test_two_equal_runs_of_kafka_streams_answer_what_a_description_leaves_open():
    assert lowered(QUESTION, STREAMS, replace(STREAMS, seed=8)) == (Outcome.RESUMES, [(7, 8)])


@pytest.mark.parametrize(
    ("finding", "run"),
    [
        # Topics, waiting records and settings aren't in a run.
        (replace(QUESTION, rule="KST020"), STREAMS),
        (replace(QUESTION, rule="KST042"), STREAMS),
        # A rule that knows is not overruled.
        (replace(FINDING, rule="KST010"), STREAMS),
        (QUESTION, replace(STREAMS, mixed=True)),
        # Only the last value of each key is equal.
        (QUESTION, replace(STREAMS, is_exact=False)),
        (QUESTION, replace(STREAMS, rows_out=29)),
        (QUESTION, replace(STREAMS, operators=(replace(STORE, rows_after=None),))),
    ],
)
def test_what_a_run_does_not_show_stays_open(finding, run):
    assert lowered(finding, run, replace(run, seed=8)) == (finding.outcome, [])


def test_one_query_to_the_optimizer_needs_no_rows():
    same = Equivalence(plan=True)
    verdict = TwinVerdict(outcome="resumes", why="same", equivalence=same)
    assert not can_lower(Report(findings=(FINDING,)), verdict, VERSION, VERSION)
    found = with_twin(Report(findings=(FINDING,)), verdict, VERSION, VERSION)
    assert found.report.outcome is Outcome.RESUMES
    (why,) = (f.why for f in found.report.findings)
    assert "Without this comparison of plans, the rule reported: " in why, "nothing ran"
    of_setting = replace(FINDING, rule="CFG007")
    found = with_twin(Report(findings=(of_setting,)), verdict, VERSION, VERSION)
    assert found.report.outcome is Outcome.SILENTLY_WRONG
    question = replace(of_setting, outcome=Outcome.UNKNOWN, question="Which value?")
    found = with_twin(Report(findings=(question,)), verdict, VERSION, VERSION)
    assert found.report.outcome is Outcome.RESUMES


def test_a_key_by_a_function_of_the_user_is_not_lowered():
    """Made texts reach what a plan shows: a tab, which only the function removes, they don't."""
    clean = replace(FINDING, outcome=Outcome.UNKNOWN, question="Same key?", before=["clean(s0.p)"])
    hidden = replace(VERSION, user_functions=("clean",))
    found = with_twin(Report(findings=(clean,)), EQUAL, hidden, VERSION, again=AGAIN)
    assert found.report.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("name", ["clean", "<lambda>"])
def test_every_name_of_a_user_function_is_found(name):
    finding = replace(FINDING, before=[f"{name}(s0.p)"])
    assert not can_lower(
        Report(findings=(finding,)), EQUAL, replace(VERSION, user_functions=(name,)), VERSION
    )


def test_a_failure_that_only_the_second_run_shows_counts():
    worse = replace(AGAIN, outcome="silently_wrong")
    assert worst_of(EQUAL, worse) == (worse, None)
    thin = replace(AGAIN, outcome="unknown")
    assert worst_of(EQUAL, thin) == (EQUAL, thin)
    assert worst_of(EQUAL, None) == (EQUAL, None)


def test_results_of_another_form_are_not_called_the_same_state():
    report = Report(findings=(FINDING,))
    both = with_twin(report, EQUAL, VERSION, VERSION, again=AGAIN).report
    assert "wrote the same results" in both.findings[0].why
    exact = [replace(v, is_exact=True) for v in (EQUAL, AGAIN)]
    both = with_twin(report, exact[0], VERSION, VERSION, again=exact[1]).report
    assert "had the same state" in both.findings[0].why


def test_an_outcome_that_stays_the_rules_is_listed_as_a_disagreement():
    mixed = replace(FINDING, outcome=Outcome.RESUMES, state_effect=StateEffect.MIXED)
    wrong = replace(EQUAL, outcome="silently_wrong", is_scaled=True)
    found = with_twin(Report(findings=(mixed,)), wrong, VERSION, VERSION)
    assert found.report.outcome is Outcome.RESUMES
    assert [(d.rules, d.engine) for d in found.disagreements] == [
        (Outcome.RESUMES, Outcome.SILENTLY_WRONG)
    ]


@pytest.mark.parametrize(
    ("kind", "of", "outcome"),
    [
        (OperatorKind.STREAM_JOIN, "output", Outcome.RESUMES),
        (OperatorKind.STREAM_JOIN, "state", Outcome.SILENTLY_WRONG),
        (OperatorKind.AGGREGATE, "output", Outcome.SILENTLY_WRONG),
    ],
)
def test_other_outputs_of_a_join_whose_condition_changed_are_mixed(kind, of, outcome):
    joined = replace(VERSION, stateful=(replace(OPERATOR, kind=kind),))
    mixed = replace(FINDING, outcome=Outcome.RESUMES, state_effect=StateEffect.MIXED)
    example = Counterexample(kind=of, operator_id=0, key={}, before=1, after=2)
    wrong = replace(EQUAL, outcome="silently_wrong", counterexample=example)
    found = with_twin(Report(findings=(mixed,)), wrong, joined, joined)
    assert found.report.outcome is outcome and found.disagreements


SCHEMA = replace(FINDING, rule="STA003", outcome=Outcome.UNKNOWN, question="Which schema?")


@pytest.mark.parametrize("changed", [{}, {"mixed": True}, {"outcome": "silently_wrong"}])
def test_any_start_answers_which_schema_the_new_version_plans(changed):
    run = replace(EQUAL, **changed)
    found = with_twin(Report(findings=(SCHEMA,)), run, VERSION, VERSION)
    assert [(one.rule, one.seeds) for one in found.lowered] == [("STA003", (7,))]
    wrong = run.outcome == "silently_wrong"
    assert found.report.outcome is (Outcome.SILENTLY_WRONG if wrong else Outcome.RESUMES)
    assert not can_lower(Report(findings=(SCHEMA,)), run, VERSION, VERSION)


@pytest.mark.parametrize(
    ("finding", "run"),
    [
        (SCHEMA, replace(EQUAL, outcome="unknown", question="?", why="late")),
        (SCHEMA, replace(EQUAL, operators=(replace(ROWS, rows_after=None),))),
        (SCHEMA, replace(EQUAL, operators=())),
        (replace(SCHEMA, location=Location("sink", "sink")), EQUAL),
        (replace(SCHEMA, rule="STA004"), EQUAL),
    ],
)
def test_without_a_start_of_the_operator_the_schema_stays_open(finding, run):
    found = with_twin(Report(findings=(finding,)), run, VERSION, VERSION)
    assert found.lowered == () and found.report.outcome is Outcome.UNKNOWN
