"""Open transactions of Kafka producers."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PRODUCER = re.compile(rf"{_UUID}-\d+|\d+_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One open transaction: consumers with `read_committed` can't read past its first record.

    `id` is the transactional id, None if only a partition knows the transaction, because the
    coordinator has forgotten it. `state` is Kafka's name in lower case. `topics` are the topics
    that it wrote to. `producer` and `epoch` identify the producer. If only a partition knows the
    transaction, `partition` is the number of this partition, and `coordinator_epoch` the epoch that
    it has stored.
    """

    id: str | None
    state: str
    topics: frozenset[str] = frozenset()
    producer: int | None = None
    epoch: int | None = None
    partition: int | None = None
    coordinator_epoch: int | None = None

    @property
    def name(self) -> str:
        """The name in messages: the id, else `TOPIC:PARTITION:PRODUCER`."""
        return self.id or f"{':'.join(sorted(self.topics))}:{self.partition}:{self.producer}"


def is_of_application(transactional_id: str, application: str) -> bool:
    """Whether Kafka Streams uses such an id for producers of this application.

    The id is `<application.id>-<UUID of the process>-<thread>`, before Kafka 2.6
    `<application.id>-<task>`. An application whose id only starts with `application` doesn't match.
    """
    rest = transactional_id.removeprefix(f"{application}-")
    return rest != transactional_id and bool(_PRODUCER.fullmatch(rest))
