"""Delete a group with its offsets, and recreate it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import GroupOffset
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, active_reason, check_inactive
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.partition_offsets import Commit, committed
from headgate.text.numbers import name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroup(StepBase):
    """Delete a group without members; the journal keeps its offsets for the undo."""

    action: ClassVar[str] = "delete_group"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    group: str
    group_type: str
    pipeline: str | None = None

    def describe(self) -> str:
        return f"delete group {self.group} with its offsets"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody is in the group; after a crash it may be gone."""
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        if again and is_gone(inspector, self.group):
            return
        check_inactive(inspector, self.group, self.group_type)

    def bind(self, applier: Applier) -> PriorState:
        """Read what is committed, and the ids of the topics that it is about."""
        found = committed(applier, self.group)
        topics = applier.kafka.topics({topic for topic, _ in found})
        return {
            "offsets": [
                {"topic": t, "partition": p, **asdict(c)} for (t, p), c in sorted(found.items())
            ],
            "topics": {name: topic.id for name, topic in sorted(topics.items())},
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone."""
        return is_gone(applier, self.group)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it."""
        applier.kafka.delete_group(self.group)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is there: somebody joined or committed."""
        if not is_gone(applier, self.group):
            raise StepError(
                f"group {self.group} was recreated: a consumer uses the group. Stop the "
                "consumer, then resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Recreate the group with its committed offsets."""
        if not was["offsets"]:
            return ()
        back = RestoreGroup(group=self.group, offsets=tuple(was["offsets"]), topics=was["topics"])
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreGroup(StepBase):
    """Recreate a deleted group with its offsets; `topics` are the ids of their topics.

    An offset of a topic that was deleted or recreated means nothing there and is left out.
    """

    action: ClassVar[str] = "restore_group"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    group: str
    offsets: tuple[dict[str, Any], ...]
    topics: dict[str, str | None]

    def describe(self) -> str:
        offsets = plural(len(self.offsets), "committed offset")
        return f"recreate group {self.group} with its {offsets}"

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Refuse where somebody uses the name by now."""
        return () if _is_free(inspector, self.group) else (active_reason(inspector, self.group),)

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """Of a group that the run deleted nothing can be verified but that it is gone."""
        return ()

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Name the topics whose offsets don't come back."""
        lost = {str(o["topic"]) for o in self.offsets} - {
            o["topic"] for o in self._alive(inspector)
        }
        if not lost:
            return ()
        return (
            (
                f"the undo doesn't restore the offsets of group {self.group} on topics that were "
                f"deleted or recreated since the run: {name_list(lost)}"
            ),
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody is in a group of that name."""
        if not _is_free(inspector, self.group):
            raise RefusedError(active_reason(inspector, self.group))

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether all that can come back is committed."""
        now = committed(applier, self.group)
        return all(now.get(part) == commit for part, commit in self._wanted(applier).items())

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Commit what can come back."""
        applier.kafka.alter_offsets(
            self.group,
            [
                GroupOffset(topic=t, partition=p, **asdict(c))
                for (t, p), c in self._wanted(applier).items()
            ],
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where an offset is another one."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"group {self.group} doesn't have its old offsets: a consumer probably commits "
                "offsets. Stop the group's consumers, then resume the run"
            )

    def _wanted(self, inspector: Inspector) -> Mapping[tuple[str, int], Commit]:
        return {
            (o["topic"], o["partition"]): Commit(
                offset=o["offset"], leader_epoch=o["leader_epoch"], metadata=o["metadata"]
            )
            for o in self._alive(inspector)
        }

    def _alive(self, inspector: Inspector) -> Iterable[dict[str, Any]]:
        now = inspector.kafka.topics(self.topics)
        return [
            o
            for o in self.offsets
            if o["topic"] in now and now[o["topic"]].id == self.topics[o["topic"]]
        ]


def is_gone(inspector: Inspector, group: str) -> bool:
    """Return whether no group of that name exists that may be seen."""
    found = inspector.kafka.group(group)
    return found.state == "dead" and found.members == () and not found.offsets


def _is_free(inspector: Inspector, group: str) -> bool:
    return is_gone(inspector, group) or inspector.kafka.group(group).is_inactive
