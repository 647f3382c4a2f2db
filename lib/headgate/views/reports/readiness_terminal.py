"""A readiness report for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.rules.readiness.facts.report import ReadinessReport, Severity
from headgate.text.tables import harmless
from headgate.views.reports.readiness import GLYPHS, groups, headline, lines_of

STYLES = {Severity.HIGH: "bold red", Severity.MEDIUM: "bold yellow", Severity.LOW: "cyan"}


def readiness_text(report: ReadinessReport) -> RenderableType:
    """Return what `check` prints: how many, then each finding, then what was not looked at."""
    return Group(*_parts(report))


def _parts(report: ReadinessReport) -> Iterator[RenderableType]:
    worst = report.findings[0].severity if report.findings else None
    head = Text(headline(report), STYLES[worst] if worst is not None else "green")
    head.append(f"  ({harmless(' '.join(filter(None, (report.engine, report.name))))})", "dim")
    yield head
    for group in groups(report):
        first = group[0]
        yield Text()
        line = Text(f"{GLYPHS[first.severity]} {first.severity.word}", STYLES[first.severity])
        yield line.append(f" · {first.rule}", "dim")
        for word, text in lines_of(group):
            yield Text("    " + (f"{word}: " if word else "") + harmless(text))
    if report.warnings:
        yield Text()
        yield Text("\n".join(f"Note: {harmless(w)}" for w in report.warnings), "dim")
