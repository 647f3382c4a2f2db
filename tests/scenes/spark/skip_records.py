"""A query that dies of a record does what is in front of it, and goes on behind it."""

from __future__ import annotations

import uuid

from confluent_kafka import Producer

from headgate.gateway.checkpoint.folders import tree_hash
from scenes.generations import Generation
from scenes.records import backup_copies, read_all
from scenes.scene import QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class SkipRecordsSpark(QueryScene):
    """The record is in the midst of a batch that is logged, and is never done."""

    name = "skip-records-spark"
    scenario = "skip-records"

    def make_ready(self) -> None:
        """Take over Spark's checkpoint; write the record behind the history of partition 0."""
        FromScratchSpark.make_ready(self)  # type: ignore[arg-type]
        self.value = f"poison-{uuid.uuid4().hex}".encode()
        producer = Producer({"bootstrap.servers": self.bootstrap})
        producer.produce(self.topics[0], self.value, key="city-3", partition=0)
        assert producer.flush(30) == 0
        records = read_all(self.bootstrap, self.topics)[self.topics[0], 0]
        self.poison = next(r.offset for r in records if r.value == self.value)

    def prepare(self) -> None:
        """Remember how the dead query left its checkpoint."""
        super().prepare()
        self.before = tree_hash(self.checkpoint)

    def stand_in(self) -> tuple[str, ...]:
        """Return the arguments of a query that dies of the record."""
        return (*super().stand_in(), "--poison", f"{self.topics[0]}-0:{self.poison}")

    def _first_is_up(self) -> bool:
        return bool(self.lives()) and self._alive() == []

    @property
    def arguments(self) -> tuple[str, ...]:
        """The record's place."""
        return (f"--records={self.topics[0]}:0:{self.poison}", "--sink=kafka")

    def check_end(self) -> None:
        """All before the record was committed, and all since is read from behind it; one copy."""
        self.check_neighbour()
        first, second = (f"{self.topics[0]}-{part}" for part in range(self.partitions))
        self.wait(lambda: bool(self._behind(first)), "no life began behind the record")
        behind, lives = self._behind(first)[0], self.lives()
        self.check_reading(since=behind)
        part = [life for life in lives if life.committed.get(first) == self.poison]
        assert len(part) == 1, f"the part in front of the record was done {len(part)} times"
        self._check_part(part[0], first)
        assert lives[behind].at[second] == part[0].committed[second]
        assert {life.query for life in lives} == {self.query}
        assert [r.key for r in backup_copies(self.bootstrap, self.value)] == [b"city-3"]

    def _behind(self, first: str) -> list[int]:
        """Return the numbers of the lives that began right behind the record."""
        lives = enumerate(self.lives())
        return [n for n, life in lives if life.at[first] == self.poison + 1]

    def _check_part(self, life: Generation, first: str) -> None:
        """It read from where the query was to the record, in order and without a gap."""
        assert life.at[first] == self.lives()[0].at[first]
        assert life.read[first] == list(range(life.at[first] or 0, self.poison))

    def check_undone(self) -> None:
        """The checkpoint is as the dead query left it, and nobody started it."""
        self.check_neighbour()
        assert tree_hash(self.checkpoint) == self.before, "the checkpoint is not what it was"
        assert self._alive() == [], "it was started, and had died before"
