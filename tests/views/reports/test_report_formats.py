"""A comparison as Markdown, SARIF and JUnit: what each must hold, whatever the findings are."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from headgate.model.registered_pipelines import Acceptance
from headgate.rules.core.report import (
    Change,
    ChangeKind,
    Finding,
    Labels,
    Location,
    Outcome,
    Report,
    Rollback,
    StateEffect,
)
from headgate.usecases.compare.source_location import source_location
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.document import SourceLocation
from headgate.views.reports.document_junit import junit_text
from headgate.views.reports.document_markdown import markdown_text
from headgate.views.reports.document_sarif import sarif_data
from headgate.views.reports.verdict_line import verdict

BAD = Finding(
    rule="STA001",
    outcome=Outcome.REFUSES,
    why="The key | differs. More <b>words</b>.",
    source="measured",
    location=Location("aggregate-1", "aggregate-2"),
    before="k: long",
    after="k: int",
    error_class="STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
    rollback=Rollback.REPAIRABLE,
    remedy="Delete offsets/7.",
    scenario="from-scratch",
)
OPEN = Finding(
    rule="FUN003", outcome=Outcome.UNKNOWN, why="Bodies.", source="measured", question="Did it?"
)
FINE = Finding(rule="TRF001", outcome=Outcome.RESUMES, why="A filter.", source="measured")
REPORT = Report(
    findings=(BAD, OPEN, FINE),
    changes=(Change(ChangeKind.CHANGED, "aggregate-1", "aggregate-2", "a -> b"),),
    judged_for="spark 4.2.0",
    warnings=("Nothing names the version.",),
    labels=Labels({"aggregate-1": "count by k"}, {"aggregate-2": "sum by k"}),
)
URL = "https://example.org/rules/"


def test_markdown_has_the_verdict_on_top_and_the_worst_first():
    text = markdown_text(comparison_document(REPORT), URL)
    lines = text.splitlines()
    assert lines[0] == "## ! Fails to start."
    assert "Do not deploy" in lines[2] and "Delete offsets/7." in lines[2]
    rows = [line for line in lines if line.startswith("| ") and "](" in line]
    assert [re.search(r"\[(\w+)\]", row)[1] for row in rows] == ["STA001", "FUN003", "TRF001"]
    assert f"[STA001]({URL}STA001.md)" in rows[0]
    assert "the old version can be started again after you apply the remedy" in rows[0]
    assert "Did it?" in rows[1]


def test_markdown_folds_details_and_keeps_names_from_being_markup():
    text = markdown_text(comparison_document(REPORT), URL)
    assert text.count("<details>") == text.count("</details>") == 4
    assert "<b>" not in text
    cells = [line.replace("\\|", "").count("|") for line in text.splitlines() if line[:2] == "| "]
    assert set(cells) == {6}


def test_markdown_fits_into_a_comment():
    many = replace(REPORT, findings=tuple(replace(BAD, why=f"{n} " * 2000) for n in range(200)))
    text = markdown_text(comparison_document(many))
    assert len(text) < 65_536
    assert "doesn't fit into a comment" in text
    assert "180 more findings below" in text


def test_sarif_has_levels_places_and_rules():
    document = comparison_document(REPORT, reasons={"STA001": "The reason."})
    run = sarif_data(document, location=SourceLocation("a/b.py", 3), rules_url=URL)["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["STA001", "FUN003", "TRF001"]
    assert rules[0]["helpUri"] == f"{URL}STA001.md"
    assert rules[0]["fullDescription"]["text"] == "The reason."
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note"]
    for index, result in enumerate(run["results"]):
        assert result["ruleIndex"] == index
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "a/b.py"
        assert place["region"]["startLine"] == 3
    logical = run["results"][0]["locations"][0]["logicalLocations"]
    assert [x["fullyQualifiedName"] for x in logical] == ["aggregate-1", "aggregate-2"]
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert [n["message"]["text"] for n in told] == ["Nothing names the version."]


def test_a_finding_keeps_its_fingerprint_when_its_sentences_change():
    def print_of(finding):
        result = sarif_data(comparison_document(Report(findings=(finding,))))["runs"][0]["results"][
            0
        ]
        return result["partialFingerprints"]

    assert print_of(BAD) == print_of(replace(BAD, why="Other words.", remedy="Other."))
    assert print_of(BAD) != print_of(replace(BAD, after="k: string"))


def test_junit_tells_failed_skipped_and_passed_apart():
    accepted = replace(OPEN, accepted=Acceptance("known", "2999-12-31"))
    report = replace(REPORT, findings=(BAD, accepted, FINE))
    suite = ET.fromstring(
        junit_text(comparison_document(report, fail_on={"refuses", "unknown"})).split("?>", 1)[1]
    )
    counts = {k: suite.get(k) for k in ("tests", "failures", "skipped", "errors")}
    assert counts == {"tests": "3", "failures": "1", "skipped": "1", "errors": "0"}
    assert "count by k (aggregate-1) -> sum by k (aggregate-2)" in suite.find(".//failure").text
    assert suite.find("system-out").text == "Nothing names the version."


def test_a_value_without_effect_and_mixed_results_are_both_said():
    pinned = replace(FINE, rule="CFG001", outcome=Outcome.NO_EFFECT)
    mixed = replace(FINE, state_effect=StateEffect.MIXED)
    said = verdict(Report(findings=(pinned, mixed), judged_for="spark 4.2.0"))
    assert said.word == "No effect."
    assert "have no effect" in said.sentence and "Results mix" in said.sentence


def test_the_verdict_says_what_was_accepted_and_what_was_not():
    known = replace(BAD, accepted=Acceptance("SALES-17", "2999-12-31"))
    assert "Accepted until 2999-12-31: SALES-17" in verdict(Report(findings=(known,))).sentence
    assert "Other findings: Unknown (1)" in verdict(Report(findings=(known, OPEN))).sentence


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        (["sales.orders:build"], ("sales/orders.py", 4)),
        (["sales.orders:other"], ("sales/orders.py", 1)),
        (["plan.txt"], ("plan.txt", 1)),
        (["s3a://bucket/plan", "plan.txt"], ("plan.txt", 1)),
        (["gone.module:build"], None),
    ],
)
def test_findings_are_shown_at_the_function_or_the_file(tmp_path, monkeypatch, evidence, place):
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.py").write_text("import os\n\n\ndef build(spark):\n    pass\n")
    (tmp_path / "plan.txt").write_text("plan")
    monkeypatch.chdir(tmp_path)
    assert source_location(evidence) == place
