"""How large a topic's records are: from the brokers' log directories, else from a few of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from headgate.errors import HeadgateError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import read_records
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.cluster import Topic
from headgate.text.numbers import plural

_PARTITIONS, _RECORDS = 3, 25
"""A sample has the newest 25 records of each of the 3 largest partitions of a topic."""


def on_disk(kafka: Kafka, topics: Mapping[str, Topic]) -> dict[str, float]:
    """Return the bytes on disk of one replica by offset, for topics that have any.

    They are as the producer sent them: compressed, with what a batch needs. A segment of which only
    a part is deleted counts whole. StepError or RefusedError if the brokers don't report sizes;
    empty without Kafka's Java client.
    """
    if kafka.java is None:
        return {}
    sizes = kafka.java.log_sizes()
    found = {}
    for name, topic in topics.items():
        known = [sizes.get((name, part.number)) for part in topic.partitions]
        if topic.records and None not in known:
            found[name] = sum(s for s in known if s is not None) / topic.records
    return found


def sampled(kafka: Kafka, topics: Mapping[str, Topic]) -> tuple[dict[str, float], int]:
    """Return the average bytes of key and value in a sample of each topic, and its records."""
    ranges = dict(_ranges(topics))
    records = read_records(kafka.bootstrap, kafka.config, ranges)
    by_topic: dict[str, list[int]] = {}
    for record in records:
        by_topic.setdefault(record.topic, []).append(record.size)
    return {name: sum(s) / len(s) for name, s in by_topic.items()}, len(records)


def _ranges(topics: Mapping[str, Topic]) -> Iterator[tuple[TopicPart, tuple[int, int]]]:
    for name, topic in topics.items():
        logs = [
            (part.begin, part.end, part.number)
            for part in topic.partitions
            if part.begin is not None and part.end is not None and part.end > part.begin
        ]
        fullest = sorted(logs, key=lambda log: log[0] - log[1])[:_PARTITIONS]
        for begin, end, number in fullest:
            yield (name, number), (max(begin, end - _RECORDS), end)


def record_sizes(kafka: Kafka, names: list[str]) -> tuple[dict[str, float], str]:
    """Return the average bytes of a record by topic, and in words how they were found.

    Raises what Kafka's answers raise: UnreachableError, RefusedError, StepError.
    """
    topics = kafka.topics(names)
    found: dict[str, float] = {}
    with suppress(HeadgateError):
        found = on_disk(kafka, topics)
    rest = {n: t for n, t in topics.items() if n not in found and t.records}
    if not rest:
        return found, "size of the log on disk divided by the number of offsets (compressed)"
    averages, count = sampled(kafka, rest)
    how = f"average of {plural(count, 'sampled record')}: key and value, uncompressed"
    return {
        **found,
        **averages,
    }, how if not found else f"size of the log on disk; for topics without a known log size, {how}"
