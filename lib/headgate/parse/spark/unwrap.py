"""Put lines together again that a terminal of a fixed width, or a mail, broke."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from headgate.parse.spark.lines import NO_RAIL, Line

_NARROWEST, _WIDEST = 40, 400
_BLOCK = re.compile(r"^\(\d+\) [A-Z]")
_FIELD = re.compile(
    r"^(?:Input|Output|Keys|Functions|Aggregate Attributes|Results|Arguments|Condition|Left keys"
    r"|Right keys|Join type|Join condition|Batched|Location|Format|PushedFilters|ReadSchema"
    r"|PartitionFilters|DataFilters)(?: \[\d+\])?\s*:"
)
_OTHER = re.compile(r"^(?:=+ |Subquery:|Generated code:|/\* \d+)")


def unwrapped(lines: Sequence[Line], text: str) -> Sequence[Line]:
    """Return the lines as they were printed; the same ones where none was broken.

    The width is that of the longest line. A line that fills it goes on in the next one, which
    begins nothing itself. What was joined keeps the number of its first line.
    """
    width = max((line.width for line in lines), default=0)
    if not _NARROWEST <= width <= _WIDEST or not _is_broken(lines, width):
        return lines
    return list(_joined(lines, text, width))


def _is_broken(lines: Sequence[Line], width: int) -> bool:
    """Whether a full line is followed by one that begins nothing."""
    return any(is_full(a.width, width) and not _begins(b) for a, b in pairwise(lines))


def is_full(length: int, width: int) -> bool:
    """Whether a line fills a terminal's width; a blank or two may be lost at its end."""
    return _NARROWEST <= width <= _WIDEST and length >= width - 2


def _begins(line: Line) -> bool:
    if line.is_row or not line.text:
        return True
    text = line.text
    if not text.strip(" :|+-"):
        return True
    if text.startswith("== ") or _BLOCK.match(text) or _FIELD.match(text):
        return True
    return bool(_OTHER.match(text))


def _joined(lines: Sequence[Line], text: str, width: int) -> Iterator[Line]:
    held: list[str] = []
    first, full = lines[0], False
    for line in lines:
        raw = text[line.start : line.end]
        if held and full and not _begins(line):
            held[-1] = held[-1].ljust(width)
            held.append(raw)
        else:
            if held:
                yield _again(first, held)
            first, held = line, [raw]
        full = is_full(line.width, width)
    if held:
        yield _again(first, held)


def _again(first: Line, parts: list[str]) -> Line:
    """Return what was joined; a rail that was broken itself is found again."""
    if len(parts) == 1:
        return first
    raw = "".join(parts).rstrip()
    dash = raw.find("-") - 1
    is_row = dash >= 0 and raw[dash : dash + 3] in ("+- ", ":- ") and not raw[:dash].strip(" :|")
    if is_row:
        return Line(first.number, dash, raw[dash:], 0, len(raw))
    return Line(first.number, NO_RAIL, raw, 0, len(raw))
