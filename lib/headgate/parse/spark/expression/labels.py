"""Say an expression in few words, for the labels of a graph."""

from __future__ import annotations

import re

from headgate.parse.spark.explain.arguments import whole
from headgate.parse.spark.expression.term import Term

_MICROSECONDS = {"d": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000}
_DEEPEST = 12
_OF_AN_INPUT = re.compile(r"^(s|op|static|union)\d*$")


def readable(found: Term, depth: int = 0) -> str:
    """Return a short text: columns by their last name, casts and parsed formats left out.

    It is only a label. Two different expressions may have the same one; their full text is in the
    node's details.
    """
    if depth > _DEEPEST:
        return "…"
    parts = [readable(a, depth + 1) for a in found.args[:4]]
    match found.kind:
        case "attribute" | "literal":
            return _last(found.name)
        case "field":
            return found.name
        case "cast" | "distinct" if parts:
            return parts[0] if found.kind == "cast" else f"distinct {parts[0]}"
        case "binary" if len(parts) == 2:
            return f"{parts[0]} {found.name} {parts[1]}"
        case "not" if parts:
            return f"not ({parts[0]})"
        case "call":
            return _call(found, parts)
    return found.text if len(found.text) <= 40 else f"{found.text[:39]}…"


def _last(name: str) -> str:
    """Return the column of `s0.city`; what an operator beneath made keeps its function's name."""
    head, dot, rest = name.partition(".")
    if dot and "(" in rest:
        return f"{rest.partition('(')[0]}(…)"
    return rest.rpartition(".")[2] if dot and _OF_AN_INPUT.match(head) else name


def _call(found: Term, parts: list[str]) -> str:
    head, dot, rest = found.name.partition(".")
    if dot and _OF_AN_INPUT.match(head):
        return f"{rest}(…)"
    if found.name in ("window", "session_window"):
        return f"{found.name.replace('_', ' ')} {_duration(found)}".strip()
    if found.name == "from_json":
        return "from_json"
    if found.name == "expand":
        return "grouping id" if parts[0].isdecimal() else parts[0]
    if found.name == "union" and len(set(parts)) == 1:
        return parts[0]
    if found.name == "count" and parts == ["1"]:
        return "count"
    return f"{found.name}({', '.join(parts)})"


def _duration(found: Term) -> str:
    """Return the size of a window, in the largest unit that is whole; the plan has µs."""
    size = whole(found.args[1].text) if len(found.args) > 1 else None
    if size is None or size < 0:
        return ""
    for unit, length in _MICROSECONDS.items():
        if size and size % length == 0:
            return f"{size // length} {unit}"
    return f"{size} µs"


def short(text: str, most: int = 60) -> str:
    """Return a label of at most that many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
