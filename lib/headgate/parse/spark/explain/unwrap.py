"""Put lines together again that a terminal of a fixed width, or a mail, broke."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from headgate.parse.spark.explain.lines import NO_RAIL, Line

_NARROWEST, _WIDEST = 40, 400
# Blanks at the end of a full line that may have been taken off.
_LOST = 2
_BLOCK = re.compile(r"^\(\d+\) [A-Z]")
_FIELD = re.compile(
    r"^(?:Input|Output|Keys|Functions|Aggregate Attributes|Results|Arguments|Condition|Left keys"
    r"|Right keys|Join type|Join condition|Batched|Location|Format|PushedFilters|ReadSchema"
    r"|PartitionFilters|DataFilters)(?: \[\d+\])?\s*:"
)
_OTHER = re.compile(
    r"^(?:={3,} |Subquery:|Generated code:|/\* \d+|\[?(?:TRACE|DEBUG|INFO|WARN|ERROR)\b"
    r"|\[?\d{2,4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d)"
)


def wrap_width(lines: Sequence[Line]) -> int:
    """Return the width at which a terminal broke lines: the longest broken line's, or 0."""
    longest = 0
    for a, b in pairwise(lines):
        # What a line is takes longer to say than how wide it is.
        if longest < a.end - a.start <= _WIDEST and not _begins(b, False):
            longest = a.width
    return longest


def unwrapped(lines: Sequence[Line], text: str, width: int) -> Sequence[Line]:
    """Return the lines as they were printed; the same ones if none was broken at `width`.

    A line that fills the width continues in the next one, if that begins nothing itself. What was
    joined keeps the number of its first line.
    """
    longest = max((line.end - line.start for line in lines), default=0)
    width = width if longest <= width else longest
    if not _NARROWEST <= width <= _WIDEST or not _is_broken(lines, width):
        return lines
    return list(_joined(lines, text, width))


def _is_broken(lines: Sequence[Line], width: int) -> bool:
    """Whether a full line is followed by one that begins nothing."""
    return any(
        a.end - a.start >= width - _LOST and not _begins(b, False) for a, b in pairwise(lines)
    )


def is_full(length: int, width: int) -> bool:
    """Whether a line fills a terminal's width; a blank or two may be lost at its end."""
    return _NARROWEST <= width <= _WIDEST and length >= width - _LOST


def _begins(line: Line, in_details: bool) -> bool:
    """Whether a line begins something, so doesn't continue the one before.

    Only below the tree (`in_details`) a field's name begins one.
    """
    if line.column >= 0 or not line.text:
        return True
    text = line.text
    if not text.strip(" :|+-"):
        return True
    if text.startswith("== ") or _BLOCK.match(text) or (in_details and _FIELD.match(text)):
        return True
    return bool(_OTHER.match(text))


def _joined(lines: Sequence[Line], text: str, width: int) -> Iterator[Line]:
    held: list[Line] = []
    full, in_details = False, False
    for line in lines:
        in_details = in_details or bool(_BLOCK.match(line.text))
        if not (full and not _begins(line, in_details)):
            if held:
                yield _again(held, text, width)
            held = []
        held.append(line)
        full = line.end - line.start >= width - _LOST
    if held:
        yield _again(held, text, width)


def _again(held: Sequence[Line], text: str, width: int) -> Line:
    """Return what was joined; a rail that was broken itself is found again."""
    first, *others = held
    if not others:
        return first
    raws = [text[line.start : line.end] for line in held]
    parts = [*(raw.ljust(width) for raw in raws[:-1]), raws[-1]]
    raw = "".join(parts).rstrip()
    dash = raw.find("-") - 1
    is_row = dash >= 0 and raw[dash : dash + 3] in ("+- ", ":- ") and not raw[:dash].strip(" :|")
    if is_row:
        return Line(first.number, dash, raw[dash:], 0, len(raw))
    return Line(first.number, NO_RAIL, raw, 0, len(raw))
