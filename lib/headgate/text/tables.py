"""Text for a terminal: emphasis, trees and tables, without a library that takes time to import."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_BOLD, _DIM, _ITALIC, _END = "\x1b[1m", "\x1b[2m", "\x1b[3m", "\x1b[0m"
_WIDE = frozenset("WF")


@dataclass(frozen=True, slots=True)
class Styles:
    """How to emphasise: by the terminal's own codes, or, where `is_on` is False, not at all."""

    is_on: bool = False

    def bold(self, text: str) -> str:
        """Return what a heading looks like."""
        return self._styled(_BOLD, text)

    def dim(self, text: str) -> str:
        """Return less important text, dimmed."""
        return self._styled(_DIM, text)

    def italic(self, text: str) -> str:
        """Return what is said about the text, not in it."""
        return self._styled(_ITALIC, text)

    def _styled(self, code: str, text: str) -> str:
        return f"{code}{text}{_END}" if self.is_on and text else text


@dataclass(slots=True)
class Branch:
    """A line of a tree and what hangs below it."""

    line: str
    below: list[Branch] = field(default_factory=list)

    def add(self, line: str) -> Branch:
        """Hang a line below this one and return it."""
        branch = Branch(line)
        self.below.append(branch)
        return branch


# Marks, embeddings, overrides and isolates of the text's direction; joiners of letters are none.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STEERING = frozenset(("Cc", "Cs", "Zl", "Zp"))


def is_steering(character: str) -> bool:
    """Whether a character moves, colours or turns what a terminal shows, or ends a line."""
    if " " <= character <= "~":
        return False
    return character in _DIRECTIONS or unicodedata.category(character) in _STEERING


def terminal_safe(text: str) -> str:
    """Return the text on one line, without what would steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    kept = (" " if c in "\n\t\r\u2028\u2029" else c for c in text)
    return "".join("\N{REPLACEMENT CHARACTER}" if is_steering(c) else c for c in kept)


def terminal_safe_json(text: str) -> str:
    """Return the same JSON with what would steer a terminal written as escapes."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(f"\\u{ord(c):04x}" if c != "\n" and is_steering(c) else c for c in text)


def tree_lines(root: Branch, styles: Styles) -> Iterator[str]:
    """Yield the lines of a tree, however deep."""
    yield root.line
    stack = [(b, "", i == 0) for i, b in enumerate(reversed(root.below))]
    while stack:
        branch, before, is_last = stack.pop()
        yield styles.dim(before + ("└── " if is_last else "├── ")) + branch.line
        inner = before + ("    " if is_last else "│   ")
        stack.extend((b, inner, i == 0) for i, b in enumerate(reversed(branch.below)))


def table_lines(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], styles: Styles
) -> Iterator[str]:
    """Yield a table: cells are shown as they are, columns as wide as their widest cell."""
    cells = [[terminal_safe(c) for c in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(head, *cells, strict=True)]
    if title:
        yield styles.italic(title)
    yield styles.bold(_row(head, widths))
    yield styles.dim("  ".join("─" * w for w in widths))
    for row in cells:
        yield _row(row, widths)


def width(text: str) -> int:
    """Return how many columns a terminal gives to a text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in _WIDE else 1
        for c in text
    )


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (c + " " * (w - width(c)) for c, w in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()
