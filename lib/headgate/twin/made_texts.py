"""Texts that a query can take apart: by regular expressions, at separators, as JSON."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as syntax  # type: ignore[attr-defined]
from typing import Any

# Repetitions that a pattern leaves open; texts stay short, so that keys repeat.
_MORE, _MOST = 4, 12
# Texts of a group: few, so that rows meet in one key.
_VARIANTS = 12
_LONGEST_PATTERN, _TRIES = 500, 4
_ALPHABET = string.ascii_lowercase + string.digits + string.ascii_uppercase + " -_./:@,;=#"
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    code.CATEGORY_DIGIT: str.isdecimal,
    code.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    code.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    code.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}

Draw = Callable[[str], str | None]
"""Returns a text for a column, or for a part of a column, by its name."""


@dataclass(slots=True)
class Parts:
    """How a query takes a column's text apart.

    `patterns` are regular expressions, `splits` the largest index that is read by separator, `keys`
    JSON's top-level names. `searched` are patterns that are only replaced or looked for. A query
    fails on a text that lacks a part if `must_have` is true.
    """

    patterns: set[str] = field(default_factory=set)
    searched: set[str] = field(default_factory=set)
    splits: dict[str, int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    must_have: bool = False

    def plain(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "patterns": sorted(self.patterns),
            "searched": sorted(self.searched),
            "splits": dict(sorted(self.splits.items())),
            "keys": sorted(self.keys),
            "must_have": self.must_have,
        }


def group_of(column: str, pattern: str, group: int) -> str:
    """Return the name of what a group of a pattern takes out of a column."""
    return f"{column}~{pattern}~{group}"


def item_of(column: str, separator: str, index: int) -> str:
    """Return the name of the text between two separators of a column's text."""
    return f"{column}~split {separator}~{index}"


def key_of(column: str, key: str) -> str:
    """Return the name of a key of a column's JSON."""
    return f"{column}~json~{key}"


def text_for(
    column: str, parts: Parts, random: Random, draw: Draw, known: Container[str]
) -> str | None:
    """Return a text that the query can take apart, None if no part of it can be made.

    A group of a pattern has the text that `draw` gives if its name is `known`, else one of its own.
    """
    if parts.keys:
        found = {key: draw(key_of(column, key)) for key in sorted(parts.keys)}
        return json.dumps({k: v for k, v in found.items() if v is not None})

    def of_group(name: str) -> str | None:
        return draw(name) if name in known else None

    texts = [_matching(column, p, random, of_group) for p in _longest_first(parts.patterns)]
    if parts.splits and not parts.patterns:
        texts += [_joined(column, *pair, random, draw) for pair in sorted(parts.splits.items())]
    if not texts and parts.searched:
        texts += [
            draw(column),
            *(_matching(column, p, random, of_group) for p in sorted(parts.searched)),
        ]
    made = [text for text in texts if text is not None]
    return " ".join(made) if made else None


def with_beginning(start: str, text: str, patterns: Iterable[str]) -> str:
    """Return the text with another beginning, if the patterns still find the same in it."""
    for begun in (start + text, f"{start} {text}"):
        if all(_found(p, begun) == _found(p, text) for p in patterns):
            return begun
    return text


def _found(pattern: str, text: str) -> tuple[Any, ...] | None:
    try:
        match = re.search(pattern, text)
    except (re.error, RecursionError, OverflowError):
        return None
    return match.groups() if match else None


def _longest_first(patterns: Iterable[str]) -> list[str]:
    """Return the longest pattern of a text's beginning, then those of any position."""
    anchored = sorted((p for p in patterns if p.startswith("^")), key=len)
    return [*anchored[-1:], *sorted(p for p in patterns if not p.startswith("^"))]


def _joined(column: str, separator: str, last: int, random: Random, draw: Draw) -> str | None:
    between = _matching(column, separator, random, lambda _: None)
    if between is None:
        return None
    items = [draw(item_of(column, separator, index)) or "" for index in range(last + 1)]
    # A word may hold the separator: then the items behind it would be another part's.
    return between.join(re.sub(separator, "", item) for item in items)


