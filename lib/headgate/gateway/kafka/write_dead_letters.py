"""Write records at which a function failed to a dead letter topic, each exactly once in a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.inspect_dead_letters import stable_spans
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.gateway.kafka.redrive_records import (
    Failed,
    produce_record,
    transaction,
    transactional,
)
from headgate.gateway.kafka.write_records import name_of
from headgate.model.dead_letters import FailedRecord
from headgate.parse.kafka.dead_letters import FAILED_IN, connect_headers, read_dead_letter
from headgate.reprocess.ports.dead_letters import Ledger
from headgate.reprocess.ports.record_backup import Span

_AT_ONCE = 100
# Another producer's transaction holds the topic up for so long at most.
_WAIT_SECONDS, _LOOK_SECONDS = 60, 0.5
Place = tuple[str, int, int]


def write_dead_letters(
    kafka: Kafka,
    topic: str,
    records: Iterable[FailedRecord],
    *,
    run: str,
    begins: Mapping[int, int],
    pause: Callable[[float], None],
) -> int:
    """Write the records that an earlier try of the run has not written; return how many it wrote.

    `begins` is where the dead letter topic ended before the run, by partition. Key, value,
    timestamp and headers are kept. StepError if Kafka refuses a record, or if another producer
    keeps a transaction open: records after it can't be read.
    """
    ledger = Ledger(topic=topic, transactional_id=f"headgate-dead-letters-{run}")
    # Ends what a killed try left open, so that what is read is all that it wrote.
    producer = transactional(kafka, ledger)
    spans = _stable(kafka, topic, pause)
    there = _written(kafka, spans, run, begins)
    missing = [r for r in records if (r.topic, r.partition, r.offset) not in there]
    _check_there(kafka, missing)
    for first in range(0, len(missing), _AT_ONCE):
        pause(0)
        # Read before the transaction: it must end within its time.
        made = [_made(topic, _read(kafka, r), r, run) for r in missing[first : first + _AT_ONCE]]
        failed: list[Failed] = []
        with transaction(producer, failed):
            for record in made:
                produce_record(producer, record, failed)
    return len(missing)


def _stable(kafka: Kafka, topic: str, pause: Callable[[float], None]) -> tuple[Span, ...]:
    """Wait until all that the topic has now can be read, and return what can be."""
    spans = stable_spans(kafka, topic, ())
    ends = kafka.begin_end([(topic, span.partition) for span in spans])
    deadline = time.monotonic() + _WAIT_SECONDS
    while any(span.end < (ends[topic, span.partition][1] or 0) for span in spans):
        if time.monotonic() > deadline:
            raise StepError(
                f"another producer has an open transaction in {topic}. Resume the run when the "
                "transaction has ended"
            )
        pause(_LOOK_SECONDS)
        spans = stable_spans(kafka, topic, ())
    return spans


def _written(
    kafka: Kafka, spans: Iterable[Span], run: str, begins: Mapping[int, int]
) -> set[Place]:
    """Return which records of the run the topic has already."""
    ranges = {
        (s.topic, s.partition): (max(begins.get(s.partition, 0), s.begin), s.end) for s in spans
    }
    found: set[Place] = set()
    with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
        for record in records:
            letter = read_dead_letter(record.headers)
            if dict(record.headers).get(FAILED_IN) == run.encode() and letter.topic is not None:
                found.add((letter.topic, letter.partition or 0, letter.offset or 0))
    return found


def _check_there(kafka: Kafka, records: Iterable[FailedRecord]) -> None:
    wanted = list(records)
    begins = kafka.begin_end(sorted({(one.topic, one.partition) for one in wanted}))
    for one in wanted:
        begin, _ = begins[one.topic, one.partition]
        if begin is not None and one.offset < begin:
            raise _gone(one)


def _gone(one: FailedRecord) -> StepError:
    return StepError(
        f"record {one.offset} of {one.topic}[{one.partition}] no longer exists, so it can't be "
        "written to the dead letter topic. Run `headgate plan` again"
    )


def _read(kafka: Kafka, one: FailedRecord) -> Record:
    ranges = {(one.topic, one.partition): (one.offset, one.offset + 1)}
    # Spark reads records of aborted transactions, too, unless the query says otherwise.
    found = each_record(kafka.bootstrap, kafka.config, ranges, only_committed=False)
    with closing(found) as records:
        record = next(records, None)
    if record is None:
        raise _gone(one)
    return record


def _made(topic: str, record: Record, one: FailedRecord, run: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "topic": topic,
        "key": record.key,
        "value": record.value,
        "headers": [*record.headers, *connect_headers(one, run)],
        "name": name_of(record),
    }
    return {**made, "timestamp": record.timestamp} if record.timestamp else made
