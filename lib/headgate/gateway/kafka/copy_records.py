"""Copy records from topic to topic as they are, continue after a crash, and verify the copy.

A copy keeps partition, key, value, headers, timestamp and order. Offsets are the new topic's own.
Only what a consumer with `read_committed` sees is copied. A backed-up record has one header more,
its original offset: an interrupted copy continues after the last one, even if the source was
compacted meanwhile.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.gateway.kafka.write_records import Watch, name_of, write_in_order
from headgate.parse.kafka.dead_letters import BACKED_UP_FROM
from headgate.reprocess.ports.record_backup import Digest, Span

WHERE = BACKED_UP_FROM

_COPY_AGAIN = (
    "Stop other producers of the run's backup topic (headgate-backup-...). Then resume the run: "
    "Headgate creates a new copy"
)


def _no_watch(_done: int) -> None:
    """Nobody looks on."""


@dataclass
class _Sum:
    """A digest in the making."""

    records: int = 0
    bytes: int = 0
    sha: Any = field(default_factory=hashlib.sha256)

    def add(self, record: Record) -> None:
        self.records += 1
        self.bytes += record.size
        for part in _parts(record):
            length = -1 if part is None else len(part)
            self.sha.update(struct.pack(">q", length))
            self.sha.update(part or b"")

    @property
    def digest(self) -> Digest:
        return Digest(records=self.records, bytes=self.bytes, hash=self.sha.hexdigest())


def _parts(record: Record) -> Iterator[bytes | None]:
    yield str(record.timestamp).encode()
    yield record.key
    yield record.value
    yield str(len(record.headers)).encode()
    for key, value in record.headers:
        yield key.encode()
        yield value


def back_up_records(kafka: Kafka, spans: Iterable[Span], to: str, watch: Watch = _no_watch) -> None:
    """Copy the records of the spans to the same partitions of `to`, after its existing records.

    StepError if `to` holds something that isn't a copy, and if a record can't be written.
    """
    ranges = _not_backed_up(kafka, spans, to)
    write_in_order(kafka, (_marked(r, to) for r in _each(kafka, ranges)), watch)


def missing(kafka: Kafka, spans: Iterable[Span], to: str) -> tuple[str, ...]:
    """Return the partitions that hold a record after the last one that was backed up."""
    ranges = _not_backed_up(kafka, spans, to)
    found = {f"{r.topic}[{r.partition}]" for r in _each(kafka, ranges)}
    return tuple(sorted(found))


def verify_backup(
    kafka: Kafka, spans: Iterable[Span], to: str, watch: Watch = _no_watch
) -> dict[int, Digest]:
    """Compare each partition with its copy, in step; StepError names the first that differs.

    The copy may hold what has left the source since, by compaction or retention; never the other
    way round.
    """
    copied = _ranges(kafka, to)
    found: dict[int, Digest] = {}
    for part, ends in _held(kafka, spans).items():
        source = _each(kafka, {part: ends})
        copy = (to, part[1])
        copies = (_unmarked(r) for r in _each(kafka, {copy: copied[copy]}))
        found[part[1]] = _verify_copy(source, copies, watch)
    return found


def _verify_copy(
    source: Iterable[Record], copies: Iterator[Record], watch: Watch = _no_watch
) -> Digest:
    total, at = _Sum(), -1
    for wanted in source:
        for copy in copies:
            _check_order(copy, at)
            at = copy.offset
            total.add(copy)
            watch(1)
            if copy.offset >= wanted.offset:
                break
        else:
            raise StepError(
                f"{name_of(wanted)} is missing in the copy. Check the broker's log, then resume "
                "the run"
            )
        if copy != wanted:
            raise StepError(
                f"the copy of {name_of(wanted)} differs from the original. {_COPY_AGAIN}"
            )
    for copy in copies:
        _check_order(copy, at)
        at = copy.offset
        total.add(copy)
    return total.digest


def _check_order(copy: Record, before: int) -> None:
    if copy.offset <= before:
        raise StepError(f"{name_of(copy)} was copied twice or out of order. {_COPY_AGAIN}")


def restore_records(kafka: Kafka, backup: str, to: str, watch: Watch = _no_watch) -> None:
    """Copy backed-up records back to `to`, behind those that an earlier try copied.

    StepError where `to` holds something else.
    """
    there = _ranges(kafka, to)
    for (_, number), records in _backed_up(kafka, backup, to):
        begin, end = there[to, number]
        if begin < end:
            found = _each(kafka, {(to, number): (begin, end)})
            _compare(found, islice(records, end - begin), watch)
        write_in_order(kafka, records, watch)


def verify_restored(
    kafka: Kafka, backup: str, to: str, watch: Watch = _no_watch
) -> dict[int, Digest]:
    """Compare each partition with its backup; StepError names the first difference."""
    there = _ranges(kafka, to)
    return {
        number: _compare(_each(kafka, {(to, number): there[to, number]}), records, watch)
        for (_, number), records in _backed_up(kafka, backup, to)
    }


def _backed_up(
    kafka: Kafka, backup: str, to: str
) -> Iterator[tuple[tuple[str, int], Iterator[Record]]]:
    """Yield each partition of the backup topic with its records, as they go to `to`."""
    for part, backed_up in _ranges(kafka, backup).items():
        yield part, (_unmarked(r, to) for r in _each(kafka, {part: backed_up}))


def _compare(found: Iterable[Record], backed_up: Iterable[Record], watch: Watch) -> Digest:
    total = _Sum()
    for one, other in zip_longest(found, backed_up):
        if one is None:
            raise StepError(
                f"{name_of(other)} was not restored. Check the broker's log, then resume the run"
            )
        if other is None or replace(one, offset=0) != replace(other, offset=0):
            raise StepError(
                f"{name_of(one)} differs from the backed-up record. Stop other producers of "
                f"{one.topic}. Delete all records of {one.topic} (kafka-delete-records.sh), then "
                "resume the run: Headgate restores the backed-up records"
            )
        total.add(one)
        watch(1)
    return total.digest


def _ranges(kafka: Kafka, topic: str) -> dict[tuple[str, int], tuple[int, int]]:
    found = kafka.topics([topic]).get(topic)
    if found is None:
        raise StepError(
            f"topic {topic} no longer exists, so its records can't be copied. Run `headgate undo "
            "RUN` to roll back"
        )
    ranges: dict[tuple[str, int], tuple[int, int]] = {}
    for p in found.partitions:
        # Taken for empty, a partition whose end nobody tells would be copied a second time.
        if p.begin is None or p.end is None:
            raise StepError(
                f"{topic}[{p.number}] has no leader, so its latest offset is unknown. Check the "
                "brokers, then resume the run"
            )
        ranges[topic, p.number] = (p.begin, p.end)
    return ranges


def _held(kafka: Kafka, spans: Iterable[Span]) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the spans without what has left the log since, by retention."""
    wanted = list(spans)
    begins: dict[tuple[str, int], int] = {}
    for topic in {s.topic for s in wanted}:
        begins |= {part: begin for part, (begin, _) in _ranges(kafka, topic).items()}
    return {
        (s.topic, s.partition): (max(s.begin, begins.get((s.topic, s.partition), 0)), s.end)
        for s in wanted
    }