def _matching(column: str, pattern: str, random: Random, draw: Draw) -> str | None:
    """Return a text that the pattern finds something in; groups have the texts that `draw` gives.

    Java's expressions are read as Python's: where these differ there is no text.
    """
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        tree, compiled = syntax.parse(pattern), re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    for number in range(_TRIES):
        wanted = {} if number else {
            group: text for group in range(1, compiled.groups + 1)
            if (text := draw(group_of(column, pattern, group))) is not None
        }  # fmt: skip
        made = _Maker(random, pattern, wanted).of(tree)
        match = compiled.search(made)
        if match and all(match[group] == text for group, text in wanted.items()):
            return made
    return None


@dataclass(slots=True)
class _Maker:
    """Writes the text of one pattern; `wanted` are texts of its groups."""

    random: Random
    pattern: str
    wanted: dict[int, str]
    found: dict[int, str] = field(default_factory=dict)

    def of(self, tree: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._one(kind, given) for kind, given in tree)

    def _one(self, kind: Any, given: Any) -> str:
        if kind in (code.LITERAL, code.NOT_LITERAL, code.ANY, code.IN):
            return self._letter(kind, given)
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            return self._repeated(*given)
        if kind is code.BRANCH:
            return self.of(self.random.choice(given[1]))
        if kind is code.SUBPATTERN:
            return self._group(given[0], given[-1])
        if kind is code.GROUPREF:
            return self.found.get(given, "")
        if kind is code.ATOMIC_GROUP:
            return self.of(given)
        # Beginnings, ends and looks ahead have no text of their own; the match is checked.
        return ""

    def _group(self, number: int | None, tree: Any) -> str:
        if number is None:
            return self.of(tree)
        text = self.wanted.get(number)
        if text is None:
            variant = min(self.random.randrange(_VARIANTS), self.random.randrange(_VARIANTS))
            seeded = Random(f"{self.pattern} {number} {variant}")
            text = _Maker(seeded, self.pattern, self.wanted, self.found).of(tree)
        self.found[number] = text
        return text

    def _repeated(self, least: int, most: Any, tree: Any) -> str:
        most = min(int(most), least + _MORE)
        count = min(self.random.randint(least, max(most, least)), _MOST)
        if most > least:
            count = max(count, 1)
        return "".join(self.of(tree) for _ in range(count))

    def _letter(self, kind: Any, given: Any) -> str:
        if kind is code.LITERAL:
            return chr(given)
        if kind is code.ANY:
            return self.random.choice(string.ascii_lowercase)
        if kind is code.NOT_LITERAL:
            return self.random.choice([c for c in _ALPHABET if ord(c) != given])
        fitting = [c for c in _ALPHABET if _is_in(c, given)]
        plain = [c for c in fitting if c.isalnum()] or fitting
        return self.random.choice(plain) if plain else _first_of(given)


def _is_in(letter: str, given: Sequence[tuple[Any, Any]]) -> bool:
    """Say whether a set like `[^a-z_]` has a letter."""
    hit = is_negated = False
    for kind, value in given:
        if kind is code.NEGATE:
            is_negated = True
        elif kind is code.LITERAL:
            hit = hit or ord(letter) == value
        elif kind is code.RANGE:
            hit = hit or value[0] <= ord(letter) <= value[1]
        elif kind is code.CATEGORY:
            test = _CATEGORIES.get(value)
            hit = hit or (test is not None and test(letter))
    return hit != is_negated


def _first_of(given: Sequence[tuple[Any, Any]]) -> str:
    """Return the first letter that a set names, one outside of the usual ones."""
    for kind, value in given:
        if kind is code.LITERAL:
            return chr(value)
        if kind is code.RANGE:
            return chr(value[0])
    return "\t"
