"""Have Spark run a pipeline's function over a range of records, into a topic of the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.own_topic import CREATING, own_topic, records_in
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.outputs.process_records import (
    DeleteResults,
    Processing,
    forget_stream,
)
from headgate.reprocess.steps.topics.delete_topics import check_unread
from headgate.text.numbers import as_records, plural

# So that all records stay until they are counted, whatever settings the topic gets then.
_WHILE_FILLED = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIntoTopic(Processing):
    """Create the target topic with the planned settings, and write the results to this topic.

    A resumed run recreates its own topic, known by its id. The topic gets its settings once it is
    full: compaction or a retention time would change the count.
    """

    action: ClassVar[str] = "process_into_topic"
    topic: str
    shape: dict[str, Any]

    def describe(self) -> str:
        return (
            f"process {as_records(self.records)} of {', '.join(sorted(self.offsets))} with "
            f"{self.entry_point}{self.how}, and write the results to the new topic {self.topic}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the name is taken, too."""
        Processing.check(self, inspector, again=again)
        if not again and inspector.kafka.shapes([self.topic]):
            raise RefusedError(
                f"topic {self.topic} already exists. Run `headgate plan` again with another "
                "topic in --to"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the topic's id is kept, and the checkpoint of a stream."""
        own = PurePosixPath(applier.folders.snapshot_folder())
        record = {"record": str(own / "created-topic")}
        return record | self.stream_folder(str(own / self.topic), applier.run)

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The topic as it is while it is filled."""
        configs = {**self.shape["configs"], **_WHILE_FILLED}
        return (TopicShape(name=self.topic, id="", **{**self.shape, "configs": configs}),)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program into a topic of its own, and count what came."""
        self._create(applier, was["record"])
        given = ("--to", f"kafka:{self.topic}", "--run", applier.run)
        written = self.work(applier, *given, folder=was.get("stream"))
        found = records_in(applier, self.topic)
        if found != written:
            raise StepError(
                f"topic {self.topic} has {plural(found, 'record')}, but the run wrote {written}: "
                "Spark repeated a task, or another producer writes to the topic. Stop other "
                "producers, then resume the run"
            )
        applier.kafka.configure_topic(self.topic, self.shape["configs"])
        forget_stream(applier, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the topic is gone; its records were counted."""
        if own_topic(applier, self.topic, was["record"]) is None:
            raise StepError(
                f"the topic {self.topic} of this run no longer exists. Run `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the topic."""
        topic = DeleteFilledTopic(topic=self.topic, record=was["record"])
        return (topic, *((DeleteResults(folder=was["stream"]),) if "stream" in was else ()))

    def _create(self, applier: Applier, record: str) -> None:
        """Create the topic, in place of that of an earlier try; RefusedError if it's another's."""
        own = own_topic(applier, self.topic, record)
        if own is not None:
            applier.kafka.delete_topic(own)
        elif applier.kafka.shapes([self.topic]):
            raise RefusedError(
                f"topic {self.topic} exists, but this run didn't create it. Run `headgate plan` "
                "again with another topic"
            )
        applier.folders.write_record(record, CREATING)
        applier.kafka.create_topic(*self.creates)
        applier.folders.write_record(record, applier.kafka.shapes([self.topic])[self.topic].id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFilledTopic(StepBase):
    """Delete the topic that a run has created for its results, known by its id.

    The file `record` has the id. Another topic that has the name now stays.
    """

    action: ClassVar[str] = "delete_filled_topic"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    topic: str
    record: str

    def describe(self) -> str:
        return f"delete topic {self.topic} with the results in it"

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what goes with the topic."""
        return (
            f"the undo deletes topic {self.topic} with all its records, including records from "
            "other producers",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody reads it."""
        check_unread(inspector, [self.topic])

    def bind(self, applier: Applier) -> PriorState:
        """Read whether the run's topic is there."""
        own = own_topic(applier, self.topic, self.record)
        return {"shapes": [asdict(own)] if own else []}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone."""
        return own_topic(applier, self.topic, self.record) is None

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it."""
        for shape in was["shapes"]:
            applier.kafka.delete_topic(TopicShape(**shape))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"topic {self.topic} still exists after the delete request. Check "
                "`delete.topic.enable` of the brokers, then resume the run"
            )
