"""Dead letters go back to the topic where they failed, or to a retry topic, each exactly once."""

from __future__ import annotations

import json

from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.redrive_ledger import read_marks
from headgate.reprocess.steps.records.redrive_records import ledger_of
from scenes.records import make_topic
from scenes.scene import GroupScene, QueryScene, WorkingScene
from support import dead_letter_topics as dead

_LETTERS = 90
# Three transactions, a second apart: a kill may come between two of them.
_RATE = 30


class _DeadLetters(WorkingScene):
    """The pipeline works on while the dead letters of another topic are redriven.

    Partition 1 of the dead letter topic is empty, partition 0 has markers of transactions.
    """

    scenario = "dead-letters"

    def make_ready(self) -> None:
        """Make the topics, and the letters: some in transactions, others in aborted ones."""
        self.refunds, self.dead = self.unique("refunds"), self.unique("dead")
        self.retry = self.unique("retry")
        make_topic(self.bootstrap, self.refunds, 2)
        make_topic(self.bootstrap, self.dead, 3)
        dead.in_transactions(self.bootstrap, self.refunds, self.dead)
        dead.fail_records(
            self.bootstrap, self.refunds, self.dead, _LETTERS, parts=[0, 2], start=1_000
        )
        self.letters = dead.read(self.bootstrap, self.dead)

    def check_redriven(self, topic: str) -> None:
        """Assert that the topic has each letter once, with its key, value and time."""
        self.check_neighbour()
        self.check_goes_on()
        found = sorted(map(_plain, dead.read(self.bootstrap, topic)))
        assert found == sorted(map(_plain, self.letters)), f"{len(found)}: {_ids(found)}"
        now = list(map(_plain, dead.read(self.bootstrap, self.dead)))
        assert now == list(map(_plain, self.letters)), "the dead letter topic was changed"

    def marked(self) -> int:
        """Return how many letters Kafka has as redriven."""
        with Kafka(self.bootstrap) as kafka:
            topic_id, _ = kafka.identities([self.dead])[self.dead]
            marks = read_marks(kafka, ledger_of(self.dead, topic_id).topic)
        return sum(marks.has(m.partition(), m.offset()) for m in self.letters)


def _plain(message):
    return message.key(), message.value(), message.timestamp()


def _ids(found):
    return [json.loads(value)["id"] for _, value, _ in found]


class DeadLettersGroup(_DeadLetters, GroupScene):
    """To the topic where they failed: what is written there stays."""

    name = "dead-letters-group"
    no_rollback = "can't be undone"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The topic, slowly."""
        return (f"--topic={self.dead}", f"--rate={_RATE}")

    def check_end(self) -> None:
        """Each is back once, in its own partition, and known to be redriven."""
        self.check_redriven(self.refunds)
        for message in dead.read(self.bootstrap, self.refunds):
            assert message.partition() == json.loads(message.value())["id"] % 2
        assert self.marked() == len(self.letters)

    def check_undone(self) -> None:
        """Nothing was written yet."""
        self.check_neighbour()
        self.check_goes_on()
        assert dead.read(self.bootstrap, self.refunds) == []
        assert self.marked() == 0


class DeadLettersSpark(_DeadLetters, QueryScene):
    """To a retry topic that the run creates, and its undo deletes."""

    name = "dead-letters-spark"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The topics, slowly."""
        return (
            f"--topic={self.dead}",
            f"--to={self.retry}",
            "--create-topic",
            f"--rate={_RATE}",
        )

    def check_end(self) -> None:
        """Each is in the retry topic once, and known to be redriven."""
        self.check_redriven(self.retry)
        assert self.marked() == len(self.letters)
        assert dead.read(self.bootstrap, self.refunds) == []

    def check_undone(self) -> None:
        """The retry topic holds nothing, and the letters can be redriven again."""
        self.check_neighbour()
        self.check_goes_on()
        assert self.marked() == 0
        with Kafka(self.bootstrap) as kafka:
            found = kafka.topics([self.retry]).get(self.retry)
        assert found is None or not found.records, "the retry topic still has records"
