"""Empty output topics, so that a run from scratch writes into nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics, known_log
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.records.back_up_records import backup_topic_name, filling
from headgate.reprocess.steps.records.restore_records import ConfigureTopics, RestoreRecords
from headgate.reprocess.steps.topics.delete_topics import check_all_backed_up
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRecords(StepBase):
    """Delete all records that the topics have after the stop.

    The topics stay, with their offsets and settings: new records continue after them. With
    `backed_up` an earlier step of the run backed up the records, and the undo restores them;
    without, they are gone.
    """

    action: ClassVar[str] = "delete_records"
    symbol: ClassVar[str] = "-"
    topics: dict[str, dict[str, Any]]
    pipeline: str | None = None
    group: str | None = None
    backed_up: bool = False

    @property
    def undoable(self) -> bool:
        """Whether the records were backed up."""
        return self.backed_up

    def describe(self) -> str:
        return f"delete all records of {name_list(self.topics)}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs or a topic is not the planned one."""
        check_stopped(inspector, self.pipeline, group=self.group)
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Read up to where the topics go now, and their settings."""
        shapes = applier.kafka.shapes(self.topics)
        return {
            "before": {
                name: {
                    str(part.number): end
                    for part in topic.partitions
                    for begin, end in (known_log(name, part),)
                    if end != begin
                }
                for name, topic in applier.kafka.topics(self.topics).items()
            },
            "configs": {name: shapes[name].configs for name in sorted(self.topics)},
            "backup": {n: backup_topic_name(applier.run, n) for n in self.topics if self.backed_up},
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether all that was there is gone."""
        return not self._left(applier, was)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete up to the offsets that were bound."""
        left = self._left(applier, was)
        for name in sorted({topic for topic, _ in left} & was["backup"].keys()):
            check_all_backed_up(applier, name, was["backup"][name])
        applier.kafka.delete_records(left)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where something of it is left."""
        if left := self._left(applier, was):
            raise StepError(
                "Kafka did not delete all records of "
                f"{name_list((f'{t}[{p}]' for t, p in left))}. Resume the run to delete "
                "these records"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the backed-up records; newer records are deleted."""
        backup = dict(was["backup"])
        if not backup:
            return ()
        return (
            ConfigureTopics(configs={n: filling(was["configs"][n]) for n in backup}),
            RestoreRecords(backup=backup, pipeline=self.pipeline, group=self.group),
            ConfigureTopics(configs={n: was["configs"][n] for n in backup}),
        )

    def _left(self, inspector: Inspector, was: PriorState) -> dict[tuple[str, int], int]:
        begins = {
            (t.name, p.number): p.begin or 0
            for t in inspector.kafka.topics(self.topics).values()
            for p in t.partitions
        }
        return {
            (name, int(number)): end
            for name, ends in was["before"].items()
            for number, end in ends.items()
            if begins.get((name, int(number)), 0) < end
        }
