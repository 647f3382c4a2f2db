"""What a comparison of two outputs found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that is no key: in how many pairs of rows it differs, and its types.

    A type is None where that output lacks the column.
    """

    name: str
    different: int
    type_a: str | None
    type_b: str | None


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A row that differs. `kind` is missing (only A has it), extra (only B) or different.

    `a` and `b` hold the columns that differ, or the whole row; None where an output lacks it.
    """

    kind: str
    key: Mapping[str, Any]
    columns: tuple[str, ...]
    a: Mapping[str, Any] | None
    b: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """Counts of rows, columns and samples; `notes` say what must be known to read them.

    `missing` rows are only in A, `extra` rows only in B, `different` are pairs of one key.
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
        """What a run keeps of it: whether both are equal, and the counts of rows."""
        names = ("equal", "rows_a", "rows_b", "missing", "extra", "different")
        return {name: getattr(self, name) for name in names}

    @property
    def same(self) -> int:
        """The rows of A that B has as well."""
        return self.rows_a - self.missing - self.different
