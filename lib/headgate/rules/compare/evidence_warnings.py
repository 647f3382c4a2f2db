"""The warnings of the evidence's parsers, and how they weaken a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from headgate.model.version import Version
from headgate.rules.compare.other_engines import incomplete_evidence, is_gap
from headgate.rules.core.report import Finding, Outcome, Report, Rollback, Upgrade, UpgradeWay
from headgate.rules.spark.facts.version_identity import unrelated_versions

# How readers say that a plan or a description continues where its text ends, or has two meanings.
_CUT = re.compile(
    r"ends in the middle|ends early at byte|is missing|starts in the middle"
    r"|may be missing|is incomplete|lacks the (?:operator )?details"
    r"|query plan's text is ambiguous|the description has no such node"
    r"|looks like a (?:source|processor|sink), but can't be read"
)
_SESSION = "EVD001"
"""The rule for errors that a capture recorded. Its findings are valid without a query plan."""


def with_readers_warnings(report: Report, before: Version, after: Version) -> Report:
    """Return the report with the parsers' warnings, and `unknown` if they leave nothing safe.

    Only evidence that was read as a whole shows that nothing is wrong. A failed start or a wrong
    result follows from what is there, unless the plan was cut off: then what seems to be missing or
    different may be in the rest. An ambiguous text is evidence of neither.
    """
    said = tuple(
        dict.fromkeys((*unrelated_versions(before, after), *report.warnings, *_said(before, after)))
    )
    warned = replace(report, warnings=said)
    questions = tuple(incomplete_evidence.run(before, after))
    if not questions or (report.outcome > Outcome.NO_EFFECT and not _is_cut(before, after)):
        return warned
    findings = (*questions, *report.findings)
    if _is_cut(before, after):
        findings = tuple(_weakened(f, questions[0]) for f in findings)
    found = tuple(sorted(findings, key=lambda f: -f.outcome))
    return replace(warned, findings=found, upgrade=_opened(report.upgrade, questions))


def _opened(upgrade: Upgrade | None, questions: Sequence[Finding]) -> Upgrade | None:
    """Return the way of an upgrade as an open one: what was not read may decide it."""
    if upgrade is None or upgrade.way is UpgradeWay.UNKNOWN:
        return upgrade
    asked = dict.fromkeys(f"Answer first: {f.question}" for f in questions if f.question)
    why = (
        "The upgrade path depends on evidence that Headgate could not read. According to the rest "
        f"of the evidence: {upgrade.why}"
    )
    return Upgrade(UpgradeWay.UNKNOWN, (*asked, *upgrade.steps), why)


def _is_cut(*versions: Version) -> bool:
    return any(_CUT.search(w) and is_gap(w) for v in versions for w in v.warnings)


def _weakened(finding: Finding, question: Finding) -> Finding:
    """Return a harmful finding as an unknown one."""
    if finding.outcome <= Outcome.UNKNOWN or finding.rule == _SESSION:
        return finding
    return replace(
        finding,
        outcome=Outcome.UNKNOWN,
        question=finding.question or question.question,
        error_class=None,
        rollback=Rollback.UNKNOWN,
    )


def _said(before: Version, after: Version) -> Iterator[str]:
    both = set(before.warnings) & set(after.warnings)
    for side, version in (("old", before), ("new", after)):
        for warning in version.warnings:
            yield (
                warning if warning in both else f"In the evidence of the {side} version: {warning}"
            )
