"""Where the new version's group begins, and where it continues after the switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics, known_log
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move, committed, moves_of
from headgate.reprocess.steps.offsets.reset_offsets import RestoreOffsets
from headgate.reprocess.steps.upgrade.drop_application import DropApplication
from headgate.reprocess.steps.upgrade.group_positions import (
    Part,
    in_flight,
    latest,
    positions,
    unread,
)
from headgate.text.numbers import as_records, name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOffsets(StepBase):
    """Set the new version's group to the committed offsets of the old version's group.

    `pipeline` and `group` are the new version's, `source` is the old version's group. With
    `earliest` the group begins at the earliest offsets instead. `application` says that the group
    is a Kafka Streams application, which the undo deletes with its internal topics.
    """

    action: ClassVar[str] = "copy_offsets"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    source: str
    topics: dict[str, dict[str, Any]]
    earliest: bool = False
    application: bool = False

    def describe(self) -> str:
        if self.earliest:
            return (
                f"set the offsets of group {self.group} to the earliest offsets of "
                f"{name_list(self.topics)}"
            )
        return f"copy the committed offsets of group {self.source} to group {self.group}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the new version runs, or a topic is another one."""
        check_stopped(inspector, self.pipeline)
        check_gone_or_inactive(inspector, self.group, None, again=True)
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Read both groups."""
        before = committed(applier, self.group)
        to = self._begins(applier) if self.earliest else positions(
            applier, self.source, self.topics
        )  # fmt: skip
        mine = {part for part in before if part[0] in self.topics}
        return {"moves": [_move(part, before, to).row() for part in sorted(mine | to.keys())]}

    def _begins(self, applier: Applier) -> dict[Part, int]:
        found = applier.kafka.topics(self.topics)
        return {(n, p.number): known_log(n, p)[0] for n, t in found.items() for p in t.partitions}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether every partition is where it was to go."""
        return self._set(was).is_applied(applier, was)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit the offsets."""
        self._set(was).apply(applier, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a partition is not where it was to go."""
        self._set(was).verify(applier, was)

    def _set(self, was: PriorState) -> RestoreOffsets:
        return _setter(self.pipeline, self.group, self.topics, moves_of(was))

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the group's earlier offsets; delete what the new application created."""
        if self.application:
            return (DropApplication(pipeline=self.pipeline, group=self.group),)
        moves = tuple(
            Move(topic=m.topic, partition=m.partition, was=m.to, to=m.was) for m in moves_of(was)
        )
        return (_setter(self.pipeline, self.group, self.topics, moves),) if moves else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOffsets(StepBase):
    """Make the new version continue where the old version stopped.

    A consumer group gets exactly the old group's offsets. An application with `has_state` keeps
    its own, because its state belongs to them; they must not be after the old ones.
    """

    action: ClassVar[str] = "switch_offsets"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    old: str
    source: str
    topics: dict[str, dict[str, Any]]
    has_state: bool = False

    def describe(self) -> str:
        if self.has_state:
            return (
                f"verify that {self.pipeline} stopped at or before the offsets at which "
                f"{self.old} stopped"
            )
        return (
            f"set the offsets of group {self.group} to the offsets at which group {self.source} "
            "stopped"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse unless both versions are stopped."""
        check_stopped(inspector, self.old, group=self.source)
        check_stopped(inspector, self.pipeline, group=self.group)
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Read where both have stopped."""
        before = committed(applier, self.group)
        at = positions(applier, self.source, self.topics)
        to = positions(applier, self.group, self.topics) if self.has_state else at
        moves = [_move(part, before, to).row() for part in sorted(to)]
        switch = [[t, p, offset] for (t, p), offset in sorted(at.items())]
        return {"moves": moves, "switch": switch}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether every partition is where it was to go."""
        return not self.has_state and self._set(was).is_applied(applier, was)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit the offsets, and say what may come twice."""
        if not self.has_state:
            self._set(was).apply(applier, was)
        self._tell(applier, _switch(was), {(m.topic, m.partition): m.was for m in moves_of(was)})

    def _tell(
        self, applier: Applier, switch: Mapping[Part, int], own: Mapping[Part, Commit | None]
    ) -> None:
        if self.has_state:
            behind = (at - c.offset for part, at in switch.items() if (c := own.get(part)))
            # What it has passed on to itself is older than its offsets, and not written yet.
            count = sum(max(offsets, 0) for offsets in behind) + in_flight(applier, self.group)
            applier.note(
                f"consumers get the results of {as_records(count)} twice: {self.old} "
                f"processed these records after {self.pipeline} had stopped"
                if count
                else f"{self.old} processed no records after {self.pipeline} had stopped, so "
                "consumers get no results twice"
            )
            return
        ends = latest(applier, self.topics)
        open_ = sum(ends[part] - at for part, at in switch.items() if part in ends)
        applier.note(
            f"{self.old} has stopped. Its committed offsets are {as_records(open_)} before "
            f"the latest offsets. If {self.old} already processed some of these records, consumers "
            "get their results twice"
            if open_
            else f"{self.old} has stopped. Its committed offsets are the latest offsets"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where a record would be skipped."""
        if after := unread(applier, self.source, positions(applier, self.group, self.topics)):
            names = name_list(f"{t}[{p}]" for t, p in after)
            raise RefusedError(
                f"{self.pipeline} has already read past the offsets at which {self.old} stopped: "
                f"{names}. Results would be lost. Run `headgate plan` again"
            )
        if not self.has_state:
            self._set(was).verify(applier, was)

    def _set(self, was: PriorState) -> RestoreOffsets:
        return _setter(self.pipeline, self.group, self.topics, moves_of(was))

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Count the records that the old version reprocesses from the offsets of the switch."""
        back = CountReprocessed(
            pipeline=self.pipeline,
            group=self.group,
            old=self.old,
            source=self.source,
            has_state=self.has_state,
            switch=tuple(
                {"topic": t, "partition": p, "offset": o} for (t, p), o in _switch(was).items()
            ),
        )
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountReprocessed(StepBase):
    """Count the records that the old version reprocesses after a rollback.

    `switch` are its offsets; `pipeline` and `group` are the new version's.
    """

    action: ClassVar[str] = "count_reprocessed"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    old: str
    source: str
    switch: tuple[dict[str, Any], ...]
    has_state: bool = False

    def describe(self) -> str:
        return (
            f"count the records that {self.pipeline} has processed since the switch: {self.old} "
            "reprocesses them"
        )

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say how many there are now."""
        count = self._count(inspector)
        again = (
            f"Consumers get the results of {as_records(count)} twice, because {self.pipeline} has "
            "processed them since the switch. The number grows"
            if count
            else f"{self.pipeline} has processed no records since the switch, so consumers get no "
            "results twice yet. This can change"
        )
        return (
            f"{self.old} continues at the offsets of the switch, so no record is lost. {again} "
            f"until {self.pipeline} stops",
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Note the number, now that the new version is stopped."""
        applier.note(
            f"{self.old} reprocesses {as_records(self._count(applier))} that {self.pipeline} has "
            "processed since the switch"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Nothing was changed."""

    def _count(self, inspector: Inspector) -> int:
        now = positions(inspector, self.group, {o["topic"] for o in self.switch})
        at = {(o["topic"], o["partition"]): o["offset"] for o in self.switch}
        count: int = sum(max(now.get(part, offset) - offset, 0) for part, offset in at.items())
        if self.has_state:
            # The old version had passed these on to itself when it stopped.
            count += in_flight(inspector, self.source)
        return count


def _move(part: Part, before: Mapping[Part, Commit], to: Mapping[Part, int]) -> Move:
    at = Commit(offset=to[part]) if part in to else None
    return Move(topic=part[0], partition=part[1], was=before.get(part), to=at)


def _switch(was: PriorState) -> dict[Part, int]:
    return {(topic, partition): offset for topic, partition, offset in was["switch"]}


def _setter(
    pipeline: str, group: str, topics: Mapping[str, dict[str, Any]], moves: tuple[Move, ...]
) -> RestoreOffsets:
    """Return what sets these offsets, whatever type the group has: its members decide that."""
    return RestoreOffsets(
        group=group,
        group_type="",
        topics={m.topic: topics[m.topic] for m in moves},
        moves=moves,
        pipeline=pipeline,
    )
