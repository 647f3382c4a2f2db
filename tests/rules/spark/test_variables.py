"""State variables as Spark 4.2.0 takes them over, and what equal or other code means."""

from dataclasses import replace

import pytest

from headgate.model.state_schema import Field
from headgate.model.version import Function
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from rules.build import aggregate, graph, version
from rules.variable_cases import BOTH, CASES, SAME, N, T, avro, variables

X = Field("x", "long", True)


def found(before, after):
    return {f.rule: f.outcome for f in compare(before, after).findings}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_where_it_should_and_not_where_nothing_changed(code):
    before, changed, outcome, same = CASES[code]
    spoken = found(before, changed)
    assert code in spoken, (
        f"{code} did not speak: write its check, and in CASES a change that it reports"
    )
    assert spoken[code] is outcome
    assert code not in found(before, same)


@pytest.mark.parametrize(
    "planned",
    [
        avro(N, T, X),
        avro(X, N, T),
        avro(N),
        avro(T, N),
        avro(replace(N, type="long"), T),
    ],
    ids=["added", "added first", "removed", "reordered", "widened"],
)
def test_avro_reads_by_name_what_spark_resumed_with(planned):
    assert compare(BOTH, planned).outcome is Outcome.RESUMES


def test_the_same_changes_are_refused_in_unsafe_rows():
    before = variables(c=(N, T))
    assert found(before, variables(c=(N, T, X))) == {"STA002": Outcome.REFUSES}
    wide = variables(c=(replace(N, type="long"), T))
    assert found(before, wide) == {"STA002": Outcome.REFUSES}


def test_in_unsafe_rows_a_field_is_known_by_its_place():
    assert compare(SAME, variables(c=(replace(N, name="m"),))).outcome is Outcome.RESUMES


def test_a_variable_that_is_removed_alone_loses_nothing_that_is_read():
    report = compare(variables(c=(N,), d=(N,)), SAME)
    assert [(f.rule, f.outcome) for f in report.findings] == [("TWS003", Outcome.RESUMES)]


def test_the_same_code_and_variables_resume():
    assert compare(SAME, SAME).findings == ()


def test_other_code_is_named_with_both_hashes():
    (finding,) = compare(SAME, variables(code="b" * 64, c=(N,))).findings
    assert finding.outcome is Outcome.UNKNOWN
    assert "Counter" in (finding.question or "")
    assert (finding.before, finding.after) == ("a" * 12, "b" * 12)


def test_a_checkpoint_has_no_code():
    (finding,) = compare(replace(SAME, functions=()), SAME).findings
    assert finding.outcome is Outcome.UNKNOWN
    assert "code of Counter" in (finding.question or "")


def with_function(code, *, below=False):
    """Return a version that calls f above its aggregate, or below it."""
    topology = graph(("project", "f(s0.v)"))
    nodes = list(topology.nodes)
    place = nodes.index(topology.node("aggregate" if below else "project0"))
    nodes[place] = replace(nodes[place], details={"user_functions": ["f"]})
    function = Function(kind="udf", name="f", hash=code)
    return version(
        aggregate(),
        topology=replace(topology, nodes=tuple(nodes)),
        functions=(function,),
        user_functions=("f",),
    )


def test_equal_bodies_are_no_difference():
    assert compare(with_function("a" * 64), with_function("a" * 64)).findings == ()


def test_another_body_above_state_leaves_the_question_open():
    (finding,) = compare(with_function("a" * 64), with_function("b" * 64)).findings
    assert (finding.rule, finding.outcome) == ("FUN003", Outcome.UNKNOWN)
    assert finding.before == "a" * 12
    assert finding.after == "b" * 12


def test_another_body_below_state_changes_new_output_alone():
    old, new = (with_function(code * 64, below=True) for code in "ab")
    assert compare(old, new).outcome is Outcome.RESUMES
