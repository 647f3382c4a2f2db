"""The words that every writing of a readiness report shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from headgate import __version__
from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport, Severity
from headgate.text.xml_escape import printable

GLYPHS = {Severity.HIGH: "!", Severity.MEDIUM: "▲", Severity.LOW: "·"}
WORDS = {Severity.HIGH: "High", Severity.MEDIUM: "Medium", Severity.LOW: "Low"}
_KEEPS = {
    True: "the state stays",
    False: "the state is lost, or a new checkpoint is needed",
    None: "whether the state stays is not known",
}


def headline(report: ReadinessReport) -> str:
    """Return how many findings of each severity nobody has accepted, in one line."""
    counts = Counter(f.severity for f in report.findings if f.accepted is None)
    accepted = sum(f.accepted is not None for f in report.findings)
    parts = [f"{counts[s]} {s.word}" for s in sorted(Severity, reverse=True) if counts[s]]
    none = "Nothing found in what could be checked." if report.warnings else "Nothing found."
    said = f"{', '.join(parts)}." if parts else none
    return f"{said} {accepted} accepted." if accepted else said


def groups(report: ReadinessReport) -> list[list[ReadinessFinding]]:
    """Return the findings in their order, those together that differ in their place alone."""
    out: dict[tuple[object, ...], list[ReadinessFinding]] = {}
    for f in report.findings:
        key = (f.severity, f.rule, f.keeps_state, f.question, f.accepted)
        out.setdefault(key, []).append(f)
    return list(out.values())


def lines_of(group: Sequence[ReadinessFinding]) -> list[tuple[str, str]]:
    """Return (word, text) of what is said of a group; the remedy is the first one's."""
    first = group[0]
    out = [("", f.what) for f in group]
    out.append(("Why", first.why))
    if first.question:
        out.append(("Question", first.question))
    out.append(("Remedy", f"{first.remedy} ({_KEEPS[first.keeps_state]})"))
    if first.accepted:
        until = f" until {first.accepted.until}" if first.accepted.until else ""
        out.append((f"Accepted{until}", first.accepted.reason))
    out.append(("Source", first.source))
    return out


def keeps_text(finding: ReadinessFinding) -> str:
    """Return what the remedy does to the state."""
    return _KEEPS[finding.keeps_state]


def readiness_json(report: ReadinessReport) -> dict[str, Any]:
    """Return the object that `check --format json` prints; every value is plain."""
    return {
        "schema": 1,
        "name": report.name,
        "engine": report.engine,
        "findings": [_finding(f) for f in report.findings],
        "warnings": list(report.warnings),
    }


def _finding(found: ReadinessFinding) -> dict[str, Any]:
    accepted = found.accepted
    return {
        "rule": found.rule,
        "severity": found.severity.word,
        "where": found.location,
        "what": found.what,
        "why": found.why,
        "remedy": found.remedy,
        "keeps_state": found.keeps_state,
        "question": found.question,
        "source": found.source,
        "accepted": {"reason": accepted.reason, "until": accepted.until} if accepted else None,
    }


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
    name = found.location or "pipeline"
    case = ET.Element("testcase", classname=found.rule, name=printable(name))
    if ReadinessReport(findings=(found,)).closes(fail_on):
        failure = ET.SubElement(case, "failure", type=found.severity.word)
        failure.set("message", printable(found.what))
        said = (f"{word}: {text}" if word else text for word, text in lines_of([found]))
        failure.text = printable("\n".join(said))
    return case


def readiness_markdown(report: ReadinessReport) -> str:
    """Return the whole report; begins with a heading of level 2."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: ReadinessReport) -> Iterator[str]:
    yield f"## Readiness{f' of {_plain(report.name)}' if report.name else ''}: {headline(report)}"
    for group in groups(report):
        first = group[0]
        yield f"\n### {GLYPHS[first.severity]} {first.rule}: {first.severity.word}\n"
        for word, text in lines_of(group):
            yield f"\n**{word}**: {_plain(text)}" if word else f"- {_plain(text)}"
    for warning in report.warnings:
        yield f"\n> {_plain(warning)}"


def _plain(text: str) -> str:
    """Keep names from being read as markup; a line stays a line."""
    line = " ".join(text.split())
    return line.replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}


def readiness_sarif(report: ReadinessReport) -> dict[str, Any]:
    """Return one run; a finding's place is a logical location, the id of its node."""
    rules = {f.rule: {"id": f.rule, "fullDescription": {"text": f.why}} for f in report.findings}
    driver = {"name": "Headgate", "version": __version__, "rules": list(rules.values())}
    results = [_result(f) for f in report.findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(found: ReadinessFinding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.what} {found.remedy}"},
        "properties": {"severity": found.severity.word, "question": found.question},
    }
    if found.location:
        place = {"name": found.location, "kind": "operator"}
        result["locations"] = [{"logicalLocations": [place]}]
    if found.accepted:
        result["suppressions"] = [{"kind": "external", "justification": found.accepted.reason}]
    return result
