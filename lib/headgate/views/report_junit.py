"""A comparison as JUnit XML: a finding that closes the gate is a failed test."""

from __future__ import annotations

import re
from collections.abc import Collection
from xml.etree import ElementTree as ET

from headgate.compat.report import Finding, Report
from headgate.views.report_words import lines_of

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def report_junit(report: Report, fail_on: Collection[str]) -> str:
    """Return one suite; a report without findings is one test that passed."""
    cases = [_case(f, fail_on) for f in report.findings] or [_passed()]
    failed = sum(case.find("failure") is not None for case in cases)
    suite = ET.Element(
        "testsuite", name="headgate diff", tests=str(len(cases)), failures=str(failed)
    )
    suite.extend(cases)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(finding: Finding, fail_on: Collection[str]) -> ET.Element:
    node = finding.where.after or finding.where.before or "query"
    case = ET.Element("testcase", classname=finding.rule, name=_clean(node))
    if Report(findings=(finding,)).closes(fail_on):
        failure = ET.SubElement(case, "failure", type=finding.outcome.word)
        failure.set("message", _clean(finding.why))
        failure.text = _clean("\n".join(lines_of(finding)))
    return case


def _passed() -> ET.Element:
    return ET.Element("testcase", classname="diff", name="resumes")


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
