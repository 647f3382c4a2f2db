"""Find the rows of a plan's tree among a section's lines, and what is missing between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headgate.parse.spark.explain.arguments import opened
from headgate.parse.spark.explain.lines import Line
from headgate.parse.spark.explain.sections import Section, is_other_header

_STOP = re.compile(r"^(?:\(\d+\) [A-Z]|={3,} |Subquery:|Generated code:|/\* \d+|\[?info\]? )")
_EXCEPTION = re.compile(r"^(?:[a-z][\w$]*\.)+\w*(?:Exception|Error)\b|^Error occurred during ")
_ASKS = re.compile(r"(?:subquery|exists|list)\S*#\d+ \[")
_INNER = ("Subquery", "ReusedSubquery", "InMemoryRelation", "SubqueryAdaptiveBroadcast")
_WITH = ("CTE [", "'UnresolvedWith [")
_ROOT = "..."
_MOST_SHOWN = 60
_LONGEST_REFUSAL = 300


@dataclass(frozen=True, slots=True)
class Row:
    """One operator's line without its rails; `depth` is never more than one below the last."""

    depth: int
    text: str
    line: int


@dataclass(slots=True)
class Rows:
    """A section's tree. `rest` are the lines below it, `gaps` say what the tree lacks."""

    rows: list[Row] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def refusal(section: Section) -> str | None:
    """Return the exception that Spark printed instead of a plan, None if it printed a plan."""
    first = next((line.text.strip() for line in section.lines if line.text.strip()), "")
    return first.partition(";")[0][:_LONGEST_REFUSAL] if _EXCEPTION.match(first) else None


def _is_cache(text: str) -> bool:
    return text.startswith("InMemoryRelation")


def read_rows(section: Section) -> Rows:
    """Return the rows of a section's tree; none where it holds none."""
    lines = section.lines
    begin = _begin(section)
    if begin is None or refusal(section):
        return Rows()
    reading = _Reading(lines, begin, section.has_heading, section.form != "physical")
    reading.read()
    return reading.found


def _begin(section: Section) -> int | None:
    """Return where the tree begins; above an analysed one are the columns of the result."""
    lines = section.lines
    begin = next((n for n, line in enumerate(lines) if line.text.strip()), None)
    if begin is None or section.form != "analyzed":
        return begin
    at = begin
    while at + 1 < len(lines) and lines[at + 1].text.strip() and not lines[at + 1].is_row:
        at += 1
    return at


def result_of(section: Section) -> str:
    """Return the columns of the result above an analysed tree, "" for other forms."""
    if section.form != "analyzed":
        return ""
    above = section.lines[: _begin(section) or 0]
    return " ".join(line.text.strip() for line in above if line.text.strip())


