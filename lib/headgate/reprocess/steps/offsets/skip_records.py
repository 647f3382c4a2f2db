"""Skip a range of one partition, as far as a group has not read past it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import GroupOffset
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_inactive, check_topics
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move, committed, moves_of
from headgate.reprocess.steps.offsets.reset_offsets import RestoreOffsets
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.numbers import as_records


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRecords(StepBase):
    """Commit the offset after the skipped records.

    Only if the group is within the range when it has stopped. Before the range, it would never read
    the records up to it; after the range, there is nothing to skip. `topics` is the one topic with
    its `id` and number of `partitions`; `first` is the first offset to skip, `next` the one after
    the last.
    """

    action: ClassVar[str] = "skip_records"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"offsets"})
    group: str
    group_type: str
    topics: dict[str, dict[str, Any]]
    partition: int
    first: int
    next: int
    pipeline: str | None = None
    offsets: tuple[dict[str, Any], ...] = ()

    @property
    def topic(self) -> str:
        """The topic's name."""
        return next(iter(self.topics))

    def describe(self) -> str:
        location = f"{self.topic}[{self.partition}]"
        last = self.next - 1
        what = f"record {last}" if last == self.first else f"records {self.first} to {last}"
        return f"move the offset of group {self.group} on {location} past {what}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody is in the group, or the topic is not the planned one."""
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        check_inactive(inspector, self.group, self.group_type)
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Read where the group is now; refuse where that is not within the range."""
        at = committed(applier, self.group).get((self.topic, self.partition))
        reached = None if at is None else at.offset
        if has_no_record(applier, (self.topic, self.partition), reached, self.first):
            reached = self.first
        if reason := outside(reached, self.first, self.next):
            raise RefusedError(f"group {self.group} on {self.topic}[{self.partition}]: {reason}")
        move = Move(topic=self.topic, partition=self.partition, was=at, to=Commit(offset=self.next))
        return {"moves": [asdict(move)]}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the group is behind the range."""
        at = committed(applier, self.group).get((self.topic, self.partition))
        return at is not None and at.offset == self.next

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit the offset after the range."""
        to = GroupOffset(topic=self.topic, partition=self.partition, offset=self.next)
        applier.kafka.alter_offsets(self.group, [to])
        applier.progress(1, 1, "partitions")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the group is somewhere else."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"the committed offset of group {self.group} on {self.topic}[{self.partition}] "
                f"is not {self.next}: a consumer of the group probably commits offsets. Stop the "
                "group's consumers, then resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the offset before the skipped records."""
        back = tuple(
            Move(topic=m.topic, partition=m.partition, was=m.to, to=m.was) for m in moves_of(was)
        )
        restore = RestoreOffsets(
            group=self.group, group_type=self.group_type, topics=self.topics, moves=back
        )
        return (restore,)


def has_no_record(inspector: Inspector, part: TopicPart, begin: int | None, end: int) -> bool:
    """Whether a range of offsets is known to have no committed record, but only other offsets.

    Those are transaction markers, and records that are aborted or compacted away. Of an open
    transaction nobody knows yet.
    """
    if begin is None or begin >= end or inspector.kafka.topics_in_transaction([part[0]]):
        return False
    logs = inspector.kafka.topics([part[0]])[part[0]].partitions
    # What retention has deleted can't be asked for: Kafka answers with an error.
    first = max(begin, next(p.begin or 0 for p in logs if p.number == part[1]))
    return not inspector.kafka.first_records({part: (first, end)})


def outside(at: int | None, first: int, next_: int) -> str | None:
    """Say why a group that is at `at` can't skip the range; None if it can."""
    if at is None:
        return (
            "no committed offset, so Headgate can't verify that the pipeline has reached the "
            "range to skip. Let the pipeline reach the range first"
        )
    if at < first:
        return (
            f"the committed offset {at} is before the range to skip, so the run would also skip "
            f"{as_records(first - at)} before offset {first}. Let the pipeline reach the "
            f"range, or start the range at offset {at}"
        )
    if at >= next_:
        return (
            f"the committed offset {at} is already past the range, so there is nothing to skip. "
            "Choose later offsets with --records"
        )
    return None
