"""Delete topics, and make them anew as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.plan.proof import prove_stopped
from headgate.plan.step import Step, Was, check_inactive, check_topics
from headgate.plan.steps.base import StepBase
from headgate.plan.world import Effects, TopicShape, World

# Of many topics only the first are named in a sentence.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopics(StepBase):
    """Delete topics by name and id; their settings are journalled for the undo.

    `topics` maps a name to its `id`, number of `partitions`, `replication` factor and own
    `configs` (see `topic_shapes`). Where `group` is given it is proven to be without members, and
    where `pipeline` is given its status command must say that it is stopped. `group` may have
    offsets of the topics, nobody else may have a member on them.
    """

    action: ClassVar[str] = "delete_topics"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    topics: dict[str, dict[str, Any]]
    pipeline: str | None = None
    group: str | None = None
    group_type: str | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"delete {len(self.topics)} topic(s): {named(self.topics)}"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where somebody runs or reads, or a topic is not the planned one.

        After a crash some of them may be gone already.
        """
        if self.pipeline is not None:
            prove_stopped(world, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(world, self.group, self.group_type, again=again)
        left = world.shapes(self.topics) if again else self.topics
        check_topics(world, {name: self.topics[name] for name in left})
        check_unread(world, self.topics, but=self.group)

    def bind(self, effects: Effects) -> Was:
        """Read the settings that the topics have now."""
        shapes = effects.shapes(self.topics)
        return {"shapes": [asdict(shapes[name]) for name in sorted(self.topics)]}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether all of them are gone."""
        return not effects.shapes(self.topics)

    def apply(self, effects: Effects, was: Was) -> None:
        """Delete those that are there; one made anew since is another topic and refused."""
        for shape in shapes_of(was):
            effects.pause(0)
            # An orchestrator may bring the application back between two of them.
            if self.group is not None:
                check_gone_or_inactive(effects, self.group, self.group_type, again=True)
            effects.delete_topic(shape)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where one of them is there: something makes it anew when it is gone."""
        if left := effects.shapes(self.topics):
            raise StepError(f"made anew right after it was deleted: {named(left)}: who uses it?")

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Make them anew with partitions, replication and settings; the records are gone."""
        shapes = tuple(asdict(s) for s in shapes_of(was))
        back = RestoreTopics(
            shapes=shapes, pipeline=self.pipeline, group=self.group, group_type=self.group_type
        )
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTopics(StepBase):
    """Make deleted topics anew with the same partitions, replication and settings.

    One that exists and is another topic than the deleted one was made since, by the application
    that started: it is deleted first, with what it holds. The topic that was never deleted stays.
    """

    action: ClassVar[str] = "restore_topics"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    shapes: tuple[dict[str, Any], ...]
    pipeline: str | None = None
    group: str | None = None
    group_type: str | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        names = [shape["name"] for shape in self.shapes]
        return f"make {len(names)} deleted topic(s) anew, with their settings: {named(names)}"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where somebody runs or reads one that would be replaced."""
        if self.pipeline is not None:
            prove_stopped(world, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(world, self.group, self.group_type, again=True)
        check_unread(world, [s["name"] for s in self.shapes], but=self.group)

    def bind(self, effects: Effects) -> Was:
        """Find out which were made since, by their ids."""
        wanted = {s["name"]: s for s in self.shapes}
        now = effects.shapes(wanted)
        kept = sorted(name for name, found in now.items() if found.id == wanted[name]["id"])
        since = [asdict(found) for name, found in sorted(now.items()) if name not in kept]
        return {"kept": kept, "since": since}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether each is there, and none is one that was made since."""
        return not self._missing(effects, was)

    def apply(self, effects: Effects, was: Was) -> None:
        """Delete what was made since, and make what is missing."""
        for shape in (TopicShape(**s) for s in was["since"]):
            now = effects.shapes([shape.name]).get(shape.name)
            if now is not None and now.id == shape.id:
                effects.delete_topic(shape)
        for shape in self._missing(effects, was):
            effects.create_topic(shape)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where a topic is missing, or has not what it had."""
        now = effects.shapes(s["name"] for s in self.shapes)
        wrong = [s["name"] for s in self.shapes if not _is_like(now.get(s["name"]), s)]
        if wrong:
            raise StepError(f"not made anew as they were: {named(wrong)}")

    def _missing(self, effects: Effects, was: Was) -> list[TopicShape]:
        since = {s["id"] for s in was["since"]}
        now = effects.shapes(s["name"] for s in self.shapes)
        there = {name for name, found in now.items() if found.id not in since}
        return [TopicShape(**s) for s in self.shapes if s["name"] not in there]


def topic_shapes(shapes: Mapping[str, TopicShape]) -> dict[str, dict[str, Any]]:
    """Return shapes as the steps hold them: by name, `id`, `partitions` and so on."""
    return {
        name: {k: v for k, v in asdict(shape).items() if k != "name"}
        for name, shape in sorted(shapes.items())
    }


def shapes_of(was: Was) -> tuple[TopicShape, ...]:
    """Read the shapes back from the journal."""
    return tuple(TopicShape(**s) for s in was["shapes"])


def named(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def check_gone_or_inactive(
    world: World, group: str, planned_type: str | None, *, again: bool
) -> None:
    """Refuse unless nobody is in the group; one whose last offset went with a topic is gone.

    Kafka forgets the offsets of a topic with the topic, so once something was deleted a group
    that does not exist any more is what is left of an empty one.
    """
    found = world.group(group)
    if again and found.state == "dead" and found.members == ():
        return
    check_inactive(world, group, planned_type or found.type.value)


def check_unread(world: World, topics: Iterable[str], *, but: str | None = None) -> None:
    """Refuse where a member of another group is on one of the topics."""
    for topic, groups in sorted(world.topic_readers(topics).items()):
        active = sorted(group for group, is_active in groups.items() if is_active and group != but)
        if active:
            raise RefusedError(f"{topic} is being read by {named(active)}: stop it first")


def _is_like(found: TopicShape | None, planned: Mapping[str, Any]) -> bool:
    same = ("partitions", "replication", "configs")
    return found is not None and all(getattr(found, key) == planned[key] for key in same)
