"""Put backed-up records back, and give topics their settings again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Effects, World
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import Step, Was
from headgate.reprocess.steps.base.verify_stopped import prove_stopped
from headgate.text.numbers import named


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRecords(StepBase):
    """Put backed-up records back into their topics, which hold nothing else afterwards.

    `backup` maps a topic to its backup topic. What a topic holds now is deleted first: it was
    written since. Each record has its partition, key, value, headers, timestamp and order again,
    and another offset. Of a topic in `ids` the id says which one it was: while that one is there
    it was never deleted, and stays as it is.
    """

    action: ClassVar[str] = "restore_records"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    backup: dict[str, str]
    pipeline: str | None = None
    group: str | None = None
    ids: dict[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"put the backed-up records of {named(self.backup)} back, in place of newer ones"

    def facts(self, world: World) -> dict[str, Any]:
        """The cluster must be the same one, and the backup topics there."""
        return {"cluster_id": world.cluster_id()}

    def blockers(self, world: World) -> tuple[str, ...]:
        """Refuse where a backup topic is gone."""
        needed = self._lost(world).values()
        gone = needed - world.shapes(needed).keys()
        return (f"the backed-up records are gone: no topic {named(gone)}",) if gone else ()

    def risks(self, world: World) -> tuple[str, ...]:
        """Say what differs afterwards, and who is hit by it."""
        backup = self._lost(world)
        if not backup:
            return ()
        risks = [
            f"records put back into {named(backup)} have other offsets than before:"
            " an offset that somebody noted of them means another record now"
        ]
        held = {n: t.records for n, t in world.topics(backup).items() if t.records}
        risks += [
            f"{name} holds {count} record(s) that were written since: they are deleted"
            for name, count in sorted(held.items())
        ]
        for name, groups in sorted(world.topic_readers(backup).items()):
            if groups:
                risks.append(f"{named(groups)} gets the records put back into {name} once more")
        return tuple(risks)

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the pipeline runs or something is missing."""
        prove_stopped(world, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(world, self.group, None, again=True)
        lost = self._lost(world)
        wanted = {*lost, *lost.values()}
        if gone := wanted - world.shapes(wanted).keys():
            raise RefusedError(f"topic {named(gone)} does not exist: nothing can be put back")

    def bind(self, effects: Effects) -> Was:
        """Decide up to where the topics are emptied first."""
        topics = effects.topics(self._lost(effects))
        ends = {
            name: {str(p.number): p.end for p in topic.partitions if p.end != p.begin}
            for name, topic in topics.items()
        }
        return {"before": ends}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Never: `apply` goes on behind what is back already."""
        return False

    def apply(self, effects: Effects, was: Was) -> None:
        """Delete what was written since, and copy what is missing."""
        before = {(t, int(n)): end for t, ends in was["before"].items() for n, end in ends.items()}
        effects.delete_records(before)
        for name, backup in sorted(self._lost(effects).items()):
            effects.restore_records(backup, name)

    def verify(self, effects: Effects, was: Was) -> None:
        """Compare record by record with what was backed up."""
        for name, backup in sorted(self._lost(effects).items()):
            digests = effects.verify_restored(backup, name).values()
            count = sum(d.records for d in digests)
            effects.note(f"{name} holds what was backed up of it again: {count} record(s)")

    def undo(self, was: Was) -> tuple[Step, ...]:
        """An undo is not undone: plan anew."""
        return ()

    def _lost(self, world: World) -> dict[str, str]:
        """Return topics, and where they are backed up, but those that were never deleted."""
        there = world.identities(self.ids) if self.ids else {}
        kept = {name for name, (id_, _) in there.items() if id_ == self.ids[name]}
        return {name: at for name, at in self.backup.items() if name not in kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureTopics(StepBase):
    """Give topics settings of their own: those in `configs` (by topic), and no others."""

    action: ClassVar[str] = "configure_topics"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    configs: dict[str, dict[str, str]]

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"give {named(self.configs)} the settings of before"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where a topic is missing."""
        if gone := self.configs.keys() - world.shapes(self.configs).keys():
            raise RefusedError(f"topic {named(gone)} does not exist")

    def bind(self, effects: Effects) -> Was:
        """Read the settings that they have now."""
        return {"configs": {n: s.configs for n, s in effects.shapes(self.configs).items()}}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether each has them."""
        now = effects.shapes(self.configs)
        return all(n in now and now[n].configs == configs for n, configs in self.configs.items())

    def apply(self, effects: Effects, was: Was) -> None:
        """Set what differs, and take away what is not among them."""
        for name, configs in sorted(self.configs.items()):
            effects.configure_topic(name, configs)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where a topic has others."""
        effects_now = effects.shapes(self.configs)
        wrong = [n for n, c in self.configs.items() if effects_now[n].configs != c]
        if wrong:
            raise StepError(f"settings of {named(wrong)} are not as they were to be")

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Give them the settings of before."""
        return (ConfigureTopics(configs=was["configs"]),)
