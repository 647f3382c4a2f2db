"""What plans and runs do with dead letter topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka import (
    forget_redrives,
    inspect_dead_letters,
    redrive_records,
    write_dead_letters,
)
from headgate.model.dead_letters import FailedRecord, Selection, Summary
from headgate.reprocess.ports.dead_letters import Ledger, Progress
from headgate.reprocess.ports.record_backup import Span


class DeadLetterAdapter:
    """Dead letter topics on the registry's cluster."""

    def __init__(self, context: RunContext, kafka: KafkaAdapter) -> None:
        self._context = context
        self._kafka = kafka

    def summarise(self, selection: Selection, ledger: Ledger, most: int | None) -> Summary:
        """Read the topic and count what its records are; at most about `most`, None: all."""
        return inspect_dead_letters.summarise(self._kafka.cluster, selection, ledger, most)

    def may_write(self, topics: Iterable[str]) -> Mapping[str, bool | None]:
        """Return by topic whether Headgate may write to it, None where the broker doesn't say."""
        return inspect_dead_letters.may_write(self._kafka.cluster, topics)

    def stable_spans(self, topic: str, partitions: Iterable[int]) -> tuple[Span, ...]:
        """Return what can be read now of the partitions: up to the first open transaction."""
        return inspect_dead_letters.stable_spans(self._kafka.cluster, topic, partitions)

    def progress(self, ledger: Ledger, run: str) -> Mapping[int, Progress]:
        """Return how far the run has come, by partition; empty before its first transaction."""
        return redrive_records.read_progress(self._kafka.cluster, ledger, run)

    def redriven_topics(self, retry_topic: str) -> frozenset[str]:
        """Return the dead letter topics whose records the topic has; it reads all of it."""
        return forget_redrives.redriven_topics(self._kafka.cluster, retry_topic)

    def redrive(
        self, selection: Selection, spans: Iterable[Span], ledger: Ledger, rate: int | None
    ) -> None:
        """Write each selected record of the spans to its target, exactly once in this run."""
        wanted = list(spans)
        work = redrive_records.Work(
            run=self._context.run, chosen=selection, ledger=ledger, rate=rate
        )
        before = self.progress(ledger, self._context.run)
        done = sum(max(p.offset - s.begin, 0) for s in wanted if (p := before.get(s.partition)))
        total = sum(span.end - span.begin for span in wanted)
        redrive_records.redrive(
            self._kafka.cluster, work, wanted, self._context.pause, self._watch(done, total)
        )

    def write(self, topic: str, records: Iterable[FailedRecord], begins: Mapping[int, int]) -> int:
        """Write records at which a function failed, each once in this run; return how many."""
        at = self._context
        return write_dead_letters.write_dead_letters(
            self._kafka.cluster, topic, records, run=at.run, begins=begins, pause=at.pause
        )

    def forget(self, dead_letters: str, ledger: Ledger, retry_topic: str) -> None:
        """Mark the dead letters that the retry topic has, and no other one, as not redriven."""
        forget_redrives.forget(self._kafka.cluster, dead_letters, ledger, retry_topic)

    def _watch(self, done: int, total: int) -> Callable[[int], None]:
        def watch(more: int) -> None:
            nonlocal done
            done += more
            self._context.progress(min(done, total), total, "records")

        return watch
