"""The report on a whole change: one comment, worst first, whatever names and messages hold."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from test_report_formats import FINE, OPEN, REPORT

from headgate.model.twin import Counterexample, TwinVerdict
from headgate.model.version import Engine, Version
from headgate.rules.compare.gated import (
    ComparedWith,
    Gated,
    GateReport,
    PipelineChange,
    worst_first,
)
from headgate.rules.compare.twin_findings import Disagreement
from headgate.rules.core.report import Outcome, Report
from headgate.views.reports.disagreements import disagreements_of
from headgate.views.reports.document_junit import junit_text
from headgate.views.reports.document_markdown import markdown_text
from headgate.views.reports.document_sarif import sarif_data
from headgate.views.reports.gate import gate_document, gate_json, reason, todo
from views.hostile import NAMES

EXAMPLE = Counterexample(
    operator_id=0,
    store="default",
    kind="state",
    key={"k": "a|b"},
    columns=("sum", "sum"),
    before=1,
    after=2,
)
TWIN = TwinVerdict(outcome="silently_wrong", why="it differs", counterexample=EXAMPLE)


def gated(name, **more):
    return Gated(pipeline=name, change=more.pop("change", PipelineChange.CHANGED), **more)


ALL = (
    gated("quiet", change=PipelineChange.UNCHANGED),
    gated("fine", report=Report(findings=(FINE,)), reasons=("a.py changed",)),
    gated("bad", report=REPORT, twin=TWIN, compared_with=ComparedWith.BASELINE, old="b.json"),
    gated("broken", error="build failed at a.py:1: ValueError: x", place=("jobs/broken.py", 3)),
    gated("gone", change=PipelineChange.REMOVED, said="Removed from headgate.toml."),
)
FOUND = GateReport(base="0" * 40, revision="main", pipelines=worst_first(ALL))
FAIL_ON = frozenset(("refuses", "silently_wrong", "unknown"))


def test_the_worst_is_first_and_what_did_not_change_is_last():
    assert [p.pipeline for p in FOUND.pipelines] == ["bad", "broken", "fine", "gone", "quiet"]


@pytest.mark.parametrize(
    ("error", "cause", "step"),
    [
        (
            "a:b failed at a.py:2: ValueError: use of a. Check MODULE:FUNCTION, and run the file.",
            "a:b failed at a.py:2: ValueError: use of a.",
            "Check MODULE:FUNCTION, and run the file.",
        ),
        ("there is no description: set `evidence`", "there is no description.", "Set `evidence`."),
        ("the function broke", "the function broke", ""),
    ],
)
def test_what_can_not_be_compared_says_what_to_do_in_its_own_column(error, cause, step):
    one = gated("broken", error=error)
    assert (reason(one), todo(one)) == (f"Not compared: {cause}", step)
    assert (
        gate_json(GateReport(base="0", revision="m", pipelines=(one,)))["pipelines"][0]["error"]
        == error
    )


def test_the_comment_has_a_row_with_verdict_reason_example_remedy_and_scenario():
    text = markdown_text(gate_document(FOUND, fail_on=FAIL_ON))
    lines = text.splitlines()
    assert lines[0] == "## ! Fails to start."
    assert lines[2] == "**4 of 5 pipelines changed. Do not deploy: bad, broken.**"
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]
    assert [row[:2] for row in rows] == [
        ["! Fails to start", "bad"],
        ["? Unknown", "broken"],
        ["✓ Resumes", "fine"],
        ["✓ Removed", "gone"],
    ]
    bad = next(line for line in lines if line.startswith("| ! Fails to start"))
    assert "for key k='a\\|b', the old version stored 1" in bad
    assert bad.endswith("Delete offsets/7. | `headgate plan from-scratch bad` |")
    assert "<summary>1 pipeline unchanged</summary>\n\n- quiet\n" in text
    assert "Compared with the baseline (b.json)" in text


@pytest.mark.parametrize("words", [frozenset(), frozenset(("refuses",)), frozenset(("unknown",))])
def test_the_check_fails_on_the_words_that_are_chosen(words):
    closing = {p.pipeline for p in FOUND.pipelines if p.closes(words)}
    expected = {"refuses": {"bad"}, "unknown": {"bad", "broken"}}
    assert closing == (expected[next(iter(words))] if words else set())
    assert FOUND.closes(words) == bool(closing)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_message_stays_in_its_cell(name):
    report = GateReport(base="0" * 40, revision=name, pipelines=(gated("a", error=name),))
    text = markdown_text(gate_document(report))
    rows = [line for line in text.splitlines() if line.startswith("| ? Unknown | a |")]
    assert len(rows) == 1 and rows[0].replace("\\|", "").count("|") == 7
    assert "<script" not in text and "<b>" not in text
    assert text.count("<details>") == text.count("</details>") == 1
    ET.fromstring(junit_text(gate_document(report)).partition("\n")[2])


def test_junit_has_a_suite_for_each_changed_pipeline():
    suites = ET.fromstring(junit_text(gate_document(FOUND, fail_on=FAIL_ON)).partition("\n")[2])
    counts = {s.get("name"): (s.get("tests"), s.get("failures")) for s in suites}
    assert counts == {
        "bad": ("3", "2"),
        "broken": ("1", "1"),
        "fine": ("1", "0"),
        "gone": ("1", "0"),
    }


def test_every_case_of_junit_has_its_own_name():
    """GitLab and Jenkins know a case by class name and name, also across suites."""
    twice = Report(findings=(OPEN, OPEN))
    both = GateReport(
        base="0",
        revision="main",
        pipelines=tuple(gated(n, report=twice) for n in ("a", "b")),
    )
    root = ET.fromstring(junit_text(gate_document(both)).partition("\n")[2])
    cases = [(c.get("classname"), c.get("name")) for c in root.iter("testcase")]
    assert len(set(cases)) == len(cases) == 4
    assert {name for name, _ in cases} == {f"a.{OPEN.rule}", f"b.{OPEN.rule}"}


def test_sarif_names_no_source_where_there_is_none():
    (run,) = sarif_data(gate_document(FOUND))["runs"]
    helps = {r["id"]: r["help"]["markdown"] for r in run["tool"]["driver"]["rules"]}
    assert helps["not-compared"].endswith("a question that you must answer.")
    assert not any(text.endswith("_Source: _") for text in helps.values())


def test_sarif_is_one_run_with_each_pipelines_own_place():
    (run,) = sarif_data(gate_document(FOUND))["runs"]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert [rules[r["ruleIndex"]] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    broken = next(r for r in run["results"] if r["ruleId"] == "not-compared")
    place = broken["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("jobs/broken.py", 3)
    prints = [r["partialFingerprints"]["headgateFinding/v1"] for r in run["results"]]
    assert len(set(prints)) == len(prints)


def test_the_same_finding_of_two_pipelines_is_two():
    both = GateReport(
        base="0",
        revision="main",
        pipelines=tuple(gated(n, report=Report(findings=(OPEN,))) for n in ("a", "b")),
    )
    (run,) = sarif_data(gate_document(both))["runs"]
    prints = [r["partialFingerprints"]["headgateFinding/v1"] for r in run["results"]]
    assert len(set(prints)) == 2


def test_json_has_every_field_of_the_contract():
    found = json.loads(json.dumps(gate_json(FOUND)))
    assert (found["schema"], found["outcome"], found["base"]) == (1, "refuses", "0" * 40)
    one = found["pipelines"][0]
    assert one["pipeline"] == "bad" and one["changed"] is True
    assert one["compared_with"] == "baseline" and one["scenario"] == "from-scratch"
    assert one["report"]["counterexample"]["key"] == {"k": "a|b"}
    broken = found["pipelines"][1]
    assert broken["report"] is None and broken["outcome"] == "unknown"
    assert broken["error"].startswith("build failed")
    assert found["pipelines"][-1]["changed"] is False


def test_the_file_for_a_bug_report_has_the_pipelines_whose_twin_contradicts_the_rules():
    one = replace(
        ALL[2],
        disagreements=(Disagreement("AGG001", Outcome.REFUSES, Outcome.RESUMES),),
        versions=(Version(engine=Engine.SPARK), Version(engine=Engine.SPARK)),
        plans=("old plan", "new plan"),
        hints={"rows": 3},
    )
    found = disagreements_of(replace(FOUND, pipelines=(one, *ALL)))
    assert list(found["pipelines"]) == ["bad"]
    bad = found["pipelines"]["bad"]
    assert bad["plans"] == {"before": "old plan", "after": "new plan"}
    assert bad["disagreements"] and bad["hints"] == {"rows": 3} and "counterexample" not in bad
