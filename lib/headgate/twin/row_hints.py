"""What the rows of a twin run must hold, so that they reach every branch of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headgate.twin.made_texts import Parts

# Columns are named `stream:NAME` or `FOLDER:NAME`, fields of structs `stream:NAME.FIELD`. Streams
# share their columns, but not if several are of Kafka: then each has another `value`.
STREAM = "stream"


@dataclass(slots=True)
class Hints:
    """What rows must hold: `literals` of a column with their Spark types, and how its text is read.

    `formats` are those of a column whose times a query reads in several. `intervals` are in
    seconds. `words` are texts of user functions, for any column of text. `apart` are the folders of
    streams that share no columns with others. `parts` says how a column's text is taken apart,
    `divisors` are columns that something is divided by. `cases` are those of texts that are
    compared in one case. `nulls` are columns that a query looks for nulls in. `identities` are
    columns by which duplicates are found, `grouped` those that rows are grouped by.
    """

    literals: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    conversions: dict[str, Any] = field(default_factory=dict)
    formats: dict[str, list[str]] = field(default_factory=dict)
    intervals: set[float] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    apart: set[str] = field(default_factory=set)
    parts: dict[str, Parts] = field(default_factory=dict)
    divisors: set[str] = field(default_factory=set)
    cases: dict[str, str] = field(default_factory=dict)
    nulls: set[str] = field(default_factory=set)
    identities: set[str] = field(default_factory=set)
    grouped: set[str] = field(default_factory=set)
    _parents: dict[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON: all of it comes from the plans and the code."""
        return {
            "literals": {k: sorted(v for v, _ in found) for k, found in self.literals.items()},
            "conversions": dict(self.conversions),
            "intervals": sorted(self.intervals),
            "words": sorted(self.words),
            "parts": {column: parts.plain() for column, parts in self.parts.items()},
            "equal": dict(self._parents),
        }

    def prefix(self, folder: str, *, is_streaming: bool) -> str:
        """Return the prefix of the names of a source's columns."""
        return STREAM if is_streaming and folder not in self.apart else folder

    def domain(self, column: str) -> str:
        """Return the column that stands for all that are compared with this one."""
        while (above := self._parents.get(column, column)) != column:
            column = above
        return column

    def of_one_row(self) -> frozenset[str]:
        """Return the columns that may have another value in each row, without loss of keys."""
        shared = self.grouped | self._parents.keys() | set(self._parents.values())
        return frozenset(self.identities - shared)

    def equate(self, one: str, other: str) -> None:
        """Give two columns the same values: a join or a filter compares them."""
        pair = {self.domain(one), self.domain(other)}
        first, *rest = sorted(pair, key=lambda c: (not c.startswith(STREAM), c))
        self._parents |= dict.fromkeys(rest, first)