class _Reading:
    """Goes down the lines once; `open` says, by depth, whether a row's rail promised another."""

    def __init__(
        self, lines: Sequence[Line], begin: int, has_heading: bool, is_logical: bool
    ) -> None:
        self.lines = lines
        self.at = begin
        self.has_heading = has_heading
        self.found = Rows()
        self.open: list[bool] = []
        self.inner: int | None = None
        self.is_logical = is_logical
        self.keeps = False
        self.shift = 0
        self.depth = 0
        self.plans: set[int] = set()
        self.heading = False
        self.left_out = 0
        self.brackets = 0
        self.lost = False
        self.following: tuple[int, Line | None] = (-1, None)

    def read(self) -> None:
        """Read the tree; what follows it is the rest."""
        self._root()
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.column >= 0:
                self._row(line)
            elif not self._other(line):
                break
            self.at += 1
        self.found.rest = [line.text for line in self.lines[self.at :]]
        self._close(0)
        self._end()

    def _root(self) -> None:
        line = self.lines[self.at]
        if not line.is_row:
            self._add(0, line.text.strip(), line.number)
            self.open = [False]
            self.at += 1
            return
        self.found.rows.append(Row(0, _ROOT, line.number))
        self.open = [False]
        self.shift = line.column // 3
        self.found.gaps.append(
            f"starts in the middle: the text above line {line.number} is missing"
        )

    def _row(self, line: Line) -> None:
        depth = max(line.column // 3 + 1 - self.shift, 1)
        text = line.text[3:]
        if self.inner is not None and depth >= self.inner:
            self.depth = max(depth, self.inner)
            self._nested(depth, text, line.number)
            return
        last = self.found.rows[-1]
        if text.startswith("== "):
            self._plan_heading(depth, text)
            return
        if depth > self.depth + 1:
            if self._is_inner(last, text):
                self.inner = depth
                self.keeps = self.is_logical or _is_cache(text) or _is_cache(last.text)
                self._nested(depth, text, line.number)
                return
            self._lost(line.number)
            depth = self.depth + 1
        self.inner = None
        self.heading = False
        self._close(depth)
        self.open += [False] * (depth + 1 - len(self.open))
        self.open[depth] = line.text[0] == ":"
        self._add(depth, text, line.number)

    def _nested(self, depth: int, text: str, line: int) -> None:
        """Keep a row of an inner plan as the first inputs of its operator: two levels are one.

        A physical plan's subquery is left out: adaptive plans print theirs with rails of their own.
        """
        if self.keeps:
            above = self.found.rows[-1].depth
            self.found.rows.append(Row(min(depth - 1, above + 1), text, line))

    def _is_inner(self, last: Row, text: str) -> bool:
        """Whether a row two levels down is the plan of a subquery or of a `WITH`, no input."""
        asks = last.text.startswith(_WITH) or bool(_ASKS.search(last.text))
        return asks or text.startswith(_INNER) or _is_cache(last.text)

    def _plan_heading(self, depth: int, text: str) -> None:
        """Begin an adaptive plan's `== Final Plan ==`, not an operator; skip its initial plan."""
        if text.startswith("== Initial Plan") and depth in self.plans:
            self.inner, self.keeps = depth, False
            return
        self.plans.add(depth)
        self.inner, self.heading = None, True
        self._close(depth)
        self.depth = depth - 1

    def _other(self, line: Line) -> bool:
        """Take a line without rails; False where the tree has ended."""
        text = line.text.strip()
        if self.inner is not None and text and not _STOP.match(line.text):
            return True
        if self.heading and text:
            depth = (len(line.text) - len(line.text.lstrip(" :|"))) // 3
            self.heading = False
            self._add(max(depth, 1), text, line.number)
            return True
        if text and (is_other_header(line.text) or _STOP.match(line.text)):
            return False
        if text and self.brackets > 0:
            last = self.found.rows[-1]
            self.found.rows[-1] = Row(last.depth, f"{last.text} {text}", last.line)
            self.brackets += opened(text)
            return True
        return self._skipped(line)

    def _skipped(self, line: Line) -> bool:
        """Skip what is between two rows that belong together; say whether it was that."""
        following = self._next_row()
        if following is None or not self._goes_on(following):
            return False
        if line.text.strip():
            self.left_out += 1
            if self.left_out == 1:
                shown = line.text.strip()[:_MOST_SHOWN]
                self.found.notes.append(f"line {line.number} isn't part of the query plan: {shown}")
        return True

    def _next_row(self) -> Line | None:
        """Return the row below, None where the tree ends before one; a stretch is searched once."""
        at, found = self.following
        if self.at < at:
            return found
        at, found = len(self.lines), None
        for number in range(self.at + 1, len(self.lines)):
            line = self.lines[number]
            if line.is_row or _STOP.match(line.text) or is_other_header(line.text):
                at, found = number, line if line.is_row else None
                break
        self.following = at, found
        return found

    def _goes_on(self, line: Line) -> bool:
        """Whether a row is an input of the last one, or one that an earlier rail promised."""
        depth = line.column // 3 + 1 - self.shift
        if depth == self.depth + 1:
            return True
        return 0 < depth < len(self.open) and self.open[depth]

    def _close(self, depth: int) -> None:
        """Say what was promised below `depth` and did not come."""
        if len(self.open) <= depth + 1:
            return
        if any(self.open[depth + 1 :]):
            self._lost(self.lines[min(self.at, len(self.lines) - 1)].number)
        del self.open[depth + 1 :]

    def _lost(self, line: int) -> None:
        if not self.lost:
            self.found.gaps.append(f"is incomplete: an input is missing above line {line}")
        self.lost = True

    def _add(self, depth: int, text: str, line: int) -> None:
        self.found.rows.append(Row(depth, text, line))
        self.depth = depth
        self.brackets = opened(text)

    def _end(self) -> None:
        if self.left_out > 1:
            more = self.left_out - 1
            said = "line isn't" if more == 1 else "lines aren't"
            self.found.notes.append(f"{more} more {said} part of the query plan")
        if self.brackets > 0 and not any(line.strip() for line in self.found.rest):
            self.found.gaps.append(f"ends in the middle of line {self.found.rows[-1].line}")
