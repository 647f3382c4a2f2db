"""Copy records to a backup topic before they are deleted or skipped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, RunCancelledError, StepError
from headgate.model.cluster import Topic
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.record_backup import Digest, Span
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics, known_log
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.text.numbers import name_list, offset_range, plural

_LONGEST = str(2**63 - 1)
# Old, late and large records are taken as they are, and nothing is removed by age or by key.
_KEEP_ALL = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": _LONGEST,
    "message.timestamp.after.max.ms": _LONGEST,
    "max.message.bytes": str(2**31 - 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpRecords(StepBase):
    """Copy the records of each topic to a backup topic of this run.

    Partition, key, value, headers, timestamp and order are kept; the last header of a record is its
    original offset. `topics` maps a name to its shape (see `topic_shapes`). Of topics that are in
    `only` just those offsets are backed up, of others everything. `sizes` are the records (at most)
    and bytes on disk by topic, as far as they were known.
    A backup topic keeps its records until it is deleted: an undo of the run does that, once they
    are restored.
    """

    action: ClassVar[str] = "back_up_records"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"sizes"})
    topics: dict[str, dict[str, Any]]
    only: tuple[Span, ...] = ()
    pipeline: str | None = None
    sizes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def describe(self) -> str:
        if self.only:
            parts = name_list(
                f"{s.topic}[{s.partition}] {offset_range(s.begin, s.end)}" for s in self.only
            )
            return f"copy records to a backup topic: {parts}"
        counts = [size["records"] for size in self.sizes.values()]
        sizes = [size["bytes"] for size in self.sizes.values()]
        known = f", {sum(sizes):,} bytes" if sizes and None not in sizes else ""
        count = (
            "an unknown number of records"
            if None in counts or not counts
            else f"at most {plural(sum(counts), 'record')}"
        )
        return f"copy the records of {name_list(self.topics)} to backup topics: {count}{known}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs, a topic is not the planned one, or can't be read."""
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        check_topics(inspector, self.topics)
        if open_on := inspector.kafka.topics_in_transaction(self.topics):
            raise RefusedError(
                f"a transaction is open on {name_list(open_on)}: Headgate can't read its records "
                "yet. Wait until the transaction ends, then try again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide what is backed up, and where."""
        spans = self.only or spans_of(applier.kafka.topics(self.topics))
        return {
            "spans": [asdict(span) for span in spans],
            "backup": {name: backup_topic_name(applier.run, name) for name in self.topics},
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Make the backup topics that are missing, and copy what is missing."""
        there = applier.kafka.shapes(was["backup"].values())
        for name, backup in sorted(was["backup"].items()):
            if backup not in there:
                applier.kafka.create_topic(self._shape(name, backup))
            applier.records.back_up(_spans(was, name), backup)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Compare record by record; a copy that is not exact is dropped, and nothing else done."""
        for name, backup in sorted(was["backup"].items()):
            try:
                digests = applier.records.verify_backup(_spans(was, name), backup)
            except RunCancelledError:
                raise
            except StepError:
                # A try that goes on from here begins with an empty one.
                applier.kafka.delete_topic(applier.kafka.shapes([backup])[backup])
                raise
            applier.note(f"topic {name} is backed up in topic {backup}: {_shown(digests)}")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the backup topics once the records are restored; keep copies of skipped records.

        Retention may have deleted those records from their own topic meanwhile.
        """
        return () if self.only else (DeleteBackupTopics(topics=dict(was["backup"])),)

    def _shape(self, name: str, backup: str) -> TopicShape:
        like = self.topics[name]
        return TopicShape(
            name=backup,
            id="",
            partitions=like["partitions"],
            replication=like["replication"],
            configs=dict(_KEEP_ALL),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBackupTopics(StepBase):
    """Delete the backup topics of a run; `topics` maps each topic to its backup topic."""

    action: ClassVar[str] = "delete_backup_topics"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    topics: dict[str, str]

    def describe(self) -> str:
        return (
            f"delete the backup topics of {name_list(self.topics)}: "
            f"{name_list(self.topics.values())}"
        )

    def bind(self, applier: Applier) -> PriorState:
        """Read which are there."""
        return {"shapes": [asdict(s) for s in applier.kafka.shapes(self.topics.values()).values()]}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether they are gone."""
        return not applier.kafka.shapes(self.topics.values())

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete those that are left."""
        for shape in was["shapes"]:
            applier.kafka.delete_topic(TopicShape(**shape))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where one is left."""
        if left := applier.kafka.shapes(self.topics.values()):
            raise StepError(
                f"backup topics still exist after the delete request: {name_list(left)}. Check "
                "`delete.topic.enable` of the brokers, then resume the run"
            )


def backup_topic_name(run: str, topic: str) -> str:
    """Return the name of a topic's backup topic in a run.

    The topic's own name is not in it: a consumer that subscribes to a pattern would read it, and
    one that ends in `-changelog` would pass for an internal topic.
    """
    return f"headgate-backup-{run}-{hashlib.sha256(topic.encode()).hexdigest()[:8]}"


def filling(configs: Mapping[str, str]) -> dict[str, str]:
    """Return settings under which a topic takes backed-up records as they are, and keeps them."""
    return {**configs, **_KEEP_ALL}


def spans_of(topics: Mapping[str, Topic]) -> tuple[Span, ...]:
    """Return all that the topics hold, by partition; RefusedError where that is not known."""
    return tuple(
        Span(topic=name, partition=part.number, begin=begin, end=end)
        for name, topic in sorted(topics.items())
        for part in topic.partitions
        for begin, end in (known_log(name, part),)
    )


def sizes_of(inspector: Inspector, topics: Mapping[str, Topic]) -> dict[str, dict[str, Any]]:
    """Return how much would be backed up, by topic: `records` at most, and `bytes` on disk.

    None is not known.
    """
    disk = inspector.kafka.topic_bytes(topics)
    return {
        name: {"records": topic.records, "bytes": disk[name]}
        for name, topic in sorted(topics.items())
    }


def _spans(was: PriorState, topic: str) -> tuple[Span, ...]:
    return tuple(Span(**s) for s in was["spans"] if s["topic"] == topic)


def _shown(digests: Mapping[int, Digest]) -> str:
    found: Iterable[Digest] = digests.values()
    count, size = sum(d.records for d in found), sum(d.bytes for d in digests.values())
    hashes = ", ".join(f"{n}: {d.hash[:12]}" for n, d in sorted(digests.items()) if d.records)
    return f"{plural(count, 'record')}, {size} bytes" + (
        f" (hash by partition: {hashes})" if hashes else ""
    )
