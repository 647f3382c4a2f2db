"""Read a dead letter topic and count what its records are; what is kept doesn't grow with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AclOperation, OffsetSpec

from headgate.errors import StepError, UnreachableError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import gather, kafka_error, translate
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.gateway.kafka.redrive_ledger import Marks, read_marks
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.dead_letters import (
    DeadLetter,
    Decision,
    Sample,
    Selection,
    Summary,
    decide,
    target_of,
    timestamp_of,
)
from headgate.parse.kafka.dead_letters import read_dead_letter
from headgate.reprocess.ports.dead_letters import Ledger
from headgate.reprocess.ports.record_backup import Span
from headgate.text.secrets import mask_text

UNKNOWN_SOURCE = "unknown"
_OTHERS = "others"
# A table's rows: more reasons than this are added up.
_MOST_ROWS = 50
_SAMPLES = 5
_LONGEST = 120


class _Count:
    """A table of counts with so many rows at most, whatever is counted."""

    def __init__(self) -> None:
        self.rows: Counter[Any] = Counter()

    def add(self, name: Any) -> None:
        full = name not in self.rows and len(self.rows) >= _MOST_ROWS
        self.rows[_OTHERS if full else name] += 1

    def sorted(self) -> dict[Any, int]:
        return dict(sorted(self.rows.items(), key=lambda row: (-row[1], str(row[0]))))


class _Counting:
    """A summary in the making."""

    def __init__(self, chosen: Selection, marks: Marks) -> None:
        self._chosen, self._marks = chosen, marks
        self.read = 0
        self.decided: Counter[Decision] = Counter()
        self.reasons, self.sources, self.conventions = _Count(), _Count(), _Count()
        self.attempts, self.targets = _Count(), _Count()
        self._samples: dict[str, Sample] = {}
        self.times: list[int] = []
        self._written: dict[str, int] = {}

    def take(self, record: Record) -> None:
        """Count one record."""
        letter = read_dead_letter(record.headers)
        done = self._marks.has(record.partition, record.offset)
        found = decide(letter, record.partition, record.timestamp, self._chosen, done=done)
        self.read += 1
        self.decided[found] += 1
        if found is Decision.UNSELECTED:
            return
        self.reasons.add(letter.reason)
        self.sources.add(letter.topic or UNKNOWN_SOURCE)
        self.conventions.add(letter.convention)
        self.attempts.add(letter.attempts)
        if record.timestamp is not None:
            ends = (*self.times, record.timestamp)
            self.times = [min(ends), max(ends)]
        if found is Decision.REDRIVE:
            target = str(target_of(letter, self._chosen))
            self.targets.add(target)
            if at := timestamp_of(letter, record.timestamp):
                self._written[target] = min(at, self._written.get(target, at))
        # One of each reason, the first ones.
        if len(self._samples) < _SAMPLES and letter.reason not in self._samples:
            self._samples[letter.reason] = _sample(record, letter)

    def summary(self, offsets: int, *, is_sample: bool, arrived: int) -> Summary:
        """Return what was counted."""
        return Summary(
            offsets=offsets,
            read=self.read,
            is_sample=is_sample,
            decided=dict(self.decided),
            reasons=self.reasons.sorted(),
            sources=self.sources.sorted(),
            conventions=self.conventions.sorted(),
            attempts=dict(sorted(self.attempts.rows.items(), key=lambda row: str(row[0]))),
            targets=self.targets.sorted(),
            samples=tuple(self._samples.values()),
            oldest=self.times[0] if self.times else None,
            newest=self.times[1] if self.times else None,
            written=self._written,
            arrived=arrived,
        )


def summarise(kafka: Kafka, chosen: Selection, ledger: Ledger, most: int | None) -> Summary:
    """Read at most about `most` records, the earliest and latest of each partition; None: all."""
    marks = read_marks(kafka, ledger.topic)
    spans = stable_spans(kafka, chosen.topic, chosen.partitions)
    counting = _Counting(chosen, marks)
    total = sum(span.end - span.begin for span in spans)
    for ranges in _slices(spans, None if most is None or total <= most else most):
        with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
            for record in records:
                counting.take(record)
    now = stable_spans(kafka, chosen.topic, chosen.partitions)
    arrived = sum(span.end for span in now) - sum(span.end for span in spans)
    is_sample = most is not None and total > most
    return counting.summary(total, is_sample=is_sample, arrived=max(arrived, 0))


def _slices(spans: Iterable[Span], most: int | None) -> list[dict[TopicPart, tuple[int, int]]]:
    """Return what is read: all, or the first and the last records of each partition."""
    wanted = [s for s in spans if s.begin < s.end]
    if most is None:
        return [{(s.topic, s.partition): (s.begin, s.end) for s in wanted}]
    half = max(most // (2 * max(len(wanted), 1)), 1)
    first = {(s.topic, s.partition): (s.begin, min(s.begin + half, s.end)) for s in wanted}
    last = {
        (s.topic, s.partition): (max(s.end - half, first[s.topic, s.partition][1]), s.end)
        for s in wanted
    }
    return [first, last]


def stable_spans(kafka: Kafka, topic: str, partitions: Iterable[int]) -> tuple[Span, ...]:
    """Return what a consumer with `read_committed` can read now, by partition; all for none.

    StepError if the topic is gone, UnreachableError if a partition's offsets are unknown.
    """
    wanted = set(partitions)
    found = kafka.topics([topic]).get(topic)
    if found is None:
        raise StepError(
            f"topic {topic} does not exist. Create the topic, or plan again with another topic"
        )
    parts = [p for p in found.partitions if not wanted or p.number in wanted]
    ends = _stable_ends(kafka, topic, [p.number for p in parts])
    spans = []
    for part in parts:
        end = ends.get(part.number)
        if part.begin is None or end is None:
            raise UnreachableError(
                f"the earliest and latest offsets of {topic}[{part.number}] are unknown. Check "
                "that the partition has a leader"
            )
        spans.append(Span(topic=topic, partition=part.number, begin=min(part.begin, end), end=end))
    return tuple(spans)


def _stable_ends(kafka: Kafka, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    deadline = kafka.deadline()
    asked = {TopicPartition(topic, number): OffsetSpec.latest() for number in partitions}
    if not asked:
        return {}
    futures = kafka.admin.list_offsets(
        asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=deadline.left
    )
    found, _ = gather(futures, deadline)
    return {part.partition: result.offset for part, result in found.items()}


def may_write(kafka: Kafka, topics: Iterable[str]) -> dict[str, bool | None]:
    """Return by topic whether its ACLs allow Headgate to write, None where nobody says."""
    wanted = sorted(set(topics))
    if not wanted:
        return {}
    deadline = kafka.deadline()
    try:
        futures = kafka.admin.describe_topics(
            TopicCollection(wanted),
            include_authorized_operations=True,
            request_timeout=deadline.left,
        )
    except KafkaException as error:
        raise translate(kafka_error(error), kafka.bootstrap) from None
    found, _ = gather(futures, deadline)
    return {name: _writes(found.get(name)) for name in wanted}


def _writes(description: Any) -> bool | None:
    allowed = getattr(description, "authorized_operations", None)
    return None if not allowed else AclOperation.WRITE in allowed


def _sample(record: Record, letter: DeadLetter) -> Sample:
    known = None not in (letter.topic, letter.partition, letter.offset)
    where = f"{letter.topic}[{letter.partition}] offset {letter.offset}"
    return Sample(
        partition=record.partition,
        offset=record.offset,
        source=where if known else letter.topic or UNKNOWN_SOURCE,
        reason=letter.reason,
        message=mask_text(_line(letter.message or "")),
        attempts=letter.attempts,
        value=value_form(record.value),
    )


def _line(text: str) -> str:
    first = text.splitlines()[0] if text else ""
    return first if len(first) <= _LONGEST else f"{first[: _LONGEST - 1]}…"


def value_form(value: bytes | None) -> str:
    """Return a value's form without its content: names of JSON fields stay, nothing else does."""
    if value is None:
        return "null"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"{len(value)} bytes, not text"
    try:
        found = json.loads(text)
    except ValueError:
        return _line(_masked(text))
    return _line(json.dumps(_form(found), ensure_ascii=False))


def _form(found: object) -> object:
    if isinstance(found, Mapping):
        return {str(k): _form(v) for k, v in found.items()}
    if isinstance(found, list):
        return [_form(v) for v in found[:3]]
    return _masked(found) if isinstance(found, str) else _masked(json.dumps(found))


def _masked(text: str) -> str:
    return re.sub(r"\d", "0", re.sub(r"[^\W\d_]", "x", text[:_LONGEST]))
