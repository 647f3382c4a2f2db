"""A report as JUnit XML: a finding that fails the check is a failed test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from headgate.text.xml_escape import printable
from headgate.views.reports.document import Document, Item, accepted_text


def junit_text(document: Document) -> str:
    """Return one suite, or one for each part; a report without findings is a test that passed.

    A finding that fails the check is a failed test, one that was accepted a skipped one. The
    warnings are the suite's output.
    """
    root = _suite(document)
    if document.parts:
        root = ET.Element("testsuites", name=document.command)
        root.extend(map(_suite, document.parts))
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(document: Document) -> ET.Element:
    kind = document.command.rpartition(" ")[2]
    cases = [*_cases(document)] or [
        ET.Element("testcase", classname=kind, name=printable(document.passed))
    ]
    name = printable(document.name or document.command)
    suite = ET.Element("testsuite", name=name, tests=str(len(cases)), errors="0")
    for word, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(word, str(sum(case.find(tag) is not None for case in cases)))
    properties = ET.SubElement(suite, "properties")
    for name, value in document.properties.items():
        ET.SubElement(properties, "property", name=name, value=printable(value))
    suite.extend(cases)
    if document.warnings:
        ET.SubElement(suite, "system-out").text = printable("\n".join(document.warnings))
    return suite


def _cases(document: Document) -> Iterator[ET.Element]:
    """Yield a case for each finding, each with its own class name and name.

    GitLab and Jenkins take cases with equal names for one, also those of several suites. Two
    pipelines may have nodes with one id, and two findings of a rule may be about one node.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for item in document.items:
        group = f"{document.name}.{item.rule}" if document.name else item.rule
        name = item.nodes[-1][0] if item.nodes else "pipeline"
        seen[group, name] += 1
        number = seen[group, name]
        yield _case(item, group, name if number == 1 else f"{name} ({number})")


def _case(item: Item, group: str, name: str) -> ET.Element:
    case = ET.Element("testcase", classname=printable(group), name=printable(name))
    lines = printable("\n".join(item.lines()))
    if item.accepted is not None:
        said = printable(accepted_text(item.accepted))
        ET.SubElement(case, "skipped", message=said).text = lines
    elif item.closes:
        failure = ET.SubElement(case, "failure", type=item.kind)
        failure.set("message", printable(item.what[0]))
        failure.text = lines
    else:
        ET.SubElement(case, "system-out").text = lines
    return case
