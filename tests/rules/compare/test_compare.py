"""What holds for every comparison, whatever the rules say."""

from dataclasses import replace

import pytest

from headgate.errors import RenameError
from headgate.model.registered_pipelines import Acceptance
from headgate.model.state_schema import Field, Schema
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.match_operators import match_nodes
from headgate.rules.core.report import Finding, Outcome, Report, StateEffect
from headgate.rules.spark.facts.state_schema_check import Fit, fit
from rules.build import COUNT, SUM, K, aggregate, deduplicate, files, graph, version


def of(*fields):
    return Schema(fields)


@pytest.mark.parametrize(
    ("stored", "planned", "expected"),
    [
        (of(K), of(Field("other", "string", True)), Fit.FITS),
        (of(K), of(Field("k", "string", False)), Fit.FITS),
        (of(Field("k", "string", False)), of(K), Fit.NULLABLE),
        (of(K), of(Field("k", "long", True)), Fit.TYPE),
        (of(K), of(K, K), Fit.NUMBER),
        (of(K), of(Field("k", None, True)), Fit.UNKNOWN),
        (of(K), None, Fit.UNKNOWN),
        (of(COUNT), of(SUM), Fit.NULLABLE),
        (of(Field("d", "decimal(20,2)", True)), of(Field("d", "decimal(22,2)", True)), Fit.TYPE),
    ],
)
def test_a_schema_fits_as_spark_decides(stored, planned, expected):
    assert fit(stored, planned) is expected


def test_names_inside_a_struct_do_not_count_and_nullability_does():
    def struct(name, nullable):
        inner = {"name": name, "type": "long", "nullable": nullable, "metadata": {}}
        return of(Field("s", {"type": "struct", "fields": [inner]}, True))

    assert fit(struct("a", True), struct("b", True)) is Fit.FITS
    assert fit(struct("a", False), struct("a", True)) is Fit.NULLABLE


def test_equal_versions_have_neither_findings_nor_changes():
    report = compare(version(aggregate()), version(aggregate()))
    assert (report.findings, report.changes, report.outcome) == ((), (), Outcome.RESUMES)


def test_how_the_state_is_written_is_a_setting_and_no_change_of_the_graph():
    details = {"store": "default", "checkpoint_format": 2, "changelog": True}
    kept = Node(id="store", kind=NodeKind.STATE_STORE, operator="state_store", label="default",
                details=details)  # fmt: skip
    planned = replace(kept, details={"store": "default"})
    before, after = (version(topology=Topology((n,), ())) for n in (kept, planned))
    assert compare(before, after).changes == ()


def test_the_worst_finding_is_the_outcome_and_stands_first():
    after = version(deduplicate(), topology=graph(("filter", "s0.v > 1")), sources=(files(),))
    report = compare(version(aggregate()), after)
    assert report.outcome is Outcome.REFUSES
    assert [f.outcome for f in report.findings] == sorted(
        (f.outcome for f in report.findings), reverse=True
    )


@pytest.mark.parametrize("engine", [Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP])
def test_other_engines_are_unknown_with_a_question(engine):
    other = replace(version(), engine=engine)
    for before, after in ((other, other), (version(), other)):
        report = compare(before, after)
        assert report.outcome is Outcome.UNKNOWN
        assert all(f.question for f in report.findings)


def test_an_unknown_without_a_question_is_a_mistake():
    with pytest.raises(ValueError, match="question"):
        Finding(rule="X", outcome=Outcome.UNKNOWN, why="", source="")


def test_accepted_findings_count_and_do_not_close_the_gate():
    finding = Finding(rule="X", outcome=Outcome.REFUSES, why="w", source="s")
    assert Report(findings=(finding,)).closes(["refuses"])
    accepted = replace(finding, accepted=Acceptance("known"))
    report = Report(findings=(accepted,))
    assert report.outcome is Outcome.REFUSES
    assert not report.closes(["refuses"])


def test_mixed_is_a_word_of_the_gate():
    finding = Finding(
        rule="X", outcome=Outcome.RESUMES, why="w", source="s", state_effect=StateEffect.MIXED
    )
    assert Report(findings=(finding,)).closes(["mixed"])
    assert not Report(findings=(finding,)).closes(["refuses", "unknown"])


def test_a_rename_that_is_none_is_refused():
    with pytest.raises(RenameError, match="source:OLD=NEW"):
        compare(version(), version(), renames=["nonsense"])


def test_verdicts_hold_for_a_version():
    before, after = version(aggregate()), version()
    assert compare(before, after).outcome is Outcome.REFUSES
    old = compare(before, after, spark_version="3.5.8")
    assert old.outcome is Outcome.SILENTLY_WRONG
    assert old.judged_for == "spark 3.5.8"
    newer = compare(before, after, spark_version="4.9.0")
    assert any("not tested" in w for w in newer.warnings)


def test_nodes_match_by_id_and_then_by_likeness():
    before = graph(("filter", "s0.v > 1"), ("project", "s0.v"))
    after = graph(("project", "s0.v"), ("filter", "s0.v > 2"))
    found = match_nodes(before, after)
    assert found.pairs["source0"] == "source0"
    assert found.pairs["filter0"] == "filter1"
    assert (found.added, found.removed) == ((), ())
