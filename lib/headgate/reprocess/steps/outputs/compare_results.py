"""Compare what two versions wrote, and fail if it differs, where that was asked for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar

from headgate.errors import StepError
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.text.numbers import name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareResults(StepBase):
    """Compare the rows of two folders by `keys`; numbers may differ by `tolerance`.

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
        return f"compare {self.before} with {self.after} by {name_list(self.keys)}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Compare, keep the result with the run, and tell the counts."""
        found = applier.spark_jobs.compare(
            self.before,
            self.after,
            keys=self.keys,
            tolerance=self.tolerance,
            ignore=self.ignore,
        )
        file = f"{applier.folders.snapshot_folder()}/comparison.json"
        applier.folders.write_record(file, json.dumps(asdict(found)))
        said = (
            f"{plural(found.rows_a, 'row')} and {plural(found.rows_b, 'row')}: {found.missing} "
            f"missing, {found.extra} extra, {found.different} different"
        )
        columns = [c.name for c in found.columns if c.different]
        applier.note(said + (f" (columns {name_list(columns)})" if columns else ""))
        if self.must_match and not found.equal:
            raise StepError(f"the results differ: {said}. See {file}")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The comparison itself is the check."""
