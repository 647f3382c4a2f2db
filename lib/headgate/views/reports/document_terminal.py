"""A report for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.text.tables import terminal_safe
from headgate.views.reports.document import Document, Item, Level

STYLES = {
    Level.FAILS: "bold red",
    Level.WRONG: "bold magenta",
    Level.WARNING: "bold yellow",
    Level.NOTE: "cyan",
    Level.GOOD: "green",
}


def terminal_text(document: Document) -> RenderableType:
    """Return the heading, then each finding, then the sections and the warnings."""
    return Group(*_parts(document))


def _parts(document: Document) -> Iterator[RenderableType]:
    line = Text.assemble((terminal_safe(document.title), STYLES[document.level]))
    if document.sentence:
        line.append(f" {terminal_safe(document.sentence)}")
    if document.scope:
        line.append(f"  ({terminal_safe(document.scope)})", "dim")
    yield line
    yield from _details(document)
    for part in document.parts:
        yield Text.assemble((f"\n{part.glyph} {terminal_safe(part.title)}", STYLES[part.level]))
        if part.sentence:
            yield Text(f"  {terminal_safe(part.sentence)}")
        yield from _details(part)


def _details(document: Document) -> Iterator[RenderableType]:
    for item in document.joined():
        yield Text()
        yield _head(item)
        yield Text("\n".join(f"    {terminal_safe(line)}" for line in item.lines()))
    for section in document.sections:
        yield Text(f"\n{section.title}", "bold")
        yield Text("\n".join(f"  {terminal_safe(line)}" for line in section.lines))
    if document.warnings:
        yield Text()
        yield Text("\n".join(f"Note: {terminal_safe(w)}" for w in document.warnings), "dim")


def _head(item: Item) -> Text:
    head = Text.assemble((f"{item.glyph} {item.word}", STYLES[item.level]))
    for note in item.notes:
        head.append(f" · {terminal_safe(note)}")
    return head.append(f" · {item.rule}", "dim")
