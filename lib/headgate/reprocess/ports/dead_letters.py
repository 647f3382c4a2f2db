"""Dead letter topics: what they hold, and their records redriven."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headgate.model.dead_letters import Decision, FailedRecord, Selection, Summary
from headgate.reprocess.ports.record_backup import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Where Kafka keeps what was redriven of a dead letter topic.

    `topic` is a compacted topic with a bit for each redriven record, and how far a run has come. It
    is written in the transaction of the records, by the one producer that has `transactional_id`.
    """

    topic: str
    transactional_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run has come in a partition: its next offset, and counts by decision."""

    offset: int
    counts: Mapping[Decision, int] = field(default_factory=dict)


class DeadLetterInspector(Protocol):
    """What a plan may ask of them."""

    def summarise(self, selection: Selection, ledger: Ledger, most: int | None) -> Summary:
        """Read the topic and count what its records are; at most about `most`, None: all.

        Of a larger topic the earliest and the latest records of each partition are read.
        """

    def may_write(self, topics: Iterable[str]) -> Mapping[str, bool | None]:
        """Return by topic whether Headgate may write to it, None where the broker doesn't say."""

    def stable_spans(self, topic: str, partitions: Iterable[int]) -> tuple[Span, ...]:
        """Return what can be read now of the partitions: up to the first open transaction."""

    def progress(self, ledger: Ledger, run: str) -> Mapping[int, Progress]:
        """Return how far the run has come, by partition; empty before its first transaction."""

    def redriven_topics(self, retry_topic: str) -> frozenset[str]:
        """Return the dead letter topics whose records the topic has; it reads all of it."""


class DeadLetterApplier(DeadLetterInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def redrive(
        self, selection: Selection, spans: Iterable[Span], ledger: Ledger, rate: int | None
    ) -> None:
        """Write each selected record of the spans to its target, exactly once in this run.

        Record, ledger and progress are one transaction. Records that an earlier try of the run has
        passed aren't checked a second time. At most `rate` records/s are written.
        """

    def write(self, topic: str, records: Iterable[FailedRecord], begins: Mapping[int, int]) -> int:
        """Write records at which a function failed, each once in this run; return how many.

        `begins` is where the topic ended before the step, by partition. What an earlier try of the
        run wrote after it isn't written a second time.
        """

    def forget(self, dead_letters: str, ledger: Ledger, retry_topic: str) -> None:
        """Mark the dead letters that the retry topic has as not redriven; fine if it is gone.

        Those that an earlier run had already redriven stay marked.
        RefusedError, and none is marked, if it also has records of another dead letter topic.
        """
