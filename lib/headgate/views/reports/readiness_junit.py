"""A readiness report as JUnit XML: a finding that closes the gate is a failed test."""

from __future__ import annotations

from collections.abc import Collection
from xml.etree import ElementTree as ET

from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport
from headgate.text.xml_escape import printable
from headgate.views.reports.readiness import lines_of


def readiness_junit(report: ReadinessReport, fail_on: Collection[str]) -> str:
    """Return one suite; a report without findings is one test that passed."""
    cases = [_case(f, fail_on) for f in report.findings] or [
        ET.Element("testcase", classname="check", name="ready")
    ]
    failed = sum(case.find("failure") is not None for case in cases)
    suite = ET.Element(
        "testsuite", name="headgate check", tests=str(len(cases)), failures=str(failed)
    )
    suite.extend(cases)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(found: ReadinessFinding, fail_on: Collection[str]) -> ET.Element:
    name = found.where or "pipeline"
    case = ET.Element("testcase", classname=found.rule, name=printable(name))
    if ReadinessReport(findings=(found,)).closes(fail_on):
        failure = ET.SubElement(case, "failure", type=found.severity.word)
        failure.set("message", printable(found.what))
        said = (f"{word}: {text}" if word else text for word, text in lines_of([found]))
        failure.text = printable("\n".join(said))
    return case
