"""Delete the retry topic that a run created, and mark its records as not redriven."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.dead_letters import Ledger
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.text.numbers import name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRetryTopic(StepBase):
    """Delete the retry topic with its records; the dead letters can be redriven again."""

    action: ClassVar[str] = "delete_retry_topic"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    topic: str
    dead_letters: str
    ledger_topic: str
    transactional_id: str

    def describe(self) -> str:
        return (
            f"delete topic {self.topic} with its records, and mark these records in "
            f"{self.dead_letters} as not redriven, except records that an earlier run redrove"
        )

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what goes with the topic, and what can't be marked."""
        said = (
            f"the undo deletes topic {self.topic} with all its records, including records from "
            "other producers"
        )
        return (said, *self._lost(inspector))

    def _lost(self, inspector: Inspector) -> tuple[str, ...]:
        """Say which dead letters stay marked: only records say where they came from."""
        found = inspector.kafka.topics([self.topic]).get(self.topic)
        if found is None:
            return (
                f"topic {self.topic} no longer exists. Records of {self.dead_letters} that were "
                "redriven to this topic still count as redriven: pass --again to redrive them",
            )
        # Offsets of a topic that the run created begin at 0.
        if count := sum(p.begin or 0 for p in found.partitions):
            return (
                f"the records at {plural(count, 'offset')} of topic {self.topic} expired or were "
                f"deleted before the undo. Records of {self.dead_letters} that were redriven to "
                "these offsets still count as redriven: pass --again to redrive them",
            )
        return ()

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Say whose records would go as well: they would still count as redriven."""
        others = inspector.dead_letters.redriven_topics(self.topic) - {self.dead_letters}
        if not others:
            return ()
        return (
            f"topic {self.topic} also has redriven records of {name_list(sorted(others))}, which "
            "the undo would delete. If nobody needs the topic, delete it yourself",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody reads it, or where it has records of other dead letter topics."""
        for reason in self.blockers(inspector):
            raise RefusedError(reason)
        readers = inspector.kafka.topic_consumers([self.topic])[self.topic]
        if active := sorted(group for group, is_active in readers.items() if is_active):
            raise RefusedError(
                f"topic {self.topic} still has active consumer groups: {name_list(active)}. Stop "
                "their consumers first"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Read which topic has the name now, and what it has lost."""
        shapes = [asdict(s) for s in applier.kafka.shapes([self.topic]).values()]
        return {"shapes": shapes, "lost": list(self._lost(applier))}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone: its records were unmarked before."""
        return not applier.kafka.shapes([self.topic])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Unmark its records, then delete it."""
        ledger = Ledger(topic=self.ledger_topic, transactional_id=self.transactional_id)
        applier.dead_letters.forget(self.dead_letters, ledger, self.topic)
        for shape in was["shapes"]:
            applier.kafka.delete_topic(TopicShape(**shape))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there; report which dead letters still count as redriven."""
        if applier.kafka.shapes([self.topic]):
            raise StepError(
                f"topic {self.topic} still exists after the delete request. Check "
                "`delete.topic.enable` of the brokers, then resume the run"
            )
        for said in was["lost"]:
            applier.note(said)
