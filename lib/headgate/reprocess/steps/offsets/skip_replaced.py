"""Move a group past the records that the pipelines before it write again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from headgate.errors import RefusedError
from headgate.model.cluster import Topic
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.step import (
    PriorState,
    check_found_inactive,
    check_found_topics,
    known_log,
)
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move, commits_of
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso


@dataclass(frozen=True, slots=True)
class Replaced:
    """What one partition holds that is rewritten: from `begin` to the latest offset `end`.

    `earliest` is the partition's earliest offset.
    """

    topic: str
    partition: int
    begin: int
    end: int
    earliest: int = 0


def replaced_in(inspector: Inspector, since: Mapping[str, int]) -> dict[TopicPart, Replaced]:
    """Return the replaced records of each partition: those that are not older than `since`.

    `since` is by topic, in Unix milliseconds. Without such a record `begin` is `end`. RefusedError
    if a partition has no leader.
    """
    topics = inspector.kafka.topics(since)
    return {(r.topic, r.partition): r for r in _replaced(inspector, topics, since)}


def _replaced(
    inspector: Inspector, topics: Mapping[str, Topic], since: Mapping[str, int]
) -> Iterator[Replaced]:
    for name, topic in sorted(topics.items()):
        parts = [(name, p.number) for p in topic.partitions]
        first = inspector.kafka.first_at(parts, since[name])
        for log in topic.partitions:
            begin, end = known_log(name, log)
            at = first.get((name, log.number))
            at = end if at is None else min(max(at, begin), end)
            yield Replaced(name, log.number, at, end, begin)


def positions(
    replaced: Mapping[TopicPart, Replaced], commits: Mapping[TopicPart, Commit]
) -> dict[TopicPart, int]:
    """Return where a group is; without a commit, it may begin at the earliest offset."""
    return {
        part: commits[part].offset if part in commits else r.earliest
        for part, r in replaced.items()
    }


def skipped_to(
    replaced: Mapping[TopicPart, Replaced], at: Mapping[TopicPart, int]
) -> dict[TopicPart, int]:
    """Return where each partition continues: at its end, if all before the moment was read.

    A partition with older unread records is left as it is: nothing is lost, but what it has of
    replaced records is processed, too. One without an offset is left out.
    """
    return {part: r.end for part, r in replaced.items() if part in at and at[part] >= r.begin}


def unread_before(
    replaced: Mapping[TopicPart, Replaced], at: Mapping[TopicPart, int]
) -> tuple[TopicPart, ...]:
    """Return the partitions that still have unread records from before the moment."""
    return tuple(p for p, r in sorted(replaced.items()) if p in at and at[p] < r.begin)


def since_words(since: Mapping[str, int]) -> str:
    """Return the topics, each with the time from which its records are replaced."""
    return name_list(
        f"{name} from {iso(from_milliseconds(at))} on" if at else f"all of {name}"
        for name, at in sorted(since.items())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipReplacedRecords(ResetOffsets):
    """Move the group to the latest offsets, to skip the old results that the run rewrites.

    `since` says by topic from which time on (Unix milliseconds) its records are replaced, `writers`
    are the pipelines that write them: they must be stopped, so that the latest offset is final.
    """

    action: ClassVar[str] = "skip_replaced_records"
    since: dict[str, int] = field(default_factory=dict)
    writers: tuple[str, ...] = ()

    def describe(self) -> str:
        return (
            f"reset the offsets of group {self.group} on {plural(len(self.parts), 'partition')} "
            "to the latest offsets, to skip the old results that the run rewrites "
            f"({since_words(self.since)})"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the group is live, or one that writes to its topics is."""
        ResetOffsets.check(self, inspector, again=again)
        check_writers(inspector, self.writers)

    def bind(self, applier: Applier) -> PriorState:
        """Find the latest offsets, now that nobody writes, and what is committed."""
        check_found_topics(applier.kafka.topics(self.topics), self.topics)
        replaced = replaced_in(applier, self.since)
        group = applier.kafka.group(self.group)
        check_found_inactive(applier, group, self.group_type)
        before = commits_of(group)
        at = positions(replaced, before)
        for text in left_behind(self.group, unread_before(replaced, at)):
            applier.note(text)
        return {
            "moves": [
                Move(topic=t, partition=p, was=before.get((t, p)), to=Commit(offset=to)).row()
                for (t, p), to in sorted(skipped_to(replaced, at).items())
            ]
        }


def check_writers(inspector: Inspector, writers: Iterable[str]) -> None:
    """Refuse where a pipeline writes that must stay stopped until the next start.

    A writer is moved after those that read from it, so its group and checkpoint are untouched.
    """
    for name in writers:
        found = inspector.processes.registered(name)
        group, checkpoint = (found.group, found.checkpoint) if found else (None, None)
        try:
            check_stopped(inspector, name, group=group, checkpoint=checkpoint)
        except RefusedError as error:
            raise RefusedError(
                f"{error}. The next step skips the old results of {name}. If {name} still writes, "
                "the step would skip its new results, too"
            ) from None


LEFT_BEHIND = Risk(
    "{pipeline} has unread records from before the target time in {partitions}. These partitions "
    "keep their offsets, so no record is lost. In these partitions, {pipeline} also processes the "
    "old results that the run rewrites",
    partitions="TOPIC[PARTITION]",
)


def left_behind(name: str, parts: Iterable[TopicPart]) -> list[str]:
    """Say which partitions keep their offsets, and what comes of it."""
    found = [f"{topic}[{number}]" for topic, number in parts]
    if not found:
        return []
    return [LEFT_BEHIND(pipeline=name, partitions=name_list(found))]
