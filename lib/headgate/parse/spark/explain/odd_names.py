"""Keep column names whole that would break an expression's text: `f,g`, `h AS i`, `x#12`.

Spark prints a column's name without quotes. While a plan is read, such a name is one word of
letters that no name has, so that every part of the parser takes it for a plain name. `plain`
turns what was read back into what users wrote, quoted as in SQL inside an expression.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

_FIRST = 0x14400
"""Anatolian hieroglyphs: letters to a regular expression."""
_BEGIN, _END = chr(0x14640), chr(0x14641)
_WORD = re.compile(r"\w")
_SPECIAL = [
    c for c in map(chr, range(0x3001)) if c.isspace() or (c.isascii() and not _WORD.match(c))
]
_ENCODE = {ord(c): chr(_FIRST + n) for n, c in enumerate(_SPECIAL)}
_DECODE = {_FIRST + n: c for n, c in enumerate(_SPECIAL)} | {0x14640: None, 0x14641: None}
_ENCODED = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}")
_PIECE = re.compile(f"[{chr(_FIRST)}-{_END}]")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_ANYWHERE = re.compile(r"`| AS |\.\.\. \d+ more fields|^\s|\s$|\n")
_OUTSIDE = re.compile(r"^-|[.,#\s\"']")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OddNames:
    """The odd names of attributes with their numbers, and those of the fields of structs."""

    columns: frozenset[tuple[str, int]] = frozenset()
    fields: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.columns or self.fields)

    def joined(self, other: OddNames) -> OddNames:
        """Return the names of both."""
        return OddNames(self.columns | other.columns, self.fields | other.fields)


def is_odd(name: str) -> bool:
    """Whether a name, printed as it is, could be read as something else than one name.

    Spark names results after their expressions, `count(DISTINCT a, b)` or `avg(v#1)`: what is in
    brackets that close again breaks nothing.
    """
    if name.isidentifier() or not name:
        return False
    if _ANYWHERE.search(name):
        return True
    outside, whole = _outside(name)
    return not whole or _OUTSIDE.search(outside) is not None


def is_unusual(name: str) -> bool:
    """Whether a source's column has a name that isn't one word: `sum(v)` isn't a call there."""
    return is_odd(name) or "(" in name or "[" in name or "{" in name


def is_balanced(name: str) -> bool:
    """Whether every bracket in a name closes again."""
    return _outside(name)[1]


def _outside(name: str) -> tuple[str, bool]:
    """Return the text outside all brackets, and whether all brackets close again."""
    outside, stack = [], []
    for mark in name:
        if mark in "([{":
            stack.append(mark)
        elif mark in _BRACKETS:
            if not stack or stack.pop() != _BRACKETS[mark]:
                return "", False
        elif not stack:
            outside.append(mark)
    return "".join(outside), not stack


def encode(name: str) -> str:
    """Return the word that stands for an odd name; a plain name is its own."""
    return word(name) if is_odd(name) else name


def word(name: str) -> str:
    """Return the word that stands for a name."""
    return f"{_BEGIN}{name.translate(_ENCODE)}{_END}"


def encoded_type(kind: Any) -> Any:
    """Return a type in Spark's JSON with the names of its fields encoded."""
    if isinstance(kind, list):
        return [encoded_type(k) for k in kind]
    if not isinstance(kind, dict):
        return kind
    out = {k: encoded_type(v) for k, v in kind.items()}
    return out | {"name": encode(str(out["name"]))} if "name" in out and "type" in out else out


def is_encoded(text: str) -> bool:
    """Whether a text has an encoded name, or a piece of one."""
    return not text.isascii() and _PIECE.search(text) is not None


def decode(text: str) -> str:
    """Return a text as users know it: a name without quotes, or in backticks within other text."""
    if not is_encoded(text):
        return text
    if match := _ENCODED.fullmatch(text):
        return match[1].translate(_DECODE)
    return _ENCODED.sub(_quoted, text).translate(_DECODE)


def _quoted(match: re.Match[str]) -> str:
    name = match[1].translate(_DECODE).replace("`", "``")
    return f"`{name}`"


def plain(value: T) -> T:
    """Return a value with every name in it decoded, as deep as it goes."""
    return _plain(value)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, Enum) else decode(value)
    if isinstance(value, (list, tuple, frozenset)):
        made = [_plain(v) for v in value]
        return value._make(made) if hasattr(value, "_make") else type(value)(made)
    if isinstance(value, Mapping):
        return {_plain(k): _plain(v) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _plain(getattr(value, f.name)) for f in fields(value)})
    return value
