"""Create the topic that a new version writes to before it is switched to, and delete it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.own_topic import CREATING, own_topic
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateShadowTopic(StepBase):
    """Create a topic with the partitions and settings of the output topic.

    `shape` has `partitions`, `replication` and `configs`. The topic's id is kept with the run: only
    the topic with this id is deleted.
    """

    action: ClassVar[str] = "create_shadow_topic"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    topic: str
    like: str
    shape: dict[str, Any]

    def describe(self) -> str:
        return f"create shadow topic {self.topic} with the partitions and settings of {self.like}"

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The shadow topic."""
        return (TopicShape(name=self.topic, id="", **self.shape),)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the name is taken."""
        if not again and inspector.kafka.shapes([self.topic]):
            raise RefusedError(
                f"topic {self.topic} already exists. Delete it if no consumer needs it, or plan "
                "again with another --shadow-topic"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the id is kept."""
        return {"record": _record(applier)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Create it and keep its id, unless this run has done so.

        A worker may die between both: what is written first says that an empty topic is the run's.
        """
        if not own_topic(applier, self.topic, was["record"]):
            if applier.kafka.shapes([self.topic]):
                raise StepError(
                    f"topic {self.topic} exists, but Headgate can't verify that this run created "
                    "the topic. Delete the topic if no consumer needs it, then resume the run"
                )
            applier.folders.write_record(was["record"], CREATING)
            applier.kafka.create_topic(*self.creates)
        created = applier.kafka.shapes([self.topic])[self.topic]
        applier.folders.write_record(was["record"], created.id)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is missing or has another number of partitions."""
        found = applier.kafka.shapes([self.topic]).get(self.topic)
        if found is None:
            raise StepError(
                f"topic {self.topic} no longer exists. Resume the run to create the topic again"
            )
        if found.partitions != self.shape["partitions"]:
            raise StepError(
                f"topic {self.topic} has {plural(found.partitions, 'partition')} (planned: "
                f"{self.shape['partitions']}). Delete the topic, then resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the shadow topic."""
        return (DeleteShadowTopic(topic=self.topic, record=was.get("record")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteShadowTopic(StepBase):
    """Delete the shadow topic with its records, which no consumer needs.

    `record` is the file with the id of the topic, None: it is in the folder of this run. A topic
    with another id isn't the run's, so it stays.
    """

    action: ClassVar[str] = "delete_shadow_topic"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    topic: str
    record: str | None = None

    def describe(self) -> str:
        return f"delete shadow topic {self.topic}"

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what goes with the topic."""
        return (
            (
                f"the undo deletes topic {self.topic} with all its records, including records from "
                "other producers"
            ),
        )

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone."""
        return not applier.kafka.shapes([self.topic])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it, unless it is gone or not the run's."""
        if own := self._own(applier):
            applier.kafka.delete_topic(own)
        elif applier.kafka.shapes([self.topic]):
            applier.note(
                f"Headgate keeps topic {self.topic}, because the run may not have created the "
                "topic. Delete the topic if no consumer needs it"
            )

    def _own(self, applier: Applier) -> TopicShape | None:
        return own_topic(applier, self.topic, self.record or _record(applier))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if self._own(applier):
            raise StepError(
                f"topic {self.topic} still exists after the delete request. Stop the "
                "producers of this topic, then resume the run"
            )


def _record(applier: Applier) -> str:
    return f"{applier.folders.snapshot_folder()}/shadow-topic"
