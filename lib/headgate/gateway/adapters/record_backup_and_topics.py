"""What plans and runs ask of topics as things to be made, emptied and copied, and do to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headgate.errors import HeadgateError
from headgate.gateway.adapters.kafka import LiveKafkaInspector
from headgate.gateway.kafka import committed_offsets, copy_records, topic_changes
from headgate.gateway.kafka import topic_changes as kafka_partitions
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.record_backup import Digest, Span

_LOOK_EVERY = 1000


class TopicInspector(LiveKafkaInspector):
    """Shapes of topics, and who reads them."""

    def shapes(self, names: Iterable[str]) -> Mapping[str, TopicShape]:
        """Return the shapes of those of the topics that exist."""
        wanted = list(names)
        return topic_changes.read_shapes(self.kafka, wanted) if wanted else {}

    def topic_readers(self, names: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
        """Return by topic the groups that have members on it (True) or offsets of it (False)."""
        found: dict[str, dict[str, bool]] = {name: {} for name in names}
        for group in self.kafka.groups() if found else ():
            for topic in {o.topic for o in group.offsets} & found.keys():
                found[topic][group.id] = False
            for topic in {t for m in group.members or () for t, _ in m.assignment} & found.keys():
                found[topic][group.id] = True
        return found

    def topics_in_transaction(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the topics on which a transaction is open."""
        topics = self.topics(names)
        return topic_changes.topics_in_transaction(self.kafka, topics) if topics else ()

    def unraisable(self, wanted: Mapping[str, int]) -> Mapping[str, str]:
        """Return by topic why the broker would not give it so many partitions."""
        return kafka_partitions.unraisable(self.kafka, wanted)

    def topic_bytes(self, names: Iterable[str]) -> Mapping[str, int | None]:
        """Return each topic's size on disk (one replica), None where that can't be told."""
        wanted = list(names)
        if not wanted:
            return {}
        try:
            sizes = self.kafka.java.log_sizes() if self.kafka.java else None
        except HeadgateError:
            sizes = None
        if sizes is None:
            return dict.fromkeys(wanted)
        return {n: sum(size for (t, _), size in sizes.items() if t == n) for n in wanted}


class TopicApplier(TopicInspector):
    """What steps change in topics."""

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Tell how far the step is."""
        raise NotImplementedError

    def pause(self, seconds: float) -> None:
        """Wait; a cancelled run stops here."""
        raise NotImplementedError

    def create_topic(self, shape: TopicShape) -> None:
        """Make a topic of this shape."""
        topic_changes.create_topic(self.kafka, shape)

    def delete_topic(self, shape: TopicShape) -> None:
        """Delete the topic that has this id, and wait until it is gone."""
        topic_changes.delete_topic(self.kafka, shape.name, shape.id)

    def add_partitions(self, name: str, to: int) -> None:
        """Give the topic so many partitions in all, and wait until each has a leader."""
        kafka_partitions.add_partitions(self.kafka, name, to)

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, with its offsets; fine if it is gone."""
        committed_offsets.delete_group(self.kafka, group_id)

    def configure_topic(self, name: str, configs: Mapping[str, str]) -> None:
        """Give the topic these settings of its own, and no others."""
        shape = self.shapes([name])[name]
        gone: dict[str, str | None] = dict.fromkeys(shape.configs.keys() - configs.keys())
        changed = {k: v for k, v in configs.items() if shape.configs.get(k) != v}
        topic_changes.alter_configs(self.kafka, name, {**gone, **changed})
        topic_changes.wait_for_configs(self.kafka, name, configs)

    def delete_records(self, before: Mapping[tuple[str, int], int]) -> None:
        """Delete the records before an offset of each partition."""
        topic_changes.delete_records(self.kafka, before)

    def back_up_records(self, spans: Iterable[Span], to: str) -> None:
        """Copy records to the same partitions of the topic `to`, as they are."""
        wanted = list(spans)
        copy_records.back_up_records(self.kafka, wanted, to, self._watch(_count(wanted)))

    def missing_of_backup(self, spans: Iterable[Span], to: str) -> tuple[str, ...]:
        """Return the partitions that hold records behind the last one that was backed up."""
        return copy_records.missing(self.kafka, spans, to)

    def verify_backup(self, spans: Iterable[Span], to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where the copy is not exact."""
        return copy_records.verify_backup(self.kafka, spans, to, self._watch(None))

    def restore_records(self, backup: str, to: str) -> None:
        """Copy backed-up records back to an empty topic without the header."""
        copy_records.restore_records(self.kafka, backup, to, self._watch(None))

    def verify_restored(self, backup: str, to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where `to` holds others."""
        return copy_records.verify_restored(self.kafka, backup, to, self._watch(None))

    def _watch(self, total: int | None) -> Callable[[int], None]:
        """Count records; now and then tell how many, and let a cancelled run stop."""
        done = 0

        def watch(more: int) -> None:
            nonlocal done
            done += more
            if done % _LOOK_EVERY == 0:
                self.progress(done, total, "records")
                self.pause(0)

        return watch


def _count(spans: Iterable[Span]) -> int:
    return sum(span.end - span.begin for span in spans)
