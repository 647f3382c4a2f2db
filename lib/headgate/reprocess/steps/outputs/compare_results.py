"""Compare what two versions wrote; fail if it differs and a match is required."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import DifferenceError
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.comparison import keep_comparison
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareResults(StepBase):
    """Compare the rows of two folders by --keys; numbers may differ by --tolerance.

    With `must_match`, the run fails if a row is missing, extra or different.
    """

    action: ClassVar[str] = "compare_results"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    before: str
    after: str
    keys: tuple[str, ...]
    tolerance: float = 0.0
    ignore: tuple[str, ...] = ()
    must_match: bool = True

    def describe(self) -> str:
        return f"compare {self.before} with {self.after} by key ({name_list(self.keys)})"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Compare, keep the result with the run, and report the counts."""
        found = applier.spark_jobs.compare(
            self.before,
            self.after,
            keys=self.keys,
            tolerance=self.tolerance,
            ignore=self.ignore,
        )
        said, file = keep_comparison(applier, found)
        if self.must_match and not found.equal:
            raise DifferenceError(
                f"the results differ: {said}. See {file}. If the differences are expected, plan "
                "again with --allow-differences"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The comparison itself is the check."""
