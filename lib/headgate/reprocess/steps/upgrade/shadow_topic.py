"""Create the topic that a new version writes to before it is switched to, and delete it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateShadowTopic(StepBase):
    """Create a topic with the partitions and settings of the output topic.

    `shape` has `partitions`, `replication` and `configs`.
    """

    action: ClassVar[str] = "create_shadow_topic"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    topic: str
    like: str
    shape: dict[str, Any]

    def describe(self) -> str:
        return f"create shadow topic {self.topic} with the partitions and settings of {self.like}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the name is taken."""
        if not again and inspector.kafka.shapes([self.topic]):
            raise RefusedError(
                f"topic {self.topic} already exists. Delete it if no consumer needs it, or plan "
                "again with another --shadow-topic"
            )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Create it, unless it is there."""
        if not applier.kafka.shapes([self.topic]):
            applier.kafka.create_topic(TopicShape(name=self.topic, id="", **self.shape))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is missing or has another number of partitions."""
        found = applier.kafka.shapes([self.topic]).get(self.topic)
        if found is None or found.partitions != self.shape["partitions"]:
            raise StepError(
                f"topic {self.topic} doesn't exist with {self.shape['partitions']} partitions. "
                "Resume the run to create it"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete it."""
        return (DeleteShadowTopic(topic=self.topic),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteShadowTopic(StepBase):
    """Delete the shadow topic and its records. No consumer needs them."""

    action: ClassVar[str] = "delete_shadow_topic"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    topic: str

    def describe(self) -> str:
        return f"delete shadow topic {self.topic}"

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone."""
        return not applier.kafka.shapes([self.topic])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it, unless it is gone."""
        for shape in applier.kafka.shapes([self.topic]).values():
            applier.kafka.delete_topic(shape)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if applier.kafka.shapes([self.topic]):
            raise StepError(
                f"topic {self.topic} still exists. Stop all producers of it, then resume the run"
            )
