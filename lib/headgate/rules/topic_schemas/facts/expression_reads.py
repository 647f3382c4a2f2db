"""What an expression of a Spark plan takes out of a record: fields, all of it, or nothing.

The text is what a version holds: resolved to `s0.value`, without attribute ids and aliases, such
as `from_json(cast(s0.value as string)).customer.city` or `get_json_object(..., $.a.b)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(r"[\w$~']+$")
_SUFFIX = re.compile(r"(?:\.(?:`[^`]+`|\w+)|\[[^\]]*\])+")
_STEP = re.compile(r"`([^`]+)`|(\w+)|\[([^\]]*)\]")
_QUOTED = r"`(?:[^`]|``)*`"
_FIELD = re.compile(rf"StructField\(\s*(?P<name>{_QUOTED}|[^,()]+?)\s*,")
_MARK = re.compile(rf"{_QUOTED}|[()\[\]{{}},]")
_SCHEMA_FIELD = re.compile(r'"name":\s*"(?P<name>[^"]+)"')
_JSON_STEP = re.compile(r"\.(\w+)|\['([^']+)'\]|\[(\d+|\*)\]")
# Calls whose result is the record itself, only in another type or without a serialiser's header.
SAME = frozenset(
    ("cast", "try_cast", "ansi_cast", "decode", "string", "substring", "substr", "trim", "expr")
)
PARSERS = frozenset(
    ("from_json", "jsontostructs", "from_avro", "fromavro", "avrodatatocatalyst", "from_protobuf",
     "fromprotobuf", "protobufdatatocatalyst", "from_csv", "from_xml")
)  # fmt: skip
PATHS = frozenset(("get_json_object", "variant_get", "try_variant_get"))
NULL_TESTS = frozenset(("isnotnull", "isnull", "length", "octet_length"))


@dataclass(frozen=True, slots=True)
class Usage:
    """One use of a record. `path` is the field that is taken out, None if it isn't one.

    `is_whole` says that something else gets the record as it is; `parsed` are the fields that a
    schema names whose parsed record is passed unchanged.
    """

    path: str | None = None
    is_whole: bool = False
    parsed: tuple[str, ...] = ()


def usages(text: str, columns: tuple[str, ...]) -> Iterator[Usage]:
    """Yield every use of one of the columns (`s0.value`) in an expression's text."""
    for column in columns:
        for match in re.finditer(rf"(?<![\w.]){re.escape(column)}(?![\w(])", text):
            yield from _use(text, match.start(), match.end())


def _use(text: str, start: int, end: int) -> Iterator[Usage]:
    """Go outwards call by call until something takes a field, or the record leaves as it is."""
    while True:
        call = _enclosing(text, start)
        if call is None:
            yield Usage(is_whole=True)
            return
        name, opened, start, end = call
        word = name.lower().strip("~'")
        if word in NULL_TESTS:
            return
        if word == "json_tuple":
            arguments = _arguments(text[opened + 1 : end - 1])[1:]
            yield from (Usage(path=a.strip("'\" ")) for a in arguments if a.strip())
            return
        if word in PATHS:
            yield _by_path(text[opened + 1 : end - 1])
            return
        if word in PARSERS:
            yield _parsed(text, opened, end)
            return
        if word == "parse_json" or word in SAME:
            continue
        if word == "":
            # Brackets of an operator: what compares or adds whole records takes all of them.
            inside = text[opened + 1 : end - 1]
            if " IS " in inside.upper() and "NULL" in inside.upper():
                return
        yield Usage(is_whole=True)
        return


def _enclosing(text: str, at: int) -> tuple[str, int, int, int] | None:
    """Return (name, opening bracket, start, end) of the call around `at`, None for none."""
    depth = 0
    for index in range(at - 1, -1, -1):
        mark = text[index]
        depth += (mark in ")]") - (mark in "([")
        if depth < 0:
            if mark == "[":
                return None
            close = _closing(text, index)
            name = _NAME.search(text, 0, index)
            word = name.group() if name and name.end() == index else ""
            return word, index, index - len(word), close
    return None


def _closing(text: str, opened: int) -> int:
    """Return the index after the bracket that closes; brackets in quotes don't count."""
    depth, quoted = 0, False
    for index in range(opened, len(text)):
        mark = text[index]
        if mark == '"':
            quoted = not quoted
        if quoted:
            continue
        depth += (mark in "([") - (mark in ")]")
        if depth == 0:
            return index + 1
    return len(text)


def _arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for match in _MARK.finditer(text):
        index, mark = match.start(), match.group()
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _by_path(inside: str) -> Usage:
    """Read `cast(s0.value as string), $.a.b`: a path that isn't a literal may be any field."""
    arguments = _arguments(inside)
    path = arguments[1].strip("'\" ") if len(arguments) > 1 else ""
    if not path.startswith("$"):
        return Usage(is_whole=True)
    steps = [a or b or "[]" for a, b, _ in _JSON_STEP.findall(path)]
    return Usage(path=_joined(steps)) if steps else Usage(is_whole=True)


def _parsed(text: str, opened: int, end: int) -> Usage:
    """Read what is taken out of a parsed record: `.a.b` behind it, else all that is parsed."""
    suffix = _SUFFIX.match(text, end)
    if suffix:
        steps = [a or b or "[]" for a, b, _ in _STEP.findall(suffix.group())]
        return Usage(path=_joined(steps))
    inside = text[opened + 1 : end - 1]
    names = [m["name"].strip("`' ") for m in _FIELD.finditer(inside)]
    names += [m["name"] for m in _SCHEMA_FIELD.finditer(inside)]
    return Usage(parsed=tuple(names), is_whole=not names)


def _joined(steps: list[str]) -> str:
    out = ""
    for step in steps:
        out += step if step == "[]" or not out else f".{step}"
    return out
