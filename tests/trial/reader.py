"""The independent reader: what is in the outputs, read by Kafka's client and pyarrow only."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from support.waiting import PATIENCE


@dataclass(frozen=True)
class Counts:
    """Ids that are in no output, and how often ids came more than once (3 times counts 2)."""

    lost: int
    repeated: int


def count_ids(expected: Iterable[str], found: Iterable[str]) -> Counts:
    """Compare ids of the ledger with ids of an output."""
    times = Counter(found)
    lost = sum(1 for one in set(expected) if one not in times)
    return Counts(lost, sum(n - 1 for n in times.values()))


def ends(broker: str, topic: str) -> dict[int, tuple[int, int]]:
    """Return the earliest and the latest offset of each partition."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": "trial-reader"})
    try:
        parts = consumer.list_topics(topic, timeout=20).topics[topic].partitions
        return {
            n: consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=20) for n in parts
        }
    finally:
        consumer.close()


def read_topic(broker: str, topic: str) -> list[dict[str, Any]]:
    """Return all values of a topic (JSON), in the order of partition and offset."""
    there = {n: end for n, end in ends(broker, topic).items() if end[1] > end[0]}
    found: list[dict[str, Any]] = []
    for part, (first, last) in there.items():
        consumer = Consumer({"bootstrap.servers": broker, "group.id": "trial-reader"})
        consumer.assign([TopicPartition(topic, part, first)])
        at, deadline = first, time.monotonic() + PATIENCE
        while at < last and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None:
                at = message.offset() + 1
                key = (message.key() or b"").decode(errors="replace")
                found.append({"topic_key": key, **json.loads(message.value())})
        consumer.close()
        assert at >= last, f"{topic}[{part}] was read up to {at} of {last}"
    return found


def committed(broker: str, group: str, topics: Iterable[str]) -> dict[tuple[str, int], int]:
    """Return what a group has committed for topics; asking does not join the group."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    try:
        parts = [
            TopicPartition(topic, n)
            for topic in topics
            for n in consumer.list_topics(topic, timeout=20).topics[topic].partitions
        ]
        found = consumer.committed(parts, timeout=20)
        return {(p.topic, p.partition): p.offset for p in found if p.offset >= 0}
    finally:
        consumer.close()


def read_parquet(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a Spark file sink: the files that its `_spark_metadata` lists."""
    return [row for file in _listed(folder) for row in pq.read_table(file).to_pylist()]


def read_json(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a folder of JSON lines that batches wrote."""
    files = sorted(f for f in folder.glob("*.json") if not f.name.startswith((".", "_")))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _listed(folder: Path) -> list[Path]:
    """Return a file sink's files by its log; entries of a compact file replace those before."""
    log = folder / "_spark_metadata"
    names: dict[int, Path] = {}
    start = -1
    for file in log.iterdir() if log.is_dir() else ():
        word, _, compact = file.name.partition(".")
        if word.isdigit() and compact in ("", "compact"):
            names[int(word)] = file
            start = max(start, int(word)) if compact else start
    found: dict[str, None] = {}
    for batch in sorted(n for n in names if n >= start):
        for line in names[batch].read_text().splitlines()[1:]:
            entry = json.loads(line)
            path = entry["path"].removeprefix("file://")
            if entry["action"] == "add":
                found[path] = None
            else:
                found.pop(path, None)
    return [Path(path) for path in found]
