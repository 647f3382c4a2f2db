"""A comparison as JUnit XML: a finding that closes the gate is a failed test."""

from __future__ import annotations

import re
from collections.abc import Collection
from xml.etree import ElementTree as ET

from headgate.rules.core.report import Finding, Report
from headgate.views.reports.comparison_words import accepted_text, lines_of

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def report_junit(report: Report, fail_on: Collection[str]) -> str:
    """Return one suite; a report without findings is one test that passed.

    A finding that closes the gate is a failed test, one that was accepted a skipped one. What the
    report says beside its findings is the suite's output.
    """
    cases = [_case(f, report, fail_on) for f in report.findings] or [_passed()]
    suite = ET.Element("testsuite", name="headgate diff", tests=str(len(cases)), errors="0")
    for word, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(word, str(sum(case.find(tag) is not None for case in cases)))
    properties = ET.SubElement(suite, "properties")
    for name, value in (("outcome", report.outcome.word), ("judged_for", report.judged_for)):
        ET.SubElement(properties, "property", name=name, value=_clean(value))
    suite.extend(cases)
    if report.warnings:
        ET.SubElement(suite, "system-out").text = _clean("\n".join(report.warnings))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(finding: Finding, report: Report, fail_on: Collection[str]) -> ET.Element:
    name = finding.location.after or finding.location.before or "query"
    case = ET.Element("testcase", classname=finding.rule, name=_clean(name))
    lines = _clean("\n".join(lines_of(finding, report.labels)))
    if accepted := accepted_text(finding):
        ET.SubElement(case, "skipped", message=_clean(accepted)).text = lines
    elif Report(findings=(finding,)).closes(fail_on):
        failure = ET.SubElement(case, "failure", type=finding.outcome.word)
        failure.set("message", _clean(finding.why))
        failure.text = lines
    else:
        ET.SubElement(case, "system-out").text = lines
    return case


def _passed() -> ET.Element:
    return ET.Element("testcase", classname="diff", name="resumes")


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
