"""Transactions of producers that are not at their end."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PRODUCER = re.compile(rf"{_UUID}-\d+|\d+_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One open transaction: what it writes to is locked for readers of committed records.

    `id` is the transactional id, None of one that only a partition knows of (its coordinator has
    forgotten it). `state` is the broker's word in lower case. `topics` are those it wrote to.
    `producer` and `epoch` say who began it. Of one that only a partition knows, `partition` is
    that one's number and `coordinator_epoch` what it knows of the coordinator.
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
        """What it is called by: its id, else `TOPIC:PARTITION:PRODUCER`."""
        return self.id or f"{':'.join(sorted(self.topics))}:{self.partition}:{self.producer}"


def is_of_application(transactional_id: str, application: str) -> bool:
    """Whether Kafka Streams gives such an id to producers of this application.

    `<application.id>-<UUID of the process>-<thread>`, before Kafka 2.6 `<application.id>-<task>`.
    The id of an application that begins with another one's is none of the other's.
    """
    rest = transactional_id.removeprefix(f"{application}-")
    return rest != transactional_id and bool(_PRODUCER.fullmatch(rest))
