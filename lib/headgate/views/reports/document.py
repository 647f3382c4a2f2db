"""What a report says, before it is written: one heading, findings, sections and warnings.

A comparison, a readiness report and a schema check each make one `Document`; the modules
`document_*` write it as text for a terminal, Markdown, JUnit or SARIF.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from headgate.model.registered_pipelines import Acceptance


class Level(StrEnum):
    """How bad something is, worst first: the colour in a terminal, the level in SARIF."""

    FAILS = "fails"
    WRONG = "wrong"
    WARNING = "warning"
    NOTE = "note"
    GOOD = "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One finding.

    `kind` is the contract's word for how bad it is, `word` the shown one. `what` are its sentences,
    `values` what it was and what it is, `facts` everything else by name. `nodes` are (id, label).
    `todo` is what to do in one sentence. Items of one `group` differ only in their location, and
    are shown together. `identity` stays the same when texts change. `closes` says whether it fails
    the check. `reason` describes the rule.
    """

    rule: str
    level: Level
    kind: str
    glyph: str
    word: str
    what: tuple[str, ...]
    notes: tuple[str, ...] = ()
    values: tuple[str, str] | None = None
    facts: tuple[tuple[str, str], ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()
    location: str = ""
    todo: str = ""
    accepted: Acceptance | None = None
    group: Hashable = None
    identity: str = ""
    closes: bool = False
    reason: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Sign, word and notes in one line."""
        return " · ".join((f"{self.glyph} {self.word}", *self.notes))

    def lines(self) -> Iterator[str]:
        """Yield the finding as lines for a person, without its title."""
        yield from self.what
        if self.values is not None:
            yield f"- {self.values[0]}"
            yield f"+ {self.values[1]}"
        yield from (f"{name}: {text}" for name, text in self.facts)
        if self.accepted is not None:
            yield accepted_text(self.accepted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines below a heading; `is_long` ones are folded where a format can fold."""

    title: str
    lines: tuple[str, ...]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The file that a finding is shown at: a path relative to the repository, and a line."""

    path: str
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows below the names of their columns; the first column is a sign and a word."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole report; `items` are worst first.

    `title` is its first words, `sentence` what follows them, `scope` what it holds for. `passed`
    names the one test that a report without findings is in JUnit. A report on several pipelines
    has a `table`, and a part for each of them; a part has a `name`, and the `location` of its code.
    """

    command: str
    level: Level
    title: str
    items: tuple[Item, ...]
    passed: str
    glyph: str = ""
    sentence: str = ""
    scope: str = ""
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    parts: tuple[Document, ...] = ()
    name: str = ""
    location: SourceLocation | None = None

    def joined(self) -> list[Item]:
        """Return the items, those of one group as one."""
        groups: dict[Hashable, list[Item]] = {}
        for number, item in enumerate(self.items):
            groups.setdefault(number if item.group is None else item.group, []).append(item)
        return [_as_one(found) for found in groups.values()]


def _as_one(items: Sequence[Item]) -> Item:
    return replace(items[0], what=tuple(text for item in items for text in item.what))


def accepted_text(accepted: Acceptance) -> str:
    """Return who lives with a finding, and for how long."""
    until = f" until {accepted.until}" if accepted.until else ""
    return f"Accepted{until}: {accepted.reason}"


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop."""
    first, stop, _ = text.partition(". ")
    return first + stop.strip()


def rule_link(code: str, base: str | None = None) -> str | None:
    """Return the address of a rule's page, None where nobody can open one.

    `base` is the folder of all pages (`[docs] rules_url` in headgate.toml). A path of the machine
    that made a report would mean nothing to other people, so that there is no link without one.
    """
    is_page = code[-1:].isdecimal()
    return f"{base.rstrip('/')}/{code}.md" if base and is_page else None
