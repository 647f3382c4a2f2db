"""Have Spark compute the results of the keys that late records touch, beside the old results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import SparkJob
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.outputs.late_batch import (
    PROGRAM,
    LateBatch,
    check_content,
    late_counts,
)
from headgate.reprocess.steps.outputs.process_records import Processing, ProcessRecords
from headgate.reprocess.steps.outputs.stage_rows import StageRows
from headgate.text.numbers import as_records


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceResults(ProcessRecords):
    """Process the input and the late records; write a copy of the folder with new results.

    The results replace those of the touched keys in `folder`, whose hash is `content`.
    """

    action: ClassVar[str] = "replace_results"
    symbol: ClassVar[str] = "~"
    late: LateBatch
    content: str

    def describe(self) -> str:
        return (
            f"{_processed(self, self.late)}, and write a copy of {self.folder} with new results "
            f"for {self.late.touched}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a record, a late one too, or the folder's contents are other ones now."""
        ProcessRecords.check(self, inspector, again=again)
        self.late.check(inspector)
        check_content(inspector, self.folder, self.content)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program; what an earlier try has written is overwritten."""
        self.work(applier, "--to", was["staged"])

    def job(self, *target: str) -> SparkJob:
        """Return the program, with the arguments that name the new folder."""
        more = self.late.arguments(f"{self.format}:{self.folder}")
        found = ProcessRecords.job(self, *more, *target)
        return replace(found, program=PROGRAM, what=self.late.what)

    def report(self, facts: Mapping[str, Any]) -> str:
        """Return what the program has done, as a sentence for the Runs page."""
        return late_counts(facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLateRows(StageRows):
    """Process the input and the late records; write new results and the touched keys to staging.

    Both are tables next to the target table. A killed run starts again with empty ones.
    """

    action: ClassVar[str] = "stage_late_rows"
    late: LateBatch

    def describe(self) -> str:
        return (
            f"{_processed(self, self.late)}, and write new results for {self.late.touched} to a "
            f"staging table for {self.target.title}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a record, a late one too, is another one now, or the table isn't as then."""
        StageRows.check(self, inspector, again=again)
        self.late.check(inspector)

    def job(self, *target: str) -> SparkJob:
        """Return the program with the database that it writes to."""
        more = self.late.arguments(f"jdbc:{self.target.connection}.{self.target.name}")
        found = StageRows.job(self, *more, *target)
        return replace(found, program=PROGRAM, what=self.late.what)

    def report(self, facts: Mapping[str, Any]) -> str:
        """Return what the program has done, as a sentence for the Runs page."""
        return late_counts(facts)


def _processed(step: Processing, late: LateBatch) -> str:
    count = as_records(step.records)
    return (
        f"process {count} of {', '.join(sorted(step.offsets))} and {late.title} with "
        f"{step.entry_point}"
    )
