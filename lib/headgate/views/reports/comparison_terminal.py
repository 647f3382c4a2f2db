"""A comparison for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.rules.core.report import Finding, Outcome, Report
from headgate.text.tables import harmless
from headgate.views.reports.comparison_words import GLYPHS, HEADLINES, lines_of, upgrade_lines
from headgate.views.reports.verdict_line import verdict

STYLES = {
    Outcome.REFUSES: "bold red",
    Outcome.SILENTLY_WRONG: "bold magenta",
    Outcome.UNKNOWN: "bold yellow",
    Outcome.NO_EFFECT: "cyan",
    Outcome.RESUMES: "green",
}


def report_text(report: Report) -> RenderableType:
    """Return what `diff` prints: the verdict, then each finding, then what else changed."""
    return Group(*_parts(report))


def _parts(report: Report) -> Iterator[RenderableType]:
    said = verdict(report)
    line = Text.assemble((said.word, STYLES[report.outcome]), f" {harmless(said.sentence)}")
    if report.judged_for:
        line.append(f"  ({report.judged_for})", "dim")
    yield line
    for finding in report.findings:
        yield Text()
        yield _head(finding)
        yield Text("\n".join(f"    {harmless(line)}" for line in lines_of(finding, report.labels)))
    if report.upgrade:
        yield Text(f"\n{HEADLINES[report.upgrade.way]}", "bold")
        yield Text("\n".join(f"  {harmless(line)}" for line in upgrade_lines(report.upgrade)))
    if report.changes:
        yield Text("\nChanges", "bold")
        for change in report.changes:
            yield Text(f"  {change.kind.value:8} {harmless(change.what)}")
    for warning in report.warnings:
        yield Text(f"\nNote: {harmless(warning)}", "dim")


def _head(finding: Finding) -> Text:
    glyph, style = GLYPHS[finding.outcome], STYLES[finding.outcome]
    head = Text.assemble((f"{glyph} {finding.outcome.word.replace('_', ' ')}", style))
    if finding.state_effect:
        head.append(f" · state {finding.state_effect.value}")
    head.append(f" · {finding.rule}", "dim")
    return head
