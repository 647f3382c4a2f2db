"""Retention has passed a stopped group's offset: it is repaired, and the undo puts it back."""

from __future__ import annotations

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from scenes.records import read_all
from scenes.scene import STOP, GroupScene

_MORE, _EXPIRED = 4, 2


class RepairGroup(GroupScene):
    """The offset of partition 0 lies below its log; that of partition 1 is fine."""

    name = "repair-group"
    scenario = "repair"

    def prepare(self) -> None:
        """Stop it, and delete records that it has not read."""
        super().prepare()
        assert self.shell(STOP) == 0
        self.before = self.committed(self.group)
        self._part = (self.topics[0], 0)
        offset, _ = self.before[self._part]
        self.wait(lambda: self._end() >= offset + _MORE, "nothing is written")
        cut = TopicPartition(*self._part, offset + _EXPIRED)
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for future in admin.delete_records([cut]).values():
            future.result()
        self.first = offset + _EXPIRED

    def _end(self) -> int:
        records = read_all(self.bootstrap, self.topics)[self._part]
        return records[-1].offset + 1

    def check_end(self) -> None:
        """It goes on at the log's first record of partition 0, and where it was on the other."""
        self.check_neighbour()
        self.check_reading(since=1)
        first, second = self.lives()[:2]
        topic = self.topics[0]
        assert second.at == {f"{topic}-0": self.first, f"{topic}-1": first.position(f"{topic}-1")}

    def check_undone(self) -> None:
        """The offset is where it was, though retention has passed it, and nothing runs."""
        self.check_neighbour()
        offset, _ = self.committed(self.group)[self._part]
        assert offset == self.before[self._part][0], f"partition 0 is at {offset}"
        assert self._alive() == [], "somebody started it, and it was stopped before"
