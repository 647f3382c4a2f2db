"""Redrive dead letters: records, marks and progress in one transaction, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaException, Producer

from headgate.errors import ConfigError, StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import kafka_error
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.gateway.kafka.redrive_ledger import Marks, progress_row, read_marks
from headgate.gateway.kafka.topic_changes import topics_in_transaction
from headgate.gateway.kafka.write_records import name_of
from headgate.model.dead_letters import (
    DeadLetter,
    Decision,
    Selection,
    decide,
    target_of,
    timestamp_of,
)
from headgate.parse.kafka.dead_letters import AGAIN, ATTEMPTS, FROM, KEY, RUN, read_dead_letter
from headgate.reprocess.ports.dead_letters import Ledger, Progress
from headgate.reprocess.ports.record_backup import Span

# Records in a transaction at most: written ones, and those that were only looked at.
_WRITES, _LOOKS = 500, 20_000
_SECONDS = 60.0
_TRIES = 3
_TRANSACTIONAL = {
    "enable.idempotence": True,
    "transaction.timeout.ms": 60_000,
    "message.max.bytes": 1_000_000_000,
    "compression.type": "lz4",
    # As Java's producer does where a record names no partition.
    "partitioner": "murmur2_random",
    "linger.ms": 5,
    "log_level": 0,
}
# Size of a record that was not delivered, and why.
Failed = tuple[int, str]
Pause = Callable[[float], None]
Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One run's redrive; `rate` is in records/s, None for no limit."""

    run: str
    chosen: Selection
    ledger: Ledger
    rate: int | None = None


@dataclass(slots=True)
class _Batch:
    """What goes into the next transaction; with each record, whether an earlier run redrove it."""

    records: list[tuple[Record, DeadLetter, bool]] = field(default_factory=list)
    looked: int = 0

    def clear(self) -> None:
        self.records.clear()
        self.looked = 0


def read_progress(kafka: Kafka, ledger: Ledger, run: str) -> dict[int, Progress]:
    """Return how far the run has come, by partition."""
    at = read_marks(kafka, ledger.topic).at
    return {partition: done for partition, (whose, done) in at.items() if whose == run}


def redrive(
    kafka: Kafka, work: Work, spans: Iterable[Span], pause: Pause, watch: Watch = lambda _: None
) -> None:
    """Carry out the work from where an earlier try of the run was; StepError if Kafka refuses.

    `pause` is called between transactions only, and may raise. Once it returns, every consumer of
    the ledger sees what it did.
    """
    # Ends what a killed try left open, so that the ledger is what was committed.
    producer = transactional(kafka, work.ledger)
    runner = _Runner(kafka, work, producer, pause, watch)
    runner.run(spans)
    _await_visible(kafka, work.ledger)


def _await_visible(kafka: Kafka, ledger: Ledger) -> None:
    """Wait until the ledger's last transaction is visible.

    A commit returns once the coordinator knows of it; each partition gets its marker after that,
    and a `read_committed` consumer stops before it [run, Kafka 4.3.1 on a busy machine].
    """
    deadline = time.monotonic() + _SECONDS
    while topics_in_transaction(kafka, kafka.topics([ledger.topic])):
        if time.monotonic() > deadline:
            raise StepError(
                f"a transaction on topic {ledger.topic} is still open after {_SECONDS:.0f} s. "
                "Check which producer has it open, then resume the run"
            )
        time.sleep(0.05)


