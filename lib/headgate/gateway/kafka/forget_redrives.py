"""Clear from the ledger what a retry topic has, before that topic is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from headgate.errors import RefusedError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import each_record
from headgate.gateway.kafka.redrive_ledger import read_marks
from headgate.gateway.kafka.redrive_records import Failed, produce, transaction, transactional
from headgate.parse.kafka.dead_letters import AGAIN, FROM
from headgate.reprocess.ports.dead_letters import Ledger

# Topic, partition and offset of a dead letter.
Origin = tuple[str, int, int]


def redriven_topics(kafka: Kafka, retry_topic: str) -> frozenset[str]:
    """Return the dead letter topics whose records the topic has; none if it is gone."""
    return frozenset(topic for (topic, _, _), _ in _letters(kafka, retry_topic))


def forget(kafka: Kafka, dead_letters: str, ledger: Ledger, retry_topic: str) -> None:
    """Clear the bit of each dead letter that is in the retry topic; fine if that one is gone.

    The bit stays if the letter was already redriven before it came there: an earlier run set it.
    RefusedError, and nothing is cleared, if it also has records of another dead letter topic.
    """
    if kafka.topics([retry_topic]).get(retry_topic) is None:
        return
    producer = transactional(kafka, ledger)
    marks = read_marks(kafka, ledger.topic)
    for (topic, partition, offset), is_first in _letters(kafka, retry_topic):
        if topic != dead_letters:
            raise RefusedError(
                f"retry topic {retry_topic} also has records from dead letter topic "
                f"{topic}. The undo would delete these records. If nobody needs the "
                f"records, delete topic {retry_topic}, then undo the run again"
            )
        if is_first:
            marks.put(partition, offset, redriven=False)
    failed: list[Failed] = []
    with transaction(producer, failed):
        for key, value in marks.rows():
            produce(producer, ledger.topic, key, value, failed)


def _letters(kafka: Kafka, retry_topic: str) -> Iterator[tuple[Origin, bool]]:
    """Yield the dead letter of each record, and whether no earlier run had redriven it."""
    found = kafka.topics([retry_topic]).get(retry_topic)
    ranges = {
        (retry_topic, p.number): (p.begin, p.end)
        for p in (found.partitions if found else ())
        if p.begin is not None and p.end is not None
    }
    with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
        for record in records:
            headers = dict(record.headers)
            if place := _origin(headers.get(FROM)):
                yield place, AGAIN not in headers


def _origin(header: bytes | None) -> Origin | None:
    """Read `TOPIC-PARTITION-OFFSET`, where the topic's name may have hyphens as well."""
    topic, *numbers = (header or b"").decode("utf-8", "replace").rsplit("-", 2)
    if len(numbers) != 2 or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    return topic, int(numbers[0]), int(numbers[1])
