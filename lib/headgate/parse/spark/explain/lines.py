"""Cut a text into lines and find the rails that `explain` draws before an operator."""

from __future__ import annotations

from typing import NamedTuple

NO_RAIL = -1
# How much longer rails are than those that were copied last before they are copied again.
_STEP = 60


class Line(NamedTuple):
    """One line: `text` is all of it, or begins with the rail `+- ` or `:- ` at `column`.

    `start` and `end` are its offsets in the whole text, without blanks at its end.
    """

    number: int
    column: int
    text: str
    start: int
    end: int

    @property
    def is_row(self) -> bool:
        """Whether it begins with a rail."""
        return self.column >= 0

    @property
    def width(self) -> int:
        """How many characters the line takes."""
        return self.end - self.start


def scan(text: str, first: int = 1) -> list[Line]:
    """Return the lines of `text`; `first` is the number of the first one.

    Rails of deep plans are longer than all else: they are matched in place, not copied.
    """
    out: list[Line] = []
    number, at, size, known = first, 0, len(text), ""
    while at <= size:
        end = text.find("\n", at)
        stop = end if end >= 0 else size
        last = _trimmed(text, at, stop) if text[stop - 1 : stop].isspace() else stop
        rail = text.find("-", at, last) - 1
        if rail >= at and text[rail] in "+:" and _is_rail(text, at, rail, known):
            column = rail - at
            if column > len(known) + _STEP or not text.startswith(known, at):
                known = text[at:rail]
            out.append(Line(number, column, text[rail:last], at, last))
        else:
            out.append(Line(number, NO_RAIL, text[at:last], at, last))
        number, at = number + 1, stop + 1
    return out


def _trimmed(text: str, at: int, stop: int) -> int:
    """Return where the line ends that has blanks at its end."""
    return at + len(text[at:stop].rstrip())


def _is_rail(text: str, at: int, rail: int, known: str) -> bool:
    """Whether `+- ` is at `rail` with only rails before it; `known` is such a line's beginning."""
    if not text.startswith("- ", rail + 1):
        return False
    if rail >= at + len(known) and text.startswith(known, at):
        at += len(known)
    before = text[at:rail]
    return not before or before.isspace() or not before.strip(" :|")