def _not_backed_up(
    kafka: Kafka, spans: Iterable[Span], to: str
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return what is left of the spans behind the last record that was backed up."""
    last = _last_backed_up(kafka, to)
    held = _held(kafka, spans)
    return {p: (max(begin, last.get(p[1], -1) + 1), end) for p, (begin, end) in held.items()}


def _last_backed_up(kafka: Kafka, to: str) -> dict[int, int]:
    """Return by partition the offset, in the source, of the last record that was copied."""
    ends = {
        part: (end - 1, end) for part, (begin, end) in _ranges(kafka, to).items() if begin < end
    }
    return {r.partition: _unmarked(r).offset for r in _each(kafka, ends)}


def _each(kafka: Kafka, ranges: Mapping[tuple[str, int], tuple[int, int]]) -> Iterator[Record]:
    with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
        yield from records


def _marked(record: Record, to: str) -> Record:
    location = f"{record.topic} {record.partition} {record.offset}".encode()
    return replace(record, topic=to, headers=(*record.headers, (WHERE, location)))


def _unmarked(record: Record, to: str | None = None) -> Record:
    """Return the record as it was, with its offset; its topic is `to` where that is given."""
    key, value = record.headers[-1] if record.headers else ("", None)
    if key != WHERE or value is None:
        raise StepError(
            f"{name_of(record)} isn't a backed-up record: the last header of the record isn't "
            f"`{WHERE}`. Stop other producers of {record.topic}. If the run was still copying "
            f"records to {record.topic}, delete this topic, then resume the run"
        )
    topic, partition, offset = value.decode().split(" ")
    return replace(
        record,
        topic=to or topic,
        partition=int(partition),
        offset=int(offset),
        headers=record.headers[:-1],
    )
