"""Write the records at which a function failed to a dead letter topic."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import StepError
from headgate.model.dead_letters import FailedRecord
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.failing_records import failing_file
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDeadLetters(StepBase):
    """Write the records that an earlier step left out to the dead letter topic, each only once.

    Each has Kafka Connect's headers with its topic, partition, offset and error. `topics` has the
    `id` and `partitions` of the topic and of those that the records are from. A resumed run writes
    only the records that are missing.
    """

    action: ClassVar[str] = "write_dead_letters"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    topic: str
    topics: dict[str, dict[str, Any]]

    def describe(self) -> str:
        return f"write the failing records to the dead letter topic {self.topic}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a topic is not the planned one: its offsets would be other records."""
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Remember where the topic ends: the dead letters of the run come after."""
        spans = applier.dead_letters.stable_spans(self.topic, ())
        return {"ends": {str(span.partition): span.end for span in spans}}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write those that are missing."""
        records = self._records(applier)
        if not records:
            applier.note("no record made the function fail, so Headgate wrote no dead letters")
            return
        begins = {int(number): end for number, end in was["ends"].items()}
        written = applier.dead_letters.write(self.topic, records, begins)
        count = plural(len(records), "dead letter")
        earlier = len(records) - written
        more = f", {earlier} of them by an earlier attempt" if earlier else ""
        applier.note(f"{count} written to {self.topic}{more}. The results lack these records")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Nothing more: each record was written in a transaction that was committed."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """The dead letters stay in the topic."""
        return ()

    def _records(self, applier: Applier) -> list[FailedRecord]:
        text = applier.folders.read_record(failing_file(applier))
        if text is None:
            raise StepError(
                f"the file with the failing records was not found: {failing_file(applier)}. Run "
                "`headgate plan` again"
            )
        found = json.loads(text)["records"]
        return [FailedRecord(pipeline=self.pipeline, **one) for one in found]
