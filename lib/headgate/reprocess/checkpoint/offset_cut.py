"""Move one partition's end in an entry of a Spark query's offset log, and nothing else of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headgate.parse.spark.checkpoint.offset_log import OffsetLog
from headgate.text.json_text import read_json

_NOTHING = "-"


def unreadable_sources(log: OffsetLog) -> int:
    """Return how many of the sources have offsets that are not those of Kafka's source."""
    return sum(1 for _, o in log.offsets if o is not None and not _is_kafka(o))


def readers_of(log: OffsetLog, topic: str, partition: int) -> int:
    """Return how many of the sources read the partition."""
    return sum(1 for _, o in log.offsets if _reads(o, topic, partition))


def end_in(log: OffsetLog, topic: str, partition: int) -> int | None:
    """Return where the partition ends in this entry, None where it is not in it."""
    found = ends_in(log, topic, partition)
    return found[0] if found else None


def ends_in(log: OffsetLog, topic: str, partition: int) -> tuple[int, ...]:
    """Return where the partition ends in this entry, for each source that reads it."""
    found = (o[topic][str(partition)] for _, o in log.offsets if _reads(o, topic, partition))
    return tuple(map(int, found))


def with_end(text: str, topic: str, partition: int, end: int) -> str:
    """Return the entry with this end of the partition, in the form in which Spark writes it.

    Spark 4.2 takes offsets of another form, such as one with spaces, for others and plans an empty
    batch. All other lines stay as they are.
    """
    head, metadata, *lines = text.split("\n")
    moved = (_moved(line, topic, partition, end, named=head.strip() == "v2") for line in lines)
    return "\n".join((head, metadata, *moved))


def _moved(line: str, topic: str, partition: int, end: int, *, named: bool) -> str:
    name, colon, offsets = line.partition(":") if named else ("", "", line)
    if offsets in ("", _NOTHING):
        return line
    found = read_json(offsets)
    if not _reads(found, topic, partition):
        return line
    found[topic][str(partition)] = end
    return f"{name}{colon}{json.dumps(found, separators=(',', ':'))}"


def _reads(offsets: Any, topic: str, partition: int) -> bool:
    return _is_kafka(offsets) and str(partition) in offsets.get(topic, {})


def _is_kafka(offsets: Any) -> bool:
    """Return whether it is {topic: {partition: offset}}, as the Kafka source writes it."""
    return isinstance(offsets, Mapping) and all(
        isinstance(parts, Mapping)
        and all(str(p).isdecimal() and type(o) is int for p, o in parts.items())
        for parts in offsets.values()
    )
