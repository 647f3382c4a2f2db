"""A real Kafka Streams application: from a time, pause, skip, decommission, upgrade."""

from __future__ import annotations

import time
from collections import Counter

from confluent_kafka import Producer

from headgate.text.times import from_milliseconds, iso
from scenes.kafka_streams.streams_scene import POISON, StreamsScene
from scenes.records import MINUTE, read_all
from support import resettable


class FromPointStreams(StreamsScene):
    """Back to half an hour ago, in every partition, without the state of before."""

    name = "from-point-streams"
    scenario = "from-point"

    def make_ready(self) -> None:
        """Decide the time once."""
        self.at = int(time.time() // 60 - 30) * MINUTE

    @property
    def arguments(self) -> tuple[str, ...]:
        """The time; the state is kept for the undo."""
        named = ",".join(self.internal)
        point = iso(from_milliseconds(self.at))
        return (f"--to-datetime={point}", "--back-up-internal", f"--internal-topics={named}")

    def check_end(self) -> None:
        """Each key was counted anew, from the first record at or after the time on."""
        self.check_neighbour()
        self.check_counted(self._since, least=2)
        assert all(lives[-1][0] == 1 for lives in self.lives().values())

    def check_undone(self) -> None:
        """The first life's counts go on where they were."""
        self.check_neighbour()
        self.check_counted()

    def _since(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for records in read_all(self.bootstrap, self.topics).values():
            first = next(i for i, r in enumerate(records) if r.timestamp >= self.at)
            found.update((r.key or b"").decode() for r in records[first:])
        return found


class PauseStreams(StreamsScene):
    """It is held by `KafkaStreams.pause()`, while its process stays up."""

    name = "pause-streams"
    scenario = "pause"

    def commands(self, every: dict[str, str]) -> dict[str, str]:
        """Return those that hold it, too."""
        more = ("pause", "resume", "notify")
        return {**super().commands(every), **{word: every[word] for word in more}}

    def check_end(self) -> None:
        """It counts no more, while more comes in."""
        self.check_neighbour()
        before, came = self.written(), len(self.read())
        self.wait(lambda: len(self.read()) > came + 2, "nothing comes in")
        assert self.written() == before, "it counts while it is paused"
        assert "is paused" in (self.folder / "told").read_text(), "the notification failed"

    def check_undone(self) -> None:
        """All that came meanwhile is counted, once."""
        self.check_neighbour()
        self.check_counted()
        self.check_one_life()


class SkipRecordsStreams(StreamsScene):
    """It has died of a record, and would again."""

    name = "skip-records-streams"
    scenario = "skip-records"

    def make_ready(self) -> None:
        """Write the record behind the history of partition 0, and see it die."""
        self.wait(self._has_committed, "it commits nothing")
        producer = Producer({"bootstrap.servers": self.bootstrap})
        producer.produce(self.topics[0], POISON, key=POISON, partition=0)
        assert producer.flush(30) == 0
        self.poison = read_all(self.bootstrap, self.topics)[self.topics[0], 0][-1].offset
        self.wait(self._has_ended, "it does not die of the record")

    def _has_committed(self) -> bool:
        at = {part: offset for part, (offset, _) in self.committed(self.app).items()}
        ends = read_all(self.bootstrap, [*self.topics, self.internal[1]])
        return all(at.get(part) == r[-1].offset + 1 for part, r in ends.items() if r)

    def _has_ended(self) -> bool:
        return self.shell(self._commands["status"]) == 3

    @property
    def arguments(self) -> tuple[str, ...]:
        """The record's place."""
        return (f"--records={self.topics[0]}:0:{self.poison}",)

    def check_end(self) -> None:
        """All but the record is counted, once."""
        self.check_neighbour()
        self.check_counted()
        self.check_one_life()

    def check_undone(self) -> None:
        """It is in front of the record again, and nobody started it."""
        self.check_neighbour()
        offset, _ = self.committed(self.app)[self.topics[0], 0]
        assert offset == self.poison, f"it is at {offset}, the record at {self.poison}"
        assert self._has_ended(), "it was started, and had died before"


class DecommissionStreams(StreamsScene):
    """It was stopped for good; its records are backed up for an undo."""

    name = "decommission-streams"
    scenario = "decommission"

    def make_ready(self) -> None:
        """Stop it."""
        assert self.shell(self._commands["stop"]) == 0
        self.before = self.names()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Which topics are its own is said by name."""
        return ("--back-up", f"--internal-topics={','.join(self.internal)}")

    def check_end(self) -> None:
        """Nothing is left of it but what it read and wrote."""
        self.check_neighbour()
        assert self.names() == self.before - set(self.internal)
        assert self.committed(self.app) == {}, "the group is still there"
        assert not (self.folder / "state").exists(), "its local state is still there"

    def check_undone(self) -> None:
        """Its owner starts it, and it goes on where it was."""
        self.check_neighbour()
        assert self.names() == self.before
        self.start()
        self.check_counted()
        self.check_one_life()


class OfflineUpgradeStreams(StreamsScene):
    """The new version writes the counts in another way, and goes on with the old one's state."""

    name = "offline-upgrade-streams"
    scenario = "offline-upgrade"

    def commands(self, every: dict[str, str]) -> dict[str, str]:
        """Return those that change its version, too."""
        more = ("deploy", "rollback")
        return {**super().commands(every), **{word: every[word] for word in more}}

    @property
    def arguments(self) -> tuple[str, ...]:
        """Both versions; what the gate says of them is not the scene's subject."""
        before, after = (
            resettable.evidence(self.folder, kind, self.app) for kind in ("rekeyed", "marked")
        )
        return ("--before", before, "--after", after, "--fail-on", "none")

    def check_end(self) -> None:
        """The new version counts on where the old one stopped."""
        self.check_neighbour()
        self.check_counted()
        self.check_one_life()
        for key, counts in self.written().items():
            marks = [text.startswith("v2:") for text in counts]
            assert marks == sorted(marks), f"the old version went on: {key}: {counts}"
        self.wait(lambda: bool(self._new()), "the new version has written nothing")

    def check_undone(self) -> None:
        """The old version does again what the new one did, on top of its state, and goes on."""
        self.check_neighbour()
        self.check_counted(lambda: Counter(self.read()) + self._new())

    def _new(self) -> Counter[str]:
        """Return how many records of each key the new version has counted."""
        found = {k: sum(t.startswith("v2:") for t in c) for k, c in self.written().items()}
        return Counter({key: count for key, count in found.items() if count})
