"""A record that kills its consumer is backed up and stepped over; the undo goes back to it."""

from __future__ import annotations

import uuid

from confluent_kafka import Producer

from scenes.records import backup_copies, read_all
from scenes.scene import GroupScene


class SkipRecordsGroup(GroupScene):
    """The consumer has died of the record, and would again."""

    name = "skip-records-group"
    scenario = "skip-records"

    def make_ready(self) -> None:
        """Write the record behind the history of partition 0."""
        self.value = f"poison-{uuid.uuid4().hex}".encode()
        producer = Producer({"bootstrap.servers": self.bootstrap})
        producer.produce(self.topics[0], self.value, key="city-3", partition=0)
        assert producer.flush(30) == 0
        records = read_all(self.bootstrap, self.topics)[self.topics[0], 0]
        self.poison = next(r.offset for r in records if r.value == self.value)

    def stand_in(self) -> tuple[str, ...]:
        """Return the arguments of a member that dies of the record."""
        return (*super().stand_in(), "--poison", f"{self.topics[0]}-0:{self.poison}")

    def _first_is_up(self) -> bool:
        return bool(self.lives()) and self._alive() == []

    @property
    def arguments(self) -> tuple[str, ...]:
        """The record's place."""
        return (f"--records={self.topics[0]}:0:{self.poison}",)

    def check_end(self) -> None:
        """The next life began behind the record, and read all since; one backup is there."""
        self.check_neighbour()
        self.check_reading(since=1)
        first, second = self.lives()[:2]
        expected = {f"{self.topics[0]}-1": first.position(f"{self.topics[0]}-1")}
        assert second.at == {**expected, f"{self.topics[0]}-0": self.poison + 1}
        assert [r.key for r in backup_copies(self.bootstrap, self.value)] == [b"city-3"]

    def check_undone(self) -> None:
        """The group is in front of the record again, and nobody started it."""
        self.check_neighbour()
        offset, _ = self.committed(self.group)[self.topics[0], 0]
        assert offset == self.poison, f"the group is at {offset}, the record at {self.poison}"
        assert self._alive() == [], "it was started, and had died before"
