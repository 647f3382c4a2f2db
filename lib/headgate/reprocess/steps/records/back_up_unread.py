"""Copy the records of repartition topics that are still on their way through an application."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.steps.base.step import PriorState, Step, known_log
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.records.back_up_records import (
    BackUpRecords,
    DeleteBackupTopics,
    backup_topic_name,
)
from headgate.reprocess.steps.records.restore_records import RestoreRecords
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpUnreadRecords(BackUpRecords):
    """Copy the group's unread records of topics that will be deleted.

    What it has read is in its state already: if restored, it would count twice. An undo restores
    the rest to the recreated topics, whose beginning is then what is read next.
    """

    action: ClassVar[str] = "back_up_unread_records"
    group: str

    def describe(self) -> str:
        return (
            f"copy the unread records of {name_list(self.topics)} (group {self.group}) to backup "
            "topics"
        )

    def bind(self, applier: Applier) -> PriorState:
        """Find out the group's offsets, now that it has stopped."""
        return {
            "spans": [asdict(span) for span in self._unread(applier)],
            "backup": {name: backup_topic_name(applier.run, name) for name in self.topics},
        }

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the records, then delete the backup topics."""
        backup = dict(was["backup"])
        back = RestoreRecords(
            backup=backup, pipeline=self.pipeline, group=self.group, unread_by=self.group
        )
        return (back, DeleteBackupTopics(topics=backup))

    def _unread(self, applier: Applier) -> Iterator[Span]:
        at = committed(applier, self.group)
        for name, topic in sorted(applier.kafka.topics(self.topics).items()):
            for part in topic.partitions:
                begin, end = known_log(name, part)
                read = at.get((name, part.number))
                first = min(max(read.offset if read else begin, begin), end)
                yield Span(topic=name, partition=part.number, begin=first, end=end)
