"""What runs do with records: copy them to backup topics and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka import copy_records
from headgate.reprocess.ports.record_backup import Digest, Span

_LOOK_EVERY = 1000


class RecordBackupAdapter:
    """Copies of records on the registry's cluster."""

    def __init__(self, context: RunContext, kafka: KafkaAdapter) -> None:
        self._context = context
        self._kafka = kafka

    def back_up(self, spans: Iterable[Span], to: str) -> None:
        """Copy records to the same partitions of the topic `to`, as they are."""
        wanted = list(spans)
        count = sum(span.end - span.begin for span in wanted)
        copy_records.back_up_records(self._kafka.cluster, wanted, to, self._watch(count))

    def missing(self, spans: Iterable[Span], to: str) -> tuple[str, ...]:
        """Return the partitions that hold records after the last one that was backed up."""
        return copy_records.missing(self._kafka.cluster, spans, to)

    def verify_backup(self, spans: Iterable[Span], to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where the copy is not exact."""
        return copy_records.verify_backup(self._kafka.cluster, spans, to, self._watch(None))

    def restore(self, backup: str, to: str) -> None:
        """Copy backed-up records back to an empty topic without the header."""
        copy_records.restore_records(self._kafka.cluster, backup, to, self._watch(None))

    def verify_restored(self, backup: str, to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where `to` holds others."""
        return copy_records.verify_restored(self._kafka.cluster, backup, to, self._watch(None))

    def publish(self, staged: str, to: str, group: str) -> None:
        """Copy records to the same partitions of the topic `to`, each exactly once."""
        # Imported here: hardly a run writes in transactions.
        from headgate.gateway.kafka.publish_records import publish_records

        done = 0

        def watch(more: int) -> None:
            nonlocal done
            done += more
            self._context.progress(done, None, "records")

        publish_records(
            self._kafka.cluster, staged, to, group, pause=self._context.pause, watch=watch
        )

    def _watch(self, total: int | None) -> Callable[[int], None]:
        """Count records; now and then report how many, and let a cancelled run stop."""
        done = 0

        def watch(more: int) -> None:
            nonlocal done
            done += more
            if done % _LOOK_EVERY == 0:
                self._context.progress(done, total, "records")
                self._context.pause(0)

        return watch
