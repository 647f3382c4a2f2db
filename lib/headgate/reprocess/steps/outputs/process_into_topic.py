"""Have Spark run a pipeline's function over a range of records, into a topic of the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, known_log
from headgate.reprocess.steps.outputs.process_records import Processing
from headgate.reprocess.steps.topics.delete_topics import check_unread
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIntoTopic(Processing):
    """Create `topic` with the partitions and settings in `shape`, and write the results to it.

    The topic is the run's own until it is full: a try that was killed is deleted from it.
    """

    action: ClassVar[str] = "process_into_topic"
    topic: str
    shape: dict[str, Any]

    def describe(self) -> str:
        return (
            f"process {plural(self.records, 'record')} of {', '.join(sorted(self.offsets))} with "
            f"{self.entry_point}, and write the results to the new topic {self.topic}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the name is taken, too."""
        Processing.check(self, inspector, again=again)
        if not again and inspector.kafka.shapes([self.topic]):
            raise RefusedError(
                f"topic {self.topic} already exists. Run `headgate plan` again with another "
                "topic in --to"
            )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program into an empty topic, and count what came."""
        if not applier.kafka.shapes([self.topic]):
            applier.kafka.create_topic(TopicShape(name=self.topic, id="", **self.shape))
        if left := {part: end for part, (begin, end) in self._logs(applier).items() if begin < end}:
            applier.kafka.delete_records(left)
        written = self.work(applier, "--to", f"kafka:{self.topic}", "--run", applier.run)
        found = sum(end - begin for begin, end in self._logs(applier).values())
        if found != written:
            raise StepError(
                f"{self.topic} has {plural(found, 'record')}, but {written} were written: Spark "
                "repeated a task, or another producer writes to it. Stop other producers, then "
                "resume the run"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the topic is gone; its records were counted."""
        if not applier.kafka.shapes([self.topic]):
            raise StepError(f"topic {self.topic} no longer exists. Run `headgate plan` again")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the topic."""
        return (DeleteFilledTopic(topic=self.topic),)

    def _logs(self, applier: Applier) -> dict[tuple[str, int], tuple[int, int]]:
        """Return where each partition of the topic begins and ends."""
        return {
            (name, part.number): known_log(name, part)
            for name, topic in applier.kafka.topics([self.topic]).items()
            for part in topic.partitions
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFilledTopic(StepBase):
    """Delete the topic that a run has created for its results."""

    action: ClassVar[str] = "delete_filled_topic"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    topic: str

    def describe(self) -> str:
        return f"delete topic {self.topic} with the results in it"

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what goes with the topic."""
        return (
            f"the undo deletes topic {self.topic} with all its records, also those of other "
            "producers",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody reads it."""
        check_unread(inspector, [self.topic])

    def bind(self, applier: Applier) -> PriorState:
        """Read which topic has the name now."""
        return {"shapes": [asdict(s) for s in applier.kafka.shapes([self.topic]).values()]}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone."""
        return not applier.kafka.shapes([self.topic])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it."""
        for shape in was["shapes"]:
            applier.kafka.delete_topic(TopicShape(**shape))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if applier.kafka.shapes([self.topic]):
            raise StepError(
                f"topic {self.topic} still exists after the delete request. Check "
                "`delete.topic.enable` of the brokers, then resume the run"
            )
