"""What a run is expected to take, as the contract's JSON, and how far off that was.

A plan's `impact` keeps it under ESTIMATE, so it is stored with the run before its start. The truth
is the run's own: its duration and the records that its steps have counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ESTIMATE = "estimate"
# Scenarios whose records are read by the run itself, so that its end is theirs.
PROCESSING = frozenset({"bounded", "historical-range", "ab", "late-batch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Records and bytes to process, and seconds: `expected`, and a range from `low` to `high`.

    `startup` is the part of `expected` that doesn't grow with the records. None is not known, and
    `unknown` says why. `how` says where the duration comes from.
    """

    records: int | None = None
    bytes: int | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    startup: float | None = None
    unknown: tuple[str, ...] = ()
    how: str = ""

    def document(self) -> dict[str, Any]:
        """Return the fields of the contract."""
        seconds = {"expected": self.expected, "low": self.low, "high": self.high}
        return {
            "records": self.records,
            "bytes": self.bytes,
            "seconds": seconds if self.expected is not None else None,
            "unknown": list(self.unknown),
        }

    def kept(self) -> dict[str, Any]:
        """Return what a plan keeps; `read_estimate` reads it back."""
        return {**self.document(), "startup": self.startup, "how": self.how}


def read_estimate(impact: Mapping[str, Any]) -> Estimate | None:
    """Return the estimate of a plan's impact, None if it has none."""
    found = impact.get(ESTIMATE)
    if not found:
        return None
    return Estimate(
        records=found["records"],
        bytes=found["bytes"],
        **(found["seconds"] or {}),
        startup=found.get("startup"),
        unknown=tuple(found["unknown"]),
        how=found.get("how", ""),
    )


def error_of(expected: float | None, took: float | None) -> float | None:
    """Return how far off an estimate was: 0.25 means that it took a quarter longer."""
    if not expected or took is None:
        return None
    return took / expected - 1
