"""Compare what both versions wrote for the same batches, and check what consumers need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, RunCancelledError, StepError
from headgate.model.output_comparison import OutputComparison
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.comparison import keep_comparison
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.upgrade.run_beside import COMPARE
from headgate.reprocess.steps.upgrade.stage_checkpoint import STAGED, read_record
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOutputs(StepBase):
    """Compare the newest results of each key since the copy; numbers may differ by --tolerance.

    With `must_match`, the run ends before the switch if a row is missing, extra or different. A
    field that is missing, or has another type, always ends it if the topic has consumers.
    """

    action: ClassVar[str] = "compare_outputs"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    sink_topic: str
    topic: str
    keys: tuple[str, ...]
    tolerance: float = 0.0
    ignore: tuple[str, ...] = ()
    must_match: bool = True

    def describe(self) -> str:
        return (
            f"compare the results in topics {self.sink_topic} and {self.topic} by key "
            f"({name_list(self.keys)})"
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Compare, keep the result with the run, and end the run if it differs."""
        found = self._compared(applier)
        said, file = keep_comparison(applier, found)
        self._check_fields(applier, found)
        if not self.must_match:
            return
        if not found.rows_a and not found.rows_b:
            raise RefusedError(
                f"{self.pipeline} has written no results since its checkpoint was copied, so "
                "nothing was compared. Plan again with a longer --compare-for, or with "
                "--allow-differences"
            )
        if not found.equal:
            raise RefusedError(
                f"the results differ: {said}. See {file}. Correct the new version, or plan "
                "again with --allow-differences"
            )

    def _compared(self, applier: Applier) -> OutputComparison:
        """Compare; RefusedError if that fails, because nothing was switched yet."""
        given = self._range(applier)
        try:
            return applier.spark_jobs.compare(
                f"kafka:{self.sink_topic}@{given}",
                f"kafka:{self.topic}",
                keys=self.keys,
                tolerance=self.tolerance,
                ignore=self.ignore,
                newest=True,
            )
        except RunCancelledError:
            raise
        except StepError as error:
            raise RefusedError(
                f"the results can't be compared ({str(error).rstrip('.')}). Correct the cause, "
                "such as a wrong name in --keys, then run `headgate plan` again"
            ) from None

    def _range(self, applier: Applier) -> str:
        staged, compared = read_record(applier, STAGED), read_record(applier, f"beside-{COMPARE}")
        if staged is None or compared is None:
            raise StepError(
                "the run's folder has no file with the offsets to compare. Run "
                f"`headgate undo {applier.run}`, then `headgate plan` again"
            )
        both = (staged["output"], compared["output"])
        return "..".join(",".join(f"{p}:{o}" for p, o in sorted(at.items())) for at in both)

    def _check_fields(self, applier: Applier, found: OutputComparison) -> None:
        wrong = list(changed_fields(found)) if found.rows_a and found.rows_b else []
        if not wrong:
            return
        consumers = consumers_of(applier, self.sink_topic, self.pipeline)
        if consumers:
            raise RefusedError(
                f"the output schema isn't compatible: {'; '.join(wrong)}. Consumers of "
                f"{self.sink_topic}: {name_list(consumers)}. Keep these fields, or write to a new "
                "topic"
            )
        applier.note(
            f"the output schema changes: {'; '.join(wrong)}. Topic {self.sink_topic} has no known "
            "consumers, so the run continues"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The comparison itself is the check."""


def changed_fields(found: OutputComparison) -> Iterable[str]:
    """Say which fields are gone or have another type; a new field is compatible."""
    for column in found.columns:
        if column.type_a is not None and column.type_b is None:
            yield f"field {column.name} is missing"
        elif column.type_a is not None and column.type_a != column.type_b:
            yield f"field {column.name} changes from {column.type_a} to {column.type_b}"


def consumers_of(inspector: Inspector, topic: str, pipeline: str) -> list[str]:
    """Return the groups and registered pipelines that read a topic; Spark's by their offsets."""
    groups = set(inspector.kafka.topic_consumers([topic]).get(topic, {}))
    for other in inspector.processes.pipelines():
        if other.name == pipeline:
            continue
        if topic in other.topics:
            groups.add(other.name)
        found = inspector.checkpoints.read(other.checkpoint) if other.checkpoint else None
        if found is not None and topic in found.offsets:
            groups.add(other.name)
    return sorted(groups)
