"""A comparison as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.report import Finding, Report
from headgate.views.report_upgrade import HEADLINES, upgrade_lines
from headgate.views.report_words import GLYPHS, ROLLBACKS, SENTENCES, value_text


def report_markdown(report: Report) -> str:
    """Return the whole report; begins with a heading of level 2."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"## {GLYPHS[report.outcome]} {SENTENCES[report.outcome]}"
    if report.judged_for:
        yield f"\nJudged for {report.judged_for}."
    for finding in report.findings:
        yield from _finding(finding)
    if report.upgrade:
        yield f"\n### {HEADLINES[report.upgrade.way]}\n\n{_plain(report.upgrade.why)}\n"
        yield from map(_plain, upgrade_lines(report.upgrade))
    if report.changes:
        yield "\n### Changes\n"
        yield from (f"- {c.kind.value}: {_plain(c.what)}" for c in report.changes)
    for warning in report.warnings:
        yield f"\n> {_plain(warning)}"


def _finding(finding: Finding) -> Iterator[str]:
    effect = f", state {finding.state_effect.value}" if finding.state_effect else ""
    glyph, word = GLYPHS[finding.outcome], finding.outcome.word.replace("_", " ")
    yield f"\n### {glyph} {finding.rule}: {word}{effect}\n"
    yield _plain(finding.why)
    if finding.before is not None or finding.after is not None:
        yield f"\n```diff\n- {_code(finding.before)}\n+ {_code(finding.after)}\n```"
    for name, text in (
        ("Question", finding.question),
        ("Error", f"`{finding.error_class}`" if finding.error_class else None),
        ("Remedy", finding.remedy),
        ("Roll-back", ROLLBACKS[finding.rollback]),
        ("Source", finding.source),
    ):
        if text:
            yield f"\n**{name}**: {text if name == 'Error' else _plain(text)}"


def _plain(text: str) -> str:
    """Keep names from being read as markup; a line stays a line."""
    line = " ".join(text.split())
    return line.replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")


def _code(value: object) -> str:
    return value_text(value).replace("```", "` ` `").replace("\n", " ")
