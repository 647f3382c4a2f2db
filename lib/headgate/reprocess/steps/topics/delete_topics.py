"""Delete topics, recreate them as they were, and give them settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics
from headgate.reprocess.steps.base.topic_differences import topic_differences
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.process.stop_start import stop_with
from headgate.reprocess.steps.records.back_up_records import backup_topic_name, filling, spans_of
from headgate.reprocess.steps.records.restore_records import ConfigureTopics, RestoreRecords
from headgate.text.numbers import name_list, plural

# Of many topics that are not as planned, only the first are named.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopics(StepBase):
    """Delete topics by name and id; the journal keeps their settings for the undo.

    `topics` maps a name to its `id`, number of `partitions`, `replication` factor and own
    `configs` (see `topic_shapes`). If `group` is given, it is verified to be without members. If
    `pipeline` is given, its status command must say that it is stopped. `group` may have offsets of
    the topics, nobody else may have a member on them. With `backed_up` an earlier step of the run
    backed up their records, and the undo restores them; with `unread_backed_up` those that `group`
    had not read, which other steps of the undo restore. `outgrown` topics had fewer partitions than
    their application's inputs have: with them it would fail to start.
    """

    action: ClassVar[str] = "delete_topics"
    symbol: ClassVar[str] = "-"
    forgets: ClassVar[bool] = True
    topics: dict[str, dict[str, Any]]
    pipeline: str | None = None
    group: str | None = None
    group_type: str | None = None
    backed_up: bool = False
    unread_backed_up: bool = False
    outgrown: bool = False

    @property
    def undoable(self) -> bool:
        """Whether they are of use when they are back."""
        return not self.outgrown

    def describe(self) -> str:
        return f"delete {plural(len(self.topics), 'topic')}: {name_list(self.topics)}"

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """Say of outgrown ones why they don't come back; empty where all of them are there."""
        ids = {shape.name: shape.id for shape in shapes_of(was)}
        there = inspector.kafka.identities(ids)
        gone = [n for n in ids if n not in there or there[n][0] != ids[n]]
        if not gone:
            return ()
        return (
            f"can't be undone: {name_list(gone)} had fewer partitions than the inputs have now. "
            "With these old topics, the application would fail to start",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody runs or reads, or a topic is not the planned one.

        After a crash some of them may be gone already.
        """
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(inspector, self.group, self.group_type, again=again)
        left = inspector.kafka.shapes(self.topics) if again else self.topics
        check_topics(inspector, {name: self.topics[name] for name in left})
        check_unread(inspector, self.topics, but=self.group)

    def bind(self, applier: Applier) -> PriorState:
        """Read the settings that the topics have now."""
        shapes = applier.kafka.shapes(self.topics)
        backup = {name: backup_topic_name(applier.run, name) for name in self.topics}
        return {
            "shapes": [asdict(shapes[name]) for name in sorted(self.topics)],
            "backup": backup if self.backed_up else {},
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether all of them are gone."""
        return not applier.kafka.shapes(self.topics)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete those that exist; one recreated since is another topic: RefusedError."""
        shapes = shapes_of(was)
        for count, shape in enumerate(shapes):
            applier.pause(0)
            applier.progress(count, len(shapes), "topics")
            # An orchestrator may bring the application back between two of them.
            if self.group is not None:
                check_gone_or_inactive(applier, self.group, self.group_type, again=True)
            if shape.name in was["backup"]:
                check_all_backed_up(applier, shape.name, was["backup"][shape.name])
            applier.kafka.delete_topic(shape)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if one of them exists: something recreates it after the deletion."""
        if left := applier.kafka.shapes(self.topics):
            raise StepError(
                f"a client recreated topics right after the deletion: {name_list(left)}. Stop the "
                "client, then run `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Recreate the topics with partitions, replication, settings and backed-up records."""
        if self.outgrown:
            return ()
        shapes, backup = shapes_of(was), dict(was["backup"])
        whose = {"pipeline": self.pipeline, "group": self.group, "group_type": self.group_type}
        fill = [replace(s, configs=filling(s.configs)) if s.name in backup else s for s in shapes]
        back = RestoreTopics(
            shapes=tuple(asdict(s) for s in fill),
            backed_up=bool(backup),
            unread_backed_up=self.unread_backed_up,
            **whose,
        )
        if not backup:
            return (back,)
        configs = {s.name: s.configs for s in shapes if s.name in backup}
        ids = {s.name: s.id for s in shapes if s.name in backup}
        refill = RestoreRecords(backup=backup, pipeline=self.pipeline, ids=ids)
        return (back, refill, ConfigureTopics(configs=configs))


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTopics(StepBase):
    """Recreate deleted topics with the same partitions, replication and settings.

    One that exists and is another topic than the deleted one was made since, by the application
    that started: it is deleted first, with what it holds. The topic that was never deleted stays.
    Those whose records were `backed_up` are made to take records of any time and size, until their
    records have been restored.
    """

    action: ClassVar[str] = "restore_topics"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    shapes: tuple[dict[str, Any], ...]
    pipeline: str | None = None
    group: str | None = None
    group_type: str | None = None
    backed_up: bool = False
    unread_backed_up: bool = False

    def describe(self) -> str:
        return f"recreate {plural(len(self.shapes), 'deleted topic')}: {name_list(self._names)}"

    @property
    def _names(self) -> list[str]:
        return [shape["name"] for shape in self.shapes]

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """Stop the application, if it is known whose topics they are."""
        if self.pipeline is None:
            return None
        return (stop_with(commands, self.pipeline, group=self.group),)

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what doesn't come back, and what goes."""
        ids = {s["name"]: s["id"] for s in self.shapes}
        since = [
            name for name, found in inspector.kafka.shapes(ids).items() if found.id != ids[name]
        ]
        risks = []
        if since:
            risks.append(
                "the undo deletes topics that were created since the run, with their records: "
                f"{name_list(since)}"
            )
        if self.unread_backed_up:
            risks.append(
                f"of {name_list(self._names)}, the undo restores only the records that group "
                f"{self.group} had not read before the run"
            )
        elif not self.backed_up:
            risks.append(
                f"the records of {name_list(self._names)} are not restored: none were backed up"
            )
        return tuple(risks)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody runs or reads one that would be replaced."""
        if self.pipeline is not None:
            check_stopped(inspector, self.pipeline)
        if self.group is not None:
            # What commits made anew of a group is of the classic type, whatever it was before.
            check_gone_or_inactive(inspector, self.group, None, again=True)
        check_unread(inspector, self._names, but=self.group)

    def bind(self, applier: Applier) -> PriorState:
        """Find out which were made since, by their ids."""
        ids = {s["name"]: s["id"] for s in self.shapes}
        now = applier.kafka.shapes(ids)
        since = [asdict(found) for name, found in sorted(now.items()) if found.id != ids[name]]
        return {"since": since}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether each is there, and none is one that was made since."""
        return not self._missing(applier, was)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete what was made since, and make what is missing."""
        for shape in (TopicShape(**s) for s in was["since"]):
            now = applier.kafka.shapes([shape.name]).get(shape.name)
            if now is not None and now.id == shape.id:
                applier.kafka.delete_topic(shape)
        for shape in self._missing(applier, was):
            applier.kafka.create_topic(shape)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a topic is missing, or has not what it had; one never deleted has."""
        now = applier.kafka.shapes(self._names)
        made = [s for s in self.shapes if s["name"] not in now or now[s["name"]].id != s["id"]]
        if wrong := topic_differences(now, {s["name"]: s for s in made}):
            raise StepError(
                "the recreated topics differ from the deleted topics: "
                f"{'; '.join(wrong[:_SHOWN])}. Correct these topics, then resume the run"
            )

    def _missing(self, applier: Applier, was: PriorState) -> list[TopicShape]:
        since = {s["id"] for s in was["since"]}
        now = applier.kafka.shapes(self._names)
        there = {name for name, found in now.items() if found.id not in since}
        return [TopicShape(**s) for s in self.shapes if s["name"] not in there]


def topic_shapes(shapes: Mapping[str, TopicShape]) -> dict[str, dict[str, Any]]:
    """Return shapes as the steps hold them: by name, `id`, `partitions` and so on."""
    return {
        name: {k: v for k, v in asdict(shape).items() if k != "name"}
        for name, shape in sorted(shapes.items())
    }


def shapes_of(was: PriorState) -> tuple[TopicShape, ...]:
    """Read the shapes back from the journal."""
    return tuple(TopicShape(**s) for s in was["shapes"])


def check_unread(inspector: Inspector, topics: Iterable[str], *, but: str | None = None) -> None:
    """Refuse where a member of another group is on one of the topics."""
    for topic, groups in sorted(inspector.kafka.topic_consumers(topics).items()):
        active = sorted(group for group, is_active in groups.items() if is_active and group != but)
        if active:
            raise RefusedError(
                f"topic {topic} still has active consumer groups: {name_list(active)}. Stop their "
                "consumers first"
            )


def check_all_backed_up(applier: Applier, topic: str, backup: str) -> None:
    """Refuse where the topic holds records that came after the last backed-up one."""
    if applier.kafka.topics_in_transaction([topic]):
        raise RefusedError(
            f"a transaction is open on {topic}: a producer still writes to the topic. Stop the "
            "producer, then try again"
        )
    if since := applier.records.missing(spans_of(applier.kafka.topics([topic])), backup):
        raise RefusedError(
            f"records arrived after the backup: {name_list(since)}. Stop the producers, then try "
            "again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopics(StepBase):
    """Create topics with the partitions and settings of the old topics."""

    action: ClassVar[str] = "create_topics"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    topics: dict[str, dict[str, Any]]
    pipeline: str | None = None

    def describe(self) -> str:
        kept = {n for n, s in self.topics.items() if s["configs"].get("retention.ms") == "-1"}
        names = [f"{n} (retention.ms=-1)" if n in kept else n for n in self.topics]
        return f"create {plural(len(self.topics), 'topic')}: {name_list(names)}"

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The topics, in their order of names."""
        return tuple(
            TopicShape(name=name, **{**shape, "id": ""})
            for name, shape in sorted(self.topics.items())
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a name is taken."""
        if not again and (taken := inspector.kafka.shapes(self.topics)):
            raise RefusedError(
                f"topics already exist: {name_list(taken)}. Check which client created these "
                "topics, then run `headgate plan` again"
            )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Make those that are missing."""
        there = applier.kafka.shapes(self.topics)
        for shape in self.creates:
            if shape.name not in there:
                applier.kafka.create_topic(shape)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where one is missing, or is another one."""
        if wrong := topic_differences(applier.kafka.shapes(self.topics), self.topics):
            raise StepError(
                f"the new topics differ from the plan: {'; '.join(wrong[:_SHOWN])}. Correct these "
                "topics, then resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Keep the new topics and their records."""
        return ()
