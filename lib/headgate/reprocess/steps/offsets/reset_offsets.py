"""Move a group's committed offsets, and restore what was committed before."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import GroupOffset, Topic
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import (
    PriorState,
    Step,
    active_reason,
    check_found_inactive,
    check_found_topics,
    check_inactive,
    check_topics,
    topic_facts,
)
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.partition_offsets import (
    Commit,
    Move,
    chosen,
    commits_of,
    committed,
    moves_of,
    replace_was,
)
from headgate.reprocess.steps.offsets.target import Target, TopicPart, find, stale_reasons
from headgate.text.numbers import duration, plural

HOURS = (1, 6, 24, 72)
"""How near an end is looked for, nearest first."""
_HOUR_MS = 3_600_000


def expiry_risks(
    inspector: Inspector, targets: Mapping[tuple[str, int], int], now_ms: int | None = None
) -> list[str]:
    """Name the topics of which retention soon takes records that these offsets still have to read.

    `targets` are offsets by (topic, partition). A record goes no sooner than its topic's
    `retention.ms` after its own time, and later where its segment is not full.
    """
    now = int(time.time() * 1000) if now_ms is None else now_ms
    topics = inspector.kafka.topics({topic for topic, _ in targets})
    return [
        text
        for name, topic in sorted(topics.items())
        for text in _of(inspector, topic, dict(_unread(topic, targets)), now)
    ]


def _unread(
    topic: Topic, targets: Mapping[tuple[str, int], int]
) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the offsets at which there is a record to read."""
    for part in topic.partitions:
        at = targets.get((topic.name, part.number))
        if at is not None and (part.begin or 0) <= at < (part.end or 0):
            yield (topic.name, part.number), at


def _of(
    inspector: Inspector, topic: Topic, unread: dict[tuple[str, int], int], now: int
) -> Iterable[str]:
    keeps = topic.retention_ms
    if not unread or keeps is None or keeps < 0 or "delete" not in (topic.cleanup_policy or ""):
        return
    for hours in HOURS:
        first = inspector.kafka.first_at(unread, now - keeps + hours * _HOUR_MS)
        # No record so young, or only after the offset: what stands there is older.
        old = [p for p, at in unread.items() if (f := first.get(p)) is None or at < f]
        if old:
            yield (
                f"records at the old offsets of {plural(len(old), 'partition')} can expire within "
                f"{hours} h: topic {topic.name} keeps records for {duration(keeps)}. If the undo "
                "runs after that, the consumer can't read these records"
            )
            return