class _Runner:
    def __init__(self, kafka: Kafka, work: Work, producer: Any, pause: Pause, watch: Watch) -> None:
        self._kafka, self._work, self._producer = kafka, work, producer
        self._pause, self._watch = pause, watch
        self._marks: Marks = read_marks(kafka, work.ledger.topic)
        before = {p: done for p, (run, done) in self._marks.at.items() if run == work.run}
        self._at = {p: done.offset for p, done in before.items()}
        self._counts = {p: dict(done.counts) for p, done in before.items()}
        self._batch = _Batch()
        self._most = _WRITES if work.rate is None else max(1, min(_WRITES, work.rate))
        self._began, self._written = time.monotonic(), 0

    def run(self, spans: Iterable[Span]) -> None:
        """Read the spans, and commit their ends last."""
        wanted = list(spans)
        topic = self._work.chosen.topic
        begins = _begins(self._kafka, topic, wanted)
        ranges = {}
        for span in wanted:
            begin = max(span.begin, begins[span.partition], self._at.get(span.partition, 0))
            ranges[topic, span.partition] = (min(begin, span.end), span.end)
        with closing(each_record(self._kafka.bootstrap, self._kafka.config, ranges)) as records:
            self._each(records)
        if not self._is_full:
            # Behind the last record there may be only transactions' markers.
            self._at |= {span.partition: span.end for span in wanted}
        self._commit()

    @property
    def _redriven(self) -> int:
        return sum(c.get(Decision.REDRIVE, 0) for c in self._counts.values())

    @property
    def _is_full(self) -> bool:
        most = self._work.chosen.most
        return most is not None and self._redriven >= most

    def _each(self, records: Iterator[Record]) -> None:
        for record in records:
            if self._is_full:
                return
            self._take(record)
            batch = self._batch
            if len(batch.records) >= self._most or batch.looked >= _LOOKS:
                self._commit()
                self._keep_rate()

    def _take(self, record: Record) -> None:
        letter = read_dead_letter(record.headers)
        done = self._marks.has(record.partition, record.offset)
        found = decide(letter, record.partition, record.timestamp, self._work.chosen, done=done)
        counts = self._counts.setdefault(record.partition, {})
        counts[found] = counts.get(found, 0) + 1
        self._at[record.partition] = record.offset + 1
        self._batch.looked += 1
        if found is Decision.REDRIVE:
            self._batch.records.append((record, letter, done))
            self._marks.put(record.partition, record.offset)

    def _keep_rate(self) -> None:
        """Wait until what was written takes as long as the rate says; a cancelled run stops."""
        rate = self._work.rate
        ahead = self._written / rate - (time.monotonic() - self._began) if rate else 0.0
        self._pause(max(ahead, 0.0))

    def _commit(self) -> None:
        """Write the batch, its marks and the progress in one transaction."""
        if not self._at:
            return
        failed: list[Failed] = []
        with transaction(self._producer, failed):
            for taken in self._batch.records:
                produce_record(self._producer, self._to_send(*taken), failed)
            for key, value in (*self._marks.rows(), *self._progress()):
                produce(self._producer, self._work.ledger.topic, key, value, failed)
        self._written += len(self._batch.records)
        self._watch(self._batch.looked)
        self._batch.clear()

    def _progress(self) -> Iterator[tuple[bytes, bytes]]:
        for partition, offset in sorted(self._at.items()):
            counts = self._counts.get(partition, {})
            yield progress_row(self._work.run, partition, offset, counts)

    def _to_send(self, record: Record, letter: DeadLetter, done: bool) -> dict[str, Any]:
        """Return the record as it goes to its target, and how errors name it."""
        chosen = self._work.chosen
        target = target_of(letter, chosen)
        place = f"{record.topic}-{record.partition}-{record.offset}"
        known = None not in (letter.topic, letter.partition, letter.offset)
        failed_at = f"{letter.topic}-{letter.partition}-{letter.offset}" if known else place
        added = {
            ATTEMPTS: str(letter.attempts + 1),
            KEY: letter.key or failed_at,
            FROM: place,
            RUN: self._work.run,
            **({AGAIN: "true"} if done else {}),
        }
        made: dict[str, Any] = {
            "topic": target,
            "key": record.key,
            "value": record.value,
            "headers": [*letter.headers, *((k, v.encode()) for k, v in added.items())],
            "name": name_of(record),
        }
        if at := timestamp_of(letter, record.timestamp):
            made["timestamp"] = at
        if (partition := self._partition(letter, str(target))) is not None:
            made["partition"] = partition
        return made

    def _partition(self, letter: DeadLetter, target: str) -> int | None:
        """Return the partition where it failed, if that one keeps its key; None: by its key."""
        targets = self._work.chosen.targets or {}
        if letter.partition is None or letter.partition >= targets.get(target, 0):
            return None
        return letter.partition if target == letter.topic else None


def transactional(kafka: Kafka, ledger: Ledger) -> Any:
    """Return the one producer of the ledger: an older one of any run is fenced."""
    settings = {**kafka.config, **_TRANSACTIONAL, "bootstrap.servers": kafka.bootstrap}
    try:
        producer = Producer({**settings, "transactional.id": ledger.transactional_id})
    except KafkaException as error:
        raise ConfigError(
            f"Kafka's client rejects a setting in [kafka.config]: {kafka_error(error).str()}"
        ) from None
    try:
        producer.init_transactions(_SECONDS)
    except KafkaException as error:
        raise StepError(
            f"Kafka did not start a transaction for {ledger.transactional_id}: "
            f"{kafka_error(error).str()}. Check the ACLs of the transactional id, then resume the "
            "run"
        ) from None
    return producer


@contextmanager
def transaction(producer: Any, failed: list[Failed]) -> Iterator[None]:
    """Commit what the block writes, or abort all of it; `failed` has what wasn't delivered."""
    producer.begin_transaction()
    try:
        yield
        producer.flush(_SECONDS)
        if not failed:
            _commit(producer)
            return
    except KafkaException as error:
        failed.append((-1, f"a transaction failed: {kafka_error(error).str()}"))
    except BaseException:
        _abort(producer)
        raise
    # Kafka refuses what came with a record that is too large, too: the largest one is to blame.
    reason = _abort(producer) or max(failed)[1]
    raise StepError(
        f"{reason}. The transaction was not committed. Fix the cause, then resume the run"
    )


def _commit(producer: Any) -> None:
    for _ in range(_TRIES - 1):
        try:
            producer.commit_transaction(_SECONDS)
            return
        except KafkaException as error:
            if not kafka_error(error).retriable():
                raise
    producer.commit_transaction(_SECONDS)


def _abort(producer: Any) -> str | None:
    """Abort it; returns the reason if the producer is of no use any more, as a fenced one.

    If Kafka doesn't answer, the next try of the run, or the time-out, aborts it.
    """
    try:
        producer.abort_transaction(_SECONDS)
    except KafkaException as error:
        failure = kafka_error(error)
        if failure.fatal():
            return f"another run writes these records, or Kafka failed: {failure.str()}"
    return None


def produce_record(producer: Any, made: Mapping[str, Any], failed: list[Failed]) -> None:
    """Write a record; `name` of `made` is what an error calls it, the rest is the client's."""
    made = dict(made)
    name = made.pop("name")

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            said = f"{name} could not be written to {made['topic']}: {error.str()}"
            failed.append((len(made["key"] or b"") + len(made["value"] or b""), said))

    while True:
        try:
            producer.produce(**made, on_delivery=delivered)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.5)


def produce(producer: Any, topic: str, key: bytes, value: bytes, failed: list[Failed]) -> None:
    """Write a row of a ledger."""
    made = {"topic": topic, "key": key, "value": value, "partition": 0}
    produce_record(
        producer, {**made, "name": f"record {key.decode()} of the redrive progress"}, failed
    )


def _begins(kafka: Kafka, topic: str, spans: Iterable[Span]) -> dict[int, int]:
    found = kafka.begin_end([(topic, s.partition) for s in spans])
    return {part: begin or 0 for (_, part), (begin, _) in found.items()}
