"""A readiness report as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.readiness.facts.report import ReadinessReport
from headgate.views.reports.readiness import GLYPHS, groups, headline, lines_of


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
