"""Divide a range of records into batches, in the order in which the records arrived.

A replay reads faster than records came. Were each batch to take as many records of every partition,
a partition with few records would run ahead of the others in time, and the watermark with it: the
records of the others would be late. So a batch ends in all partitions at one record timestamp.

What follows a record with a later timestamp counts as later, too. Markers of transactions have the
time of their commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from headgate.spark_jobs.data.offset_ranges import OffsetRanges

Part = tuple[str, int]
Position = dict[Part, int]
FirstAt = Callable[[list[Part], int], dict[Part, int]]
"""Returns the first offset at or after a time (Unix milliseconds) of partitions that have one."""

# No record has a timestamp after it: the year 2109. Of a smaller number py4j makes no `long`.
_FIRST_MS, _LAST_MS = 1 << 32, 1 << 42


def batch_ends(
    ranges: OffsetRanges, at_most: int, first_at: FirstAt
) -> list[dict[str, dict[str, int]]]:
    """Return where each batch ends, by topic and partition; none takes more than `at_most`.

    Records of the same millisecond may be in several batches.
    """
    begin = {(t, p): r[0] for t, parts in ranges.parts.items() for p, r in parts.items()}
    end = {(t, p): r[1] for t, parts in ranges.parts.items() for p, r in parts.items()}
    found: list[Position] = []
    before = begin
    for cut in _cuts(_Span(begin, end, _FIRST_MS, _LAST_MS), at_most, first_at):
        # Batches that are small next to each other become one.
        if found and _count(before, cut) <= at_most:
            found[-1] = cut
        else:
            before = found[-1] if found else begin
            found.append(cut)
    return [_by_topic(position) for position in found or [end]]


@dataclass(frozen=True, slots=True)
class _Span:
    """Offsets whose records are from `since` to before `until`, but for those out of order."""

    begin: Position
    end: Position
    since: int
    until: int


def _cuts(span: _Span, at_most: int, first_at: FirstAt) -> Iterator[Position]:
    """Yield positions up to the end of the span, between which are at most `at_most` records."""
    count = _count(span.begin, span.end)
    if not count:
        return
    if count <= at_most:
        yield span.end
    elif span.until - span.since <= 1:
        yield from _even_cuts(span.begin, span.end, at_most)
    else:
        at = (span.since + span.until) // 2
        open_parts = [p for p, end in span.end.items() if span.begin[p] < end]
        found = first_at(open_parts, at)
        middle = {p: min(max(found.get(p, end), span.begin[p]), end) for p, end in span.end.items()}
        yield from _cuts(_Span(span.begin, middle, span.since, at), at_most, first_at)
        yield from _cuts(_Span(middle, span.end, at, span.until), at_most, first_at)


def _even_cuts(begin: Position, end: Position, at_most: int) -> Iterator[Position]:
    """Yield cuts through records of one time, of which any may come first."""
    at, left = dict(begin), at_most
    for part in sorted(end):
        while at[part] < end[part]:
            taken = min(left, end[part] - at[part])
            at[part] += taken
            left -= taken
            if not left:
                yield dict(at)
                left = at_most
    if left < at_most:
        yield dict(at)


def _count(begin: Position, end: Position) -> int:
    return sum(end[part] - begin[part] for part in end)


def _by_topic(position: Position) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (topic, part), offset in sorted(position.items()):
        found.setdefault(topic, {})[str(part)] = offset
    return found


class KafkaTimes:
    """Asks Kafka for the first offsets after a time, with the settings of a source of Spark."""

    def __init__(self, jvm: Any, options: dict[str, str]) -> None:
        """`options` are the source's; of them, those that begin with `kafka.` count."""
        self._jvm = jvm
        given = {k.lower(): v for k, v in options.items()}
        settings = jvm.java.util.HashMap()
        for name, value in given.items():
            if name.startswith("kafka.") and name != "kafka.group.id":
                settings.put(name.removeprefix("kafka."), value)
        reader = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
        for name in ("key.deserializer", "value.deserializer"):
            settings.put(name, reader)
        settings.put("enable.auto.commit", "false")
        self._consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(settings)

    def first_at(self, parts: list[Part], at: int) -> dict[Part, int]:
        """Return the offset of the first record of each partition at or after `at`, if any."""
        wanted = self._jvm.java.util.HashMap()
        for topic, part in parts:
            wanted.put(self._jvm.org.apache.kafka.common.TopicPartition(topic, part), at)
        found = self._consumer.offsetsForTimes(wanted)
        return {
            (str(part.topic()), int(part.partition())): int(found[part].offset())
            for part in found
            if found[part] is not None
        }

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()
