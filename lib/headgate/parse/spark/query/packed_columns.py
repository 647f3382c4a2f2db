"""The calls in a plan's expressions that pack columns into one, or take a packed one apart.

Names are explain text's own, 3.5 to 4.2: `to_json` of an analysed plan is an `invoke` of a
`StructsToJsonEvaluator` in an optimised one (4.0 on), which prints the type of what is packed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

WRITERS = ("to_json", "to_avro", "to_protobuf", "to_csv", "to_xml")
PARSERS = ("from_json", "from_avro", "from_protobuf")
_EVALUATED = re.compile(r"invoke\(StructsTo(?P<form>Json|Csv|Xml)Evaluator\(")
_WRITER = re.compile(rf"(?<![\w.])(?P<name>{'|'.join(WRITERS)})\(")
_PARSER = re.compile(rf"(?<![\w.])(?P<name>{'|'.join(PARSERS)})\(")
_CAST = re.compile(r"^cast\((?P<inner>.*) as (?:string|binary)\)$", re.S)
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it is printed: `arguments` are texts, `of` the printed type of the first one."""

    name: str
    arguments: tuple[str, ...]
    of: str | None = None


def writer_in(text: str) -> Call | None:
    """Return the writer that makes a column, also below casts; None where none does."""
    while match := _CAST.match(text):
        text = match["inner"]
    if match := _EVALUATED.match(text):
        return _evaluated(text, match)
    if match := _WRITER.match(text):
        return Call(match["name"], tuple(arguments(text, match.end() - 1)))
    return None


def _evaluated(text: str, match: re.Match[str]) -> Call | None:
    """Read `invoke(StructsToJsonEvaluator(Map(),StructType(...),Some(UTC)).evaluate(x))`."""
    given = arguments(text, match.end() - 1)
    begin = text.find(".evaluate(", closing(text, match.end() - 1))
    if len(given) < 2 or begin < 0:
        return None
    packed = arguments(text, begin + len(".evaluate"))
    return Call(f"to_{match['form'].lower()}", tuple(packed), given[1])


def parsers_in(text: str) -> Iterator[Call]:
    """Yield every call that takes a packed column apart, outer ones first."""
    for match in _PARSER.finditer(text):
        yield Call(match["name"], tuple(arguments(text, match.end() - 1)))


def arguments(text: str, opened: int) -> list[str]:
    """Return the arguments in the bracket at `opened`; quotes hide what is in them."""
    parts: list[str] = []
    depth, quoted, start = 0, False, opened + 1
    for index in range(opened, len(text)):
        mark = text[index]
        if mark == _QUOTE:
            quoted = not quoted
        elif quoted:
            continue
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth == 0:
                last = text[start:index].strip()
                return [*parts, last] if last or parts else []
        elif mark == "," and depth == 1:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def closing(text: str, opened: int) -> int:
    """Return the index after the bracket that closes the one at `opened`."""
    depth, quoted = 0, False
    for index in range(opened, len(text)):
        mark = text[index]
        if mark == _QUOTE:
            quoted = not quoted
        elif not quoted:
            depth += (mark in "([{") - (mark in ")]}")
            if depth == 0:
                return index + 1
    return len(text)