# Of many partitions only the first are named in a sentence.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsets(StepBase):
    """Set the group's offsets to the target; the journal keeps the old offsets for the undo.

    `offsets` is the preview; the real ones are found after the stop. `topics` maps a name to its
    `id` and number of `partitions`; of a topic that is in `only` just those partitions move.
    """

    action: ClassVar[str] = "reset_offsets"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"offsets"})
    group: str
    group_type: str
    target: Target
    topics: dict[str, dict[str, Any]]
    only: dict[str, list[int]] = field(default_factory=dict)
    offsets: tuple[dict[str, Any], ...] = ()
    pipeline: str | None = None

    def describe(self) -> str:
        names = ", ".join(sorted(self.topics))
        return (
            f"reset the offsets of group {self.group} to {self.target.describe()} on "
            f"{plural(len(self.parts), 'partition')} of {names}"
        )

    @property
    def parts(self) -> tuple[TopicPart, ...]:
        """The partitions that move, or are left where the target says so."""
        return chosen(self.topics, self.only)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if the pipeline isn't verified as stopped; `bind` checks group and topics."""
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        if again:
            # What `bind` has found holds only for the group and the topics that it saw.
            check_inactive(inspector, self.group, self.group_type)
            check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Read what is committed now, and find where each partition goes now.

        Refuses if the group isn't verified empty or a topic isn't the planned one.
        """
        topics = applier.kafka.topics(self.topics)
        check_found_topics(topics, self.topics)
        # Read last: what is proven of the group is then as young as can be.
        group = applier.kafka.group(self.group)
        check_found_inactive(applier, group, self.group_type)
        before = commits_of(group)
        at = {part: commit.offset for part, commit in before.items()}
        found = find(self.target, applier, topics, self.parts, at)
        if found.blockers:
            raise RefusedError(stale_reasons(found.blockers))
        for risk in found.risks[:_SHOWN]:
            applier.note(risk)
        return {
            "moves": [
                Move(topic=t, partition=p, was=before.get((t, p)), to=Commit(offset=to)).row()
                for (t, p), to in found.to.items()
            ]
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether every partition is where it was to go."""
        return _all_there(applier, self.group, moves_of(was))

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit the new offsets."""
        _go(applier, self.group, moves_of(was))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a partition is not where it was to go."""
        _verify(applier, self.group, moves_of(was))

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the old offsets; delete offsets of partitions that had none."""
        moves = moves_of(was)
        back = RestoreOffsets(
            group=self.group,
            group_type=self.group_type,
            topics={name: self.topics[name] for name in sorted({m.topic for m in moves})},
            moves=tuple(
                Move(topic=m.topic, partition=m.partition, was=m.to, to=m.was) for m in moves
            ),
            pipeline=self.pipeline,
        )
        return (back,) if moves else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOffsets(StepBase):
    """Restore a group's offsets, metadata and leader epochs; delete offsets that it didn't have."""

    action: ClassVar[str] = "restore_offsets"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = False
    group: str
    group_type: str
    topics: dict[str, dict[str, Any]]
    moves: tuple[Move, ...]
    offsets: tuple[dict[str, Any], ...] = ()
    pipeline: str | None = None

    def describe(self) -> str:
        names = ", ".join(sorted(self.topics))
        gone = sum(m.to is None for m in self.moves)
        where = f"{plural(len(self.moves), 'partition')} of {names}"
        if gone and gone == len(self.moves):
            return (
                f"delete the offsets of group {self.group} on {where}: the group had none there "
                "before the run"
            )
        absent = (
            ""
            if not gone
            else ". 1 of these partitions had no offset before the run, so Headgate deletes its "
            "offset"
            if gone == 1
            else f". {gone} of these partitions had no offset before the run, so Headgate deletes "
            "their offsets"
        )
        return f"restore the offsets of group {self.group} on {where}{absent}"

    def details(self) -> dict[str, Any]:
        """Return everything the step holds; each partition with topic, partition, from, to."""
        shown = self.offsets or tuple(m.shown() for m in self.moves)
        return {**asdict(self), "moves": [m.row() for m in self.moves], "offsets": list(shown)}

    def intent(self) -> dict[str, Any]:
        """Return what is approved: where each partition goes."""
        to = [{k: v for k, v in m.row().items() if k != "was"} for m in self.moves]
        return {
            "action": self.action,
            "group": self.group,
            "group_type": self.group_type,
            "topics": self.topics,
            "to": to,
        }

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if the group isn't verified empty or a topic isn't the one it was."""
        if again and _all_there(inspector, self.group, self.moves):
            return
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        # A group whose last offset is deleted, or has expired, is gone; a commit recreates it.
        check_gone_or_inactive(inspector, self.group, self.group_type, again=True)
        check_topics(inspector, self.topics)

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster, the group's type and the topics must be the same ones."""
        return {
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": self.group, "type": self.group_type},
            "topics": topic_facts(inspector.kafka.topics(self.topics)),
        }

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Refuse where a topic is another one, or the group is active and stays so."""
        topics = topic_facts(inspector.kafka.topics(self.topics))
        found = [
            _unfit(name, facts, topics.get(name))
            for name, facts in sorted(self.topics.items())
            if topics.get(name) != facts
        ]
        group = inspector.kafka.group(self.group)
        if not group.is_inactive and not (stops and group.state != "dead"):
            found.append(active_reason(inspector, self.group))
        return tuple(found)

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say until when the old offsets still find their records, and what stays."""
        to = {(m.topic, m.partition): m.to.offset for m in self.moves if m.to is not None}
        return (
            *expiry_risks(inspector, to),
            *self._expired(inspector),
            "results of records that the group processed after the run are not rolled back",
        )

    def _expired(self, inspector: Inspector) -> list[str]:
        """Name the offsets that retention has passed: they come back, but their records don't."""
        begin = {
            (t.name, p.number): p.begin
            for t in inspector.kafka.topics(self.topics).values()
            for p in t.partitions
        }
        return [
            (
                f"offset {m.to.offset} of {m.topic}[{m.partition}] is before the earliest offset "
                f"{first}. The undo restores it, but then the consumer applies auto.offset.reset"
            )
            for m in self.moves
            if m.to is not None
            and (first := begin.get((m.topic, m.partition))) is not None
            and m.to.offset < first
        ]

    def preview(self, inspector: Inspector) -> Self:
        """Fill in what each partition is at now."""
        now = committed(inspector, self.group)
        moves = (replace_was(m, now.get((m.topic, m.partition))) for m in self.moves)
        return replace(self, offsets=tuple(m.shown() for m in moves))

    def lag(self) -> int:
        """Return the sum over its partitions, as `preview` found them."""
        return sum(max((m["to"] or 0) - (m["from"] or 0), 0) for m in self.offsets)

    def bind(self, applier: Applier) -> PriorState:
        """Read what is committed now, for the record."""
        now = committed(applier, self.group)
        return {
            "moves": [replace_was(m, now.get((m.topic, m.partition))).row() for m in self.moves]
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether every partition is as it was."""
        return _all_there(applier, self.group, self.moves)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit the old offsets and delete those that there were none of."""
        _go(applier, self.group, self.moves)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a partition is not as it was."""
        _verify(applier, self.group, self.moves)


def _unfit(topic: str, planned: Mapping[str, Any], now: Mapping[str, Any] | None) -> str:
    """Say why the old offsets of a topic can't be restored."""
    if now is None:
        return (
            f"topic {topic} no longer exists, so its old offsets can't be restored. Create the "
            "topic, then set offsets with `headgate plan from-point`"
        )
    had = plural(planned["partitions"], "partition")
    what = (
        f"had {had} before the run, but now has {now['partitions']}"
        if now["id"] == planned["id"]
        else "was recreated since the run"
    )
    return (
        f"topic {topic} {what}, so Headgate can't restore its old offsets. Set offsets with "
        "`headgate plan from-point`"
    )


def _all_there(inspector: Inspector, group_id: str, moves: Iterable[Move]) -> bool:
    now = committed(inspector, group_id)
    return all(now.get((m.topic, m.partition)) == m.to for m in moves)


def _go(applier: Applier, group_id: str, moves: Iterable[Move]) -> None:
    """Commit what is to be committed, also what is there already, then delete what is not to be."""
    moves = tuple(moves)
    if alter := [_offset(m, m.to) for m in moves if m.to is not None]:
        applier.kafka.alter_offsets(group_id, alter)
    if gone := [(m.topic, m.partition) for m in moves if m.to is None]:
        now = committed(applier, group_id)
        if delete := [part for part in gone if part in now]:
            applier.kafka.delete_offsets(group_id, delete)
    applier.progress(len(moves), len(moves), "partitions")


def _offset(move: Move, to: Commit) -> GroupOffset:
    return GroupOffset(topic=move.topic, partition=move.partition, **to.row())


def _verify(applier: Applier, group_id: str, moves: Iterable[Move]) -> None:
    now = committed(applier, group_id)
    wrong = [_wrong(m, now.get((m.topic, m.partition))) for m in moves]
    wrong = [text for text in wrong if text]
    if wrong:
        raise StepError(
            f"group {group_id} doesn't have the planned offsets: {'; '.join(wrong[:_SHOWN])}. A "
            "consumer of the group probably commits offsets. Stop the group's consumers, then "
            "resume the run"
        )


def _wrong(move: Move, now: Commit | None) -> str:
    """Say how what is committed differs from where the partition goes; empty if it doesn't."""
    if now == move.to:
        return ""
    part = f"{move.topic}[{move.partition}]"
    if now is not None and move.to is not None and now.offset == move.to.offset:
        return f"the commit for {part} at offset {now.offset} has another leader epoch or metadata"
    return f"the committed offset of {part} is {_word(now)}, not {_word(move.to)}"


def _word(commit: Commit | None) -> str:
    return "none" if commit is None else str(commit.offset)
