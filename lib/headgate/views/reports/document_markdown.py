"""A report as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.text.numbers import plural
from headgate.views.reports.document import (
    Document,
    Item,
    Section,
    Table,
    accepted_text,
    first_sentence,
    rule_link,
)

_MOST_ROWS = 20
_MOST_PIPELINES = 50
_MOST_LINES = 100
_LONGEST_CELL = 240
_LONGEST_VALUE = 600
# A comment on GitHub holds 65,536 characters, one on GitLab a million.
_LONGEST = 60_000


def markdown_text(document: Document, rules_url: str | None = None) -> str:
    """Return a verdict in one line, a table (worst first), and everything else folded below.

    `rules_url` is the folder of the rules' pages. The text fits into a comment: what is too much
    is left out and counted. The last line names the command and isn't shown: by it a workflow
    finds its comment again.
    """
    out: list[str] = []
    size = 0
    for block in _blocks(document, rules_url):
        size += len(block) + 1
        if size > _LONGEST:
            out.append(
                "\n_The rest doesn't fit into a comment. `--format json` prints the whole report._"
            )
            break
        out.append(block)
    out.append(f"\n{marker(document.command)}")
    return "\n".join(out) + "\n"


def marker(command: str) -> str:
    """Return the line that isn't shown."""
    return f"<!-- {command} -->"


def _blocks(document: Document, rules_url: str | None) -> Iterator[str]:
    yield f"## {document.glyph} {_plain(document.title)}"
    if document.sentence:
        yield f"\n**{_plain(document.sentence)}**"
    items = document.joined()
    yield from _tables(document, items, rules_url)
    for section in document.sections:
        if not section.is_long:
            yield f"\n### {section.title}\n"
            yield from map(_plain, section.lines)
    yield from (f"\n> {_plain(warning)}" for warning in document.warnings)
    if document.scope:
        yield f"\nChecked: {_plain(document.scope)}."
    for item in items:
        yield _folded(_title(item), "\n".join(_details(item, rules_url)))
    for part in document.parts:
        yield _folded(f"{part.glyph} {part.title}", "\n".join(_blocks_of_part(part, rules_url)))
    for section in document.sections:
        if section.is_long:
            yield _folded(section.title, "\n".join(_lines(section)))


def _tables(document: Document, items: list[Item], rules_url: str | None) -> Iterator[str]:
    if document.table:
        yield f"\n{_overview(document.table)}"
    if items:
        yield f"\n{_table(items, rules_url)}"


def _title(item: Item) -> str:
    return ", ".join((f"{item.glyph} {item.rule}: {item.word}", *item.notes))


def _blocks_of_part(part: Document, rules_url: str | None) -> Iterator[str]:
    """Yield what is below a part's title; nothing in it is folded once more."""
    for section in part.sections:
        if not section.is_long:
            yield f"\n**{_plain(section.title)}**\n"
            yield "\n".join(_lines(section))
    for item in part.joined():
        yield f"\n**{_plain(_title(item))}**\n"
        yield from _details(item, rules_url)
    for section in part.sections:
        if section.is_long:
            yield f"\n**{_plain(section.title)}**\n"
            yield "\n".join(_lines(section))
    yield from (f"\n> {_plain(warning)}" for warning in part.warnings)


def _overview(table: Table) -> str:
    rows = [table.head, tuple("---" for _ in table.head), *table.rows[:_MOST_PIPELINES]]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    more = len(table.rows) - _MOST_PIPELINES
    if more > 0:
        lines.append(f"| | {plural(more, 'more pipeline')} below |")
    return "\n".join(lines)


def _table(items: list[Item], rules_url: str | None) -> str:
    head = ["| | rule | where | what | what to do |", "|---|---|---|---|---|"]
    rows = [_row(item, rules_url) for item in items[:_MOST_ROWS]]
    more = len(items) - len(rows)
    last = [f"| | | | {plural(more, 'more finding')} below | |"] if more > 0 else []
    return "\n".join([*head, *rows, *last])


def _row(item: Item, rules_url: str | None) -> str:
    link = rule_link(item.rule, rules_url)
    error = dict(item.facts).get("Error")
    cells = (
        f"{item.glyph} {item.word}",
        f"[{item.rule}]({link})" if link else item.rule,
        _cell(item.location or "the whole pipeline"),
        _cell(first_sentence(item.what[0]) + (f" (`{error}`)" if error else "")),
        _cell(accepted_text(item.accepted) if item.accepted else item.todo),
    )
    return "| " + " | ".join(cells) + " |"


def _details(item: Item, rules_url: str | None) -> Iterator[str]:
    yield from map(_plain, item.what)
    if item.values is not None:
        yield "\n```diff\n- {}\n+ {}\n```\n".format(*map(_code, item.values))
    for name, text in item.facts:
        yield f"- **{name}**: {f'`{text}`' if name in ('Error', 'Scenario') else _plain(text)}"
    if item.accepted:
        yield f"- **{_plain(accepted_text(item.accepted))}**"
    if link := rule_link(item.rule, rules_url):
        yield f"- [What {item.rule} checks]({link})"


def _lines(section: Section) -> Iterator[str]:
    for line in section.lines[:_MOST_LINES]:
        yield f"- {_plain(line)[:_LONGEST_CELL]}"
    if len(section.lines) > _MOST_LINES:
        yield f"- and {len(section.lines) - _MOST_LINES} more"


def _folded(title: str, text: str) -> str:
    return f"\n<details><summary>{_plain(title)}</summary>\n\n{text}\n\n</details>"


def _cell(text: str) -> str:
    line = _plain(text)
    return line if len(line) <= _LONGEST_CELL else f"{line[: _LONGEST_CELL - 1]}…"


def _plain(text: str) -> str:
    """Keep names from being read as markup; a line stays a line, and `code` is as it was."""
    parts = " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|").split("`")
    # Every second part is code, unless the last backtick stands alone.
    code = len(parts) - (len(parts) % 2 == 0)
    for n in range(len(parts)):
        if n % 2 == 0 or n >= code:
            parts[n] = parts[n].replace("*", "\\*").replace("_", "\\_")
    return "`".join(parts)


def _code(value: str) -> str:
    text = value.replace("```", "` ` `").replace("\n", " ")
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
