"""Move a group's committed offsets, and put back what was committed before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import GroupOffset
from headgate.plan.expiry import expiry_risks
from headgate.plan.proof import prove_stopped
from headgate.plan.step import Step, Was, check_inactive, check_topics
from headgate.plan.steps.base import StepBase
from headgate.plan.target import Target, TopicPart, find
from headgate.plan.world import Effects, World

# Of many partitions only the first are named in a sentence.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What is committed for a partition."""

    offset: int
    leader_epoch: int | None = None
    metadata: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One partition's way: `from` is what was committed, None where nothing was."""

    topic: str
    partition: int
    was: Commit | None
    to: Commit | None

    def shown(self) -> dict[str, Any]:
        """Return it as the contract lists it, with `from` and `to` as plain offsets."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "from": self.was.offset if self.was else None,
            "to": self.to.offset if self.to else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOffsets(StepBase):
    """Write what the group has committed to a file, after the stop and before any move."""

    action: ClassVar[str] = "record_offsets"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    group: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"record the committed offsets of {self.group}"

    def check(self, world: World, *, again: bool = False) -> None:
        """Nothing to refuse: reading does no harm."""

    def bind(self, effects: Effects) -> Was:
        """Decide where the record goes."""
        return {"file": str(PurePosixPath(effects.snapshot_place()) / "offsets.json")}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Never: no offset was moved yet, so it is simply written anew."""
        return False

    def apply(self, effects: Effects, was: Was) -> None:
        """Write topic, partition, offset, leader epoch and metadata of every committed offset."""
        rows = [
            {"topic": t, "partition": p, **asdict(c)}
            for (t, p), c in sorted(committed(effects, self.group).items())
        ]
        text = json.dumps({"group": self.group, "offsets": rows}, indent=1) + "\n"
        effects.write_record(was["file"], text)

    def verify(self, effects: Effects, was: Was) -> None:
        """`write_record` returns only when the file is on disk."""

    def undo(self, was: Was) -> tuple[Step, ...]:
        """The record stays; nothing was changed."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsets(StepBase):
    """Move partitions of a group to `target`; what was committed is journalled for the undo.

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
        """Return one line for the preview, the command line and the journal alike."""
        names = ", ".join(sorted(self.topics))
        return (
            f"move {self.group} to {self.target.describe()} on {len(self.parts)} partition(s)"
            f" of {names}"
        )

    @property
    def parts(self) -> tuple[TopicPart, ...]:
        """The partitions that move, or are left where the target says so."""
        return chosen(self.topics, self.only)

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the group is not proven empty or a topic is not the planned one."""
        if self.pipeline is not None:
            prove_stopped(world, self.pipeline)
        check_inactive(world, self.group, self.group_type)
        check_topics(world, self.topics)

    def bind(self, effects: Effects) -> Was:
        """Read what is committed now, and find where each partition goes now."""
        before = committed(effects, self.group)
        at = {part: commit.offset for part, commit in before.items()}
        found = find(self.target, effects, effects.topics(self.topics), self.parts, at)
        if found.refusals:
            raise RefusedError("; ".join(found.refusals[:_SHOWN]))
        for risk in found.risks[:_SHOWN]:
            effects.note(risk)
        return {
            "moves": [
                asdict(Move(topic=t, partition=p, was=before.get((t, p)), to=Commit(offset=to)))
                for (t, p), to in found.to.items()
            ]
        }

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether every partition is where it was to go."""
        return _all_there(effects, self.group, moves_of(was))

    def apply(self, effects: Effects, was: Was) -> None:
        """Commit the new offsets."""
        _go(effects, self.group, moves_of(was))

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where a partition is not where it was to go."""
        _prove(effects, self.group, moves_of(was))

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Put back what was committed; what was not committed is deleted again."""
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
    """Put back what a group had committed, with metadata and leader epoch, or its absence."""

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
        """Return one line for the preview, the command line and the journal alike."""
        names = ", ".join(sorted(self.topics))
        gone = sum(m.to is None for m in self.moves)
        absent = f"; {gone} of them had none and get none" if gone else ""
        return f"put {self.group} back on {len(self.moves)} partition(s) of {names}{absent}"

    def details(self) -> dict[str, Any]:
        """Return everything the step holds; each partition with topic, partition, from, to."""
        shown = self.offsets or tuple(m.shown() for m in self.moves)
        return {**asdict(self), "moves": [asdict(m) for m in self.moves], "offsets": list(shown)}

    def intent(self) -> dict[str, Any]:
        """Return what is approved: where each partition goes."""
        to = [{k: v for k, v in asdict(m).items() if k != "was"} for m in self.moves]
        return {
            "action": self.action,
            "group": self.group,
            "group_type": self.group_type,
            "topics": self.topics,
            "to": to,
        }

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the group is not proven empty or a topic is not the one it was."""
        if again and _all_there(world, self.group, self.moves):
            # A group whose last offset is deleted is gone, and no longer proven empty.
            return
        if self.pipeline is not None:
            prove_stopped(world, self.pipeline)
        check_inactive(world, self.group, self.group_type)
        check_topics(world, self.topics)

    def risks(self, world: World) -> tuple[str, ...]:
        """Say until when the old offsets still find their records."""
        to = {(m.topic, m.partition): m.to.offset for m in self.moves if m.to is not None}
        return tuple(expiry_risks(world, to))

    def bind(self, effects: Effects) -> Was:
        """Read what is committed now, for the record."""
        now = committed(effects, self.group)
        return {
            "moves": [asdict(replace_was(m, now.get((m.topic, m.partition)))) for m in self.moves]
        }

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether every partition is as it was."""
        return _all_there(effects, self.group, self.moves)

    def apply(self, effects: Effects, was: Was) -> None:
        """Commit the old offsets and delete those that there were none of."""
        _go(effects, self.group, self.moves)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where a partition is not as it was."""
        _prove(effects, self.group, self.moves)

    def undo(self, was: Was) -> tuple[Step, ...]:
        """An undo is not undone: plan anew."""
        return ()


def replace_was(move: Move, now: Commit | None) -> Move:
    """Return the move with what is committed now."""
    return Move(topic=move.topic, partition=move.partition, was=now, to=move.to)


def moves_of(was: Was) -> tuple[Move, ...]:
    """Read the moves back from the journal."""
    return tuple(
        Move(
            topic=m["topic"],
            partition=m["partition"],
            was=Commit(**m["was"]) if m["was"] else None,
            to=Commit(**m["to"]) if m["to"] else None,
        )
        for m in was["moves"]
    )


def committed(world: World, group_id: str) -> dict[tuple[str, int], Commit]:
    """Return what is committed by partition; a partition without a commit is not in it."""
    return {
        (o.topic, o.partition): Commit(
            offset=o.offset, leader_epoch=_epoch(o), metadata=o.metadata or None
        )
        for o in world.group(group_id).offsets
        if o.offset is not None
    }


def _epoch(offset: GroupOffset) -> int | None:
    known = offset.leader_epoch is not None and offset.leader_epoch >= 0
    return offset.leader_epoch if known else None


def chosen(
    topics: Mapping[str, Mapping[str, Any]], only: Mapping[str, Iterable[int]]
) -> tuple[TopicPart, ...]:
    """Return the partitions that are meant, in order."""
    return tuple(
        (name, number)
        for name, facts in sorted(topics.items())
        for number in sorted(only.get(name, range(facts["partitions"])))
    )


def _all_there(world: World, group_id: str, moves: Iterable[Move]) -> bool:
    now = committed(world, group_id)
    return all(now.get((m.topic, m.partition)) == m.to for m in moves)


def _go(effects: Effects, group_id: str, moves: Iterable[Move]) -> None:
    """Move what is not there yet: what is to be committed first, deletions after that."""
    moves = tuple(moves)
    now = committed(effects, group_id)
    missing = [m for m in moves if now.get((m.topic, m.partition)) != m.to]
    if alter := [_offset(m, m.to) for m in missing if m.to is not None]:
        effects.alter_offsets(group_id, alter)
    if delete := [(m.topic, m.partition) for m in missing if m.to is None]:
        effects.delete_offsets(group_id, delete)
    effects.progress(len(moves), len(moves), "partitions")


def _offset(move: Move, to: Commit) -> GroupOffset:
    return GroupOffset(topic=move.topic, partition=move.partition, **asdict(to))


def _prove(effects: Effects, group_id: str, moves: Iterable[Move]) -> None:
    now = committed(effects, group_id)
    wrong = [
        f"{m.topic}[{m.partition}] is at {_word(now.get((m.topic, m.partition)))},"
        f" not at {_word(m.to)}"
        for m in moves
        if now.get((m.topic, m.partition)) != m.to
    ]
    if wrong:
        raise StepError(f"{group_id}: " + "; ".join(wrong[:_SHOWN]))


def _word(commit: Commit | None) -> str:
    return "no offset" if commit is None else str(commit.offset)
