"""Schemas and their comparison for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.model.topic_schema import Effect, SchemaField, SchemaFinding, SchemaReport
from headgate.rules.topic_schemas.facts.field_reads import TopicUse
from headgate.text.tables import harmless

STYLES = {
    Effect.INCOMPATIBLE: "bold red",
    Effect.SILENTLY_WRONG: "bold magenta",
    Effect.UNKNOWN: "bold yellow",
    Effect.COMPATIBLE: "green",
}
GLYPHS = {
    Effect.INCOMPATIBLE: "!",
    Effect.SILENTLY_WRONG: "≠",
    Effect.UNKNOWN: "?",
    Effect.COMPATIBLE: "✓",
}
SENTENCES = {
    Effect.INCOMPATIBLE: "Incompatible: consumers fail, and a registry rejects the schema.",
    Effect.SILENTLY_WRONG: "Wrong results: consumers read other values without an error.",
    Effect.UNKNOWN: "Unknown: answer the question first.",
    Effect.COMPATIBLE: "Compatible.",
}


def verdict(report: SchemaReport) -> str:
    """Return the first line: what it means, and for which mode and versions."""
    said = SENTENCES[report.effect]
    if not report.compared:
        return f"{said}  ({report.mode.value}; there is no older version)"
    return f"{said}  ({report.mode.value}, against {', '.join(report.compared)})"


def report_text(report: SchemaReport) -> RenderableType:
    """Return what `schemas check` and `schemas diff` print."""
    return Group(*_report(report))


def _report(report: SchemaReport) -> Iterator[RenderableType]:
    yield Text(verdict(report), STYLES[report.effect])
    if report.second_opinion is not None:
        word = "accepts" if report.second_opinion else "refuses"
        yield Text(f"The registry itself {word} it.", "dim")
    for finding in report.findings:
        yield Text()
        yield from _finding(finding)
    if report.changes:
        yield Text("\nFields", "bold")
        for c in report.changes:
            between = " -> ".join(w for w in (c.before, c.after) if w)
            yield Text(f"  {c.kind.value:8} {harmless(f'{c.path}: {between}')}")
    for warning in report.warnings:
        yield Text(f"\nNote: {harmless(warning)}", "dim")


def _finding(finding: SchemaFinding) -> Iterator[Text]:
    style = STYLES[finding.effect]
    word = finding.effect.word.replace("_", " ")
    head = Text.assemble((f"{GLYPHS[finding.effect]} {word}", style))
    if finding.direction:
        head.append(f" · {finding.direction.value}")
    head.append(f" · {finding.path or 'the whole schema'}")
    if finding.pipeline:
        head.append(f" · {finding.pipeline}")
    head.append(f" · {finding.rule}", "dim")
    yield head
    yield Text("\n".join(f"    {harmless(line)}" for line in lines_of(finding)))


def lines_of(finding: SchemaFinding) -> list[str]:
    """Return a finding as lines for people, without its heading."""
    lines = [finding.why]
    lines += [f"- {finding.before or 'nothing'}", f"+ {finding.after or 'nothing'}"]
    if finding.question:
        lines.append(f"Question: {finding.question}")
    if finding.remedy:
        lines.append(f"Remedy: {finding.remedy}")
    lines.append(f"Source: {finding.source}")
    return [*lines, *accepted_lines(finding)]


def accepted_lines(finding: SchemaFinding) -> list[str]:
    """Return the line that says who lives with a finding until when, or none."""
    found = finding.accepted
    if found is None:
        return []
    until = f" until {found.until}" if found.until else ""
    return [f"Accepted{until}: {found.reason}"]


def fields_table(fields: tuple[SchemaField, ...]) -> Table:
    """Return the fields as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("field", "type", "optional", "default"):
        table.add_column(column, overflow="fold")
    for f in fields:
        default = f.default if f.has_default else ""
        table.add_row(Text(f.path), Text(f.type), "yes" if f.optional else "", Text(default))
    return table


def use_line(use: TopicUse) -> str:
    """Return what a reader does with the records, in one line."""
    if use.blind:
        return f"{use.pipeline}: unknown, {use.blind}"
    parts = [", ".join(sorted(use.read)) or "no single field"]
    if use.whole:
        parts.append(f"hands whole records to {', '.join(use.whole)}")
    return f"{use.pipeline}: {'; '.join(parts)}"
