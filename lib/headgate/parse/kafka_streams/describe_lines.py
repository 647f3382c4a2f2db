"""The lines of a description, freed from what logs, terminals and mail put around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.text.json_text import read_json

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_KEY = re.compile(
    r"(?<!\S)(?P<key>Topologies:|Topology:|Sub-topologies:|Sub-topology:|Global Stores:"
    r"|GlobalStore:|Source:|Processor:|Sink:|-->|<--)(?=\s|$)"
)
_NODE = re.compile(r"(?<!\S)(?:Source|Processor|Sink): ")
_SEVERAL = re.compile(
    r"\s+(?=(?:Sub-topology|Sub-topologies|Global Stores|GlobalStore|Source|Processor|Sink):\s)"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `key` is what it begins with (`Source:`, `-->`, ...), None if it isn't a known one.

    `rest` is what follows the key, `raw` the line without colours. `number` counts from 1.
    `is_prefixed` says whether something other than blanks precedes the key.
    """

    number: int
    raw: str
    key: str | None = None
    rest: str = ""
    is_prefixed: bool = False


def lines(text: str) -> Iterator[Line]:
    """Yield the lines; a description on one line is taken apart, an escaped one unescaped."""
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", unescaped(text)), start=1):
        plain = _ANSI.sub("", raw) if "\x1b" in raw else raw
        if "Sub-topolog" in plain and len(_NODE.findall(plain)) > 1:
            yield from (_line(number, part) for part in _SEVERAL.split(plain))
        else:
            yield _line(number, plain)


def unescaped(text: str) -> str:
    r"""Return what a text means that is one JSON string, or has `\n` written out."""
    stripped = text.strip()
    if stripped.startswith('"') and stripped.endswith('"'):
        try:
            found = read_json(stripped)
        except ValueError:
            found = None
        if isinstance(found, str):
            return found
    if "\\n" in text and "Sub-topology" in text and "\n" not in stripped:
        return text.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
    return text


def _line(number: int, plain: str) -> Line:
    match = _KEY.search(plain)
    if match is None:
        return Line(number, plain)
    rest = plain[match.end() :]
    if match["key"] == "Topology:" and (inner := _KEY.match(rest.lstrip())):
        # "INFO my.App - Topology: Topologies:" is a log's word before the header.
        return Line(number, plain, inner["key"], rest.lstrip()[inner.end() :].strip(), True)
    before = plain[: match.start()]
    return Line(number, plain, match["key"], rest.strip(" \t"), bool(before.strip()))
