"""The result of a comparison of two outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that isn't a key: the number of row pairs that differ in it, and its types.

    A type is None if that output doesn't have the column.
    """

    name: str
    different: int
    type_a: str | None
    type_b: str | None


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A row that differs.

    `kind` is `missing` (only A has the row), `extra` (only B has it) or `different`. `a` and `b`
    have the columns that differ, or the whole row; None if that output lacks the row.
    """

    kind: str
    key: Mapping[str, Any]
    columns: tuple[str, ...]
    a: Mapping[str, Any] | None
    b: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """Counts of rows, columns and samples; `notes` explain how to read them.

    `missing` rows are only in A, `extra` rows only in B. `different` counts pairs with the same key
    and different values.
    """

    a: str
    b: str
    equal: bool
    rows_a: int
    rows_b: int
    missing: int
    extra: int
    different: int
    columns: tuple[ComparedColumn, ...]
    samples: tuple[SampleRow, ...]
    keys: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    tolerance: float = 0.0
    has_duplicates: bool = False
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The part that a run stores: whether both outputs are equal, and the counts of rows."""
        names = ("equal", "rows_a", "rows_b", "missing", "extra", "different")
        return {name: getattr(self, name) for name in names}

    @property
    def same(self) -> int:
        """The number of rows of A that are also in B."""
        return self.rows_a - self.missing - self.different
