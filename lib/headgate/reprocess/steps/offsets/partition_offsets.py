"""What a group has committed, and where each partition goes, as steps and the journal hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.model.cluster import Group, GroupOffset
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.offsets.target import TopicPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What is committed for a partition."""

    offset: int
    leader_epoch: int | None = None
    metadata: str | None = None

    def row(self) -> dict[str, Any]:
        """Return it as the journal holds it."""
        return {
            "offset": self.offset,
            "leader_epoch": self.leader_epoch,
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One partition's way: `from` is what was committed, None where nothing was."""

    topic: str
    partition: int
    was: Commit | None
    to: Commit | None

    def row(self) -> dict[str, Any]:
        """Return it as the journal holds it; `asdict` takes ten times as long."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "was": self.was.row() if self.was else None,
            "to": self.to.row() if self.to else None,
        }

    def shown(self) -> dict[str, Any]:
        """Return it as the contract lists it, with `from` and `to` as plain offsets."""
        was, to = (c.offset if c else None for c in (self.was, self.to))
        return shown(self.topic, self.partition, was, to)


def shown(topic: str, partition: int, was: int | None, to: int | None) -> dict[str, Any]:
    """Return a partition's way as the contract lists it."""
    return {"topic": topic, "partition": partition, "from": was, "to": to}


def replace_was(move: Move, now: Commit | None) -> Move:
    """Return the move with what is committed now."""
    return Move(topic=move.topic, partition=move.partition, was=now, to=move.to)


def moves_of(was: PriorState) -> tuple[Move, ...]:
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


def committed(inspector: Inspector, group_id: str) -> dict[tuple[str, int], Commit]:
    """Return what is committed by partition; a partition without a commit is not in it."""
    return commits_of(inspector.kafka.group(group_id))


def commits_of(group: Group) -> dict[tuple[str, int], Commit]:
    """Return `committed` of a group that was just read."""
    return {
        (o.topic, o.partition): Commit(
            offset=o.offset, leader_epoch=_epoch(o), metadata=o.metadata or None
        )
        for o in group.offsets
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
