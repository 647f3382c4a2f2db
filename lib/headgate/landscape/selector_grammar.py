"""The grammar of selectors: text to terms, every one with its position.

    selector  := terms joined by spaces: what any of them selects
    term      := factors joined by commas: what all of them select
    factor    := ["@" | [N] "+"] [method ":"] value ["+" [N]]

`*` and `?` in a value stand for any characters and for one. Text in single or double quotes is
taken literally, with `\\` before a quote or a backslash that is part of it. Names that contain
spaces, commas, colons, wildcards or quotes, or begin or end with `+`, need quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.errors import SelectorError

ALL = -1
"""No limit on the number of steps."""
MOST_DIGITS = 9
_BEFORE = re.compile(r"(?P<at>@)?(?P<plus>(?P<steps>[0-9]*)\+)?(?:(?P<method>[A-Za-z_-]+):)?")
_AFTER = re.compile(r"\+(?P<steps>[0-9]*)\Z")
_QUOTED = "\0"
"""Placeholder for a quoted character while the parser looks for operators."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A value: literal texts between wildcards; one text and no wildcard is a plain name.

    `parts` are literal characters, or None for `*` and "" for `?`, in order.
    """

    parts: tuple[str | None, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it names one thing."""
        return all(self.parts)

    @property
    def text(self) -> str:
        """The value as people read it."""
        return "".join("*" if p is None else p or "?" for p in self.parts)

    def matches(self, name: str) -> bool:
        """Whether the whole name fits; never worse than length times length."""
        at = part = 0
        star, resume = -1, 0
        while at < len(name):
            if part < len(self.parts) and self.parts[part] in (name[at], ""):
                at, part = at + 1, part + 1
            elif part < len(self.parts) and self.parts[part] is None:
                star, resume, part = part, at, part + 1
            elif star >= 0:
                resume += 1
                at, part = resume, star + 1
            else:
                return False
        return all(p is None for p in self.parts[part:])


@dataclass(frozen=True, slots=True)
class Factor:
    """One value with what is asked around it: steps up and down, `ALL`, or 0 for none.

    `around` is `@`: with everything downstream, and all that feeds it. Positions count from 1.
    """

    method: str | None
    value: Pattern
    position: int
    method_position: int
    up: int = 0
    down: int = 0
    around: bool = False


@dataclass(frozen=True, slots=True)
class _Cell:
    character: str
    quoted: bool
    position: int


def parse(expression: str) -> tuple[tuple[Factor, ...], ...]:
    """Return the terms, each a tuple of factors; SelectorError says where and what."""
    return tuple(_Reader(expression).terms())


class _Reader:
    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.at = 0

    def terms(self) -> Iterator[tuple[Factor, ...]]:
        while self._skip_spaces():
            factors = [self._factor()]
            while self._peek() == ",":
                self.at += 1
                factors.append(self._factor())
            yield tuple(factors)

    def _skip_spaces(self) -> bool:
        while self._peek().isspace():
            self.at += 1
        return bool(self._peek())

    def _peek(self) -> str:
        return self.expression[self.at : self.at + 1]

    def _fail(self, message: str, position: int) -> SelectorError:
        return SelectorError(message, expression=self.expression, position=position)

    def _factor(self) -> Factor:
        start = self.at + 1
        cells = list(self._cells())
        if not cells:
            raise self._fail("expected a name or METHOD:VALUE", start)
        shape = "".join(_QUOTED if c.quoted else c.character for c in cells)
        before = _BEFORE.match(shape)
        assert before is not None
        after = _AFTER.search(shape, before.end())
        if before["at"] and (before["plus"] or after):
            at = before.start("plus") if before["plus"] else after.start() if after else 0
            raise self._fail(
                "`@` already includes upstream and downstream: don't combine `@` with `+`",
                start + at,
            )
        value = cells[before.end() : after.start() if after else None]
        if not any(c.character for c in value):
            what = f"expected a value after `{before['method']}:`" if before["method"] else None
            end = cells[before.end() - 1].position + 1 if before.end() else start
            raise self._fail(what or "expected a name next to `+` or `@`", end)
        return Factor(
            method=before["method"],
            value=Pattern(tuple(_parts(value))),
            position=value[0].position,
            method_position=cells[max(before.start("method"), 0)].position,
            up=_steps(before["steps"]) if before["plus"] else 0,
            down=_steps(after["steps"]) if after else 0,
            around=bool(before["at"]),
        )

    def _cells(self) -> Iterator[_Cell]:
        while (c := self._peek()) and not c.isspace() and c != ",":
            if c in "\"'":
                yield from self._quoted(c)
            else:
                self.at += 1
                yield _Cell(c, False, self.at)

    def _quoted(self, quote: str) -> Iterator[_Cell]:
        opened = self.at + 1
        self.at += 1
        empty = True
        while (c := self._peek()) != quote:
            if not c:
                raise self._fail(f"missing closing quote {quote}", opened)
            if c == "\\" and self.expression[self.at + 1 : self.at + 2] in ("\\", '"', "'"):
                self.at += 1
                c = self._peek()
            self.at += 1
            empty = False
            yield _Cell(c, True, self.at)
        self.at += 1
        if empty:
            yield _Cell("", True, opened)


def _parts(cells: list[_Cell]) -> Iterator[str | None]:
    for cell in cells:
        wild = not cell.quoted and cell.character in ("*", "?")
        if wild or cell.character:
            yield ({"*": None, "?": ""}[cell.character]) if wild else cell.character


def _steps(digits: str) -> int:
    """More steps than any graph has are all of them (and too many digits for a number)."""
    return ALL if not digits or len(digits) > MOST_DIGITS else int(digits)


def quoted(name: str) -> str:
    """Return a name as a selector takes it, in quotes where it needs them.

    The inverse of reading: `select` of the result finds what is called `name`.
    """
    plain = re.fullmatch(r"[\w./-]+(?:\+[\w./-]+)*", name)
    if plain and name.isascii() and "+" not in (name[0], name[-1]):
        return name if not re.match(r"[0-9]+\+", name) and not _AFTER.search(name) else _quote(name)
    return _quote(name)


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
