"""Put backed-up records back, and give topics their settings again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.topic_differences import topic_differences
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.records.back_up_records import filling
from headgate.text.numbers import as_records, name_list, plural

# Of many topics that are not as planned, only the first are named.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRecords(StepBase):
    """Restore backed-up records to their topics; newer records are deleted.

    `backup` maps a topic to its backup topic. What a topic holds now is deleted first: it was
    written since. Each record has its partition, key, value, headers, timestamp and order again,
    and another offset. `unread_by` is the group whose unread records they are. Of a topic in `ids`
    the id says which one it was: while that one is there it was never deleted, and stays as it is.
    """

    action: ClassVar[str] = "restore_records"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    backup: dict[str, str]
    pipeline: str | None = None
    group: str | None = None
    unread_by: str | None = None
    ids: dict[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        return (
            f"restore the backed-up records of {name_list(self.backup)} (newer records are deleted)"
        )

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one, and the backup topics there."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Refuse where a backup topic is gone."""
        gone = _absent(inspector, self._lost(inspector).values())
        return (_no_backup(gone),) if gone else ()

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what differs afterwards, and who is hit by it."""
        backup = self._lost(inspector)
        if not backup:
            return ()
        risks = [
            f"records restored to {name_list(backup)} get new offsets. Offsets that are stored "
            "outside Kafka no longer match these records"
        ]
        held = {n: t.records for n, t in inspector.kafka.topics(backup).items() if t.records}
        risks += [
            f"the undo deletes {as_records(count)} of {name} written after the run"
            for name, count in sorted(held.items())
        ]
        for name, readers in sorted(inspector.kafka.topic_consumers(backup).items()):
            if groups := readers.keys() - {self.unread_by}:
                risks.append(
                    f"consumers of {name} get duplicates of the restored records: "
                    f"{name_list(groups)}"
                )
        return tuple(risks)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs or something is missing."""
        check_stopped(inspector, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(inspector, self.group, None, again=True)
        lost = self._lost(inspector)
        if gone := _absent(inspector, lost.values()):
            raise RefusedError(_no_backup(gone))
        if gone := _absent(inspector, lost):
            raise RefusedError(
                f"topics not found: {name_list(gone)}. Headgate can't restore their records. "
                "Create these topics again, then undo the run again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide up to where the topics are emptied first."""
        topics = applier.kafka.topics(self._lost(applier))
        ends = {
            name: {str(p.number): p.end for p in topic.partitions if p.end != p.begin}
            for name, topic in topics.items()
        }
        return {"before": ends}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete what was written since, and copy what is missing."""
        before = {(t, int(n)): end for t, ends in was["before"].items() for n, end in ends.items()}
        applier.kafka.delete_records(before)
        for name, backup in sorted(self._lost(applier).items()):
            applier.records.restore(backup, name)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Compare record by record with what was backed up."""
        for name, backup in sorted(self._lost(applier).items()):
            digests = applier.records.verify_restored(backup, name).values()
            count = sum(d.records for d in digests)
            applier.note(f"backed-up records of {name} restored: {plural(count, 'record')}")

    def _lost(self, inspector: Inspector) -> dict[str, str]:
        """Return topics, and where they are backed up, but those that were never deleted."""
        there = inspector.kafka.identities(self.ids) if self.ids else {}
        kept = {name for name, (id_, _) in there.items() if id_ == self.ids[name]}
        return {name: at for name, at in self.backup.items() if name not in kept}


def _absent(inspector: Inspector, topics: Iterable[str]) -> set[str]:
    names = set(topics)
    return names - inspector.kafka.shapes(names).keys()


def _no_backup(gone: Iterable[str]) -> str:
    return (
        f"backup topics not found: {name_list(gone)}. Without them, Headgate can't restore the "
        "records. If you have a copy of these topics, recreate the topics from the copy, then undo "
        "the run again"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureTopics(StepBase):
    """Set the settings of each topic to those in `configs`, and remove all others."""

    action: ClassVar[str] = "configure_topics"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    configs: dict[str, dict[str, str]]

    def describe(self) -> str:
        names = name_list(self.configs)
        if all(configs == filling(configs) for configs in self.configs.values()):
            return f"change the settings of {names} for now, so that Kafka keeps restored records"
        return f"restore the topic settings of {names}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a topic is missing."""
        if gone := self.configs.keys() - inspector.kafka.shapes(self.configs).keys():
            raise RefusedError(
                f"topics not found: {name_list(gone)}. Headgate can't restore their settings. "
                "Create these topics again, then undo the run again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Read the settings that they have now."""
        return {"configs": {n: s.configs for n, s in applier.kafka.shapes(self.configs).items()}}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether each has them."""
        now = applier.kafka.shapes(self.configs)
        return all(n in now and now[n].configs == configs for n, configs in self.configs.items())

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Set what differs, and take away what is not among them."""
        for name, configs in sorted(self.configs.items()):
            applier.kafka.configure_topic(name, configs)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a topic has others."""
        planned = {name: {"configs": configs} for name, configs in self.configs.items()}
        if wrong := topic_differences(applier.kafka.shapes(self.configs), planned):
            raise StepError(
                f"topic settings differ from the plan: {'; '.join(wrong[:_SHOWN])}. Set the "
                "planned values, then resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the earlier settings."""
        return (ConfigureTopics(configs=was["configs"]),)
