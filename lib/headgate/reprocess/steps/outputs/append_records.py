"""Append a run's results to an existing topic: staged in a topic of the run, then written once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from headgate.errors import StepError
from headgate.model.cluster import GroupOffset
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.own_topic import own_topic
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics, known_log
from headgate.reprocess.steps.outputs.process_into_topic import ProcessIntoTopic
from headgate.reprocess.steps.outputs.process_records import Processing
from headgate.text.numbers import as_records, plural

_BEGUN = "begun"


def staged_topic(run: str) -> str:
    """Return the topic of a run's results; a consumer of the target's name doesn't read it."""
    return f"headgate-staged-{run}"


def publisher(run: str) -> str:
    """Return the group and the transactional id that write a run's results."""
    return f"headgate-append-{run}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecords(Processing):
    """Write the results to a staging topic with the planned number of partitions.

    `to` is the topic that they are for. It doesn't change.
    """

    action: ClassVar[str] = "stage_records"
    to: str
    shape: dict[str, Any]

    def describe(self) -> str:
        return (
            f"process {as_records(self.records)} of {', '.join(sorted(self.offsets))} with "
            f"{self.entry_point}{self.how}, and write the results to a staging topic"
        )

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The staging topic; its name ends with the run, which isn't known yet."""
        return (TopicShape(name=staged_topic("run"), id="", **self.shape),)

    def bind(self, applier: Applier) -> PriorState:
        """Decide the topic, and where its id is kept."""
        return {"run": applier.run, **self._inner(applier.run).bind(applier)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program into the topic, and count what came."""
        self._inner(was["run"]).apply(applier, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the topic is gone; its records were counted."""
        self._inner(was["run"]).verify(applier, was)

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the staging topic, and the group that reads it."""
        _, *more = self._inner(was["run"]).undo(was)
        return (DeleteStagedRecords(run=was["run"], record=was["record"]), *more)

    def _inner(self, run: str) -> ProcessIntoTopic:
        given = {f.name: getattr(self, f.name) for f in fields(Processing)}
        return ProcessIntoTopic(topic=staged_topic(run), shape=self.shape, **given)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecords(StepBase):
    """Write the staged results to the target topic in transactions; this can't be undone.

    A transaction also commits how far the run has come, so a resumed run writes no record twice.
    `topics` has the topic's `id` and `partitions`.
    """

    action: ClassVar[str] = "append_records"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    topic: str
    topics: dict[str, dict[str, Any]]

    def describe(self) -> str:
        return f"append each result to topic {self.topic} exactly once (can't be undone)"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the topic is not the planned one."""
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Choose the names, and the path of the record that the step was started."""
        return {"run": applier.run, "begun": f"{applier.folders.snapshot_folder()}/append-begun"}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the run has come to the end of each partition."""
        ends, at = _ends(applier, was["run"]), _committed(applier, was["run"])
        return bool(ends) and all(at.get(part) == end for part, end in ends.items())

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write what is left."""
        run = was["run"]
        if not _committed(applier, run):
            if applier.folders.read_record(was["begun"]) is not None:
                raise StepError(
                    f"Kafka no longer has the offsets of group {publisher(run)}, so "
                    f"Headgate doesn't know which results are already in topic {self.topic}. "
                    f"Compare this topic with topic {staged_topic(run)}, and write the missing "
                    f"results yourself. Then run `headgate undo {run}`, which deletes topic "
                    f"{staged_topic(run)}"
                )
            parts = _ends(applier, run)
            first = (GroupOffset(topic=staged_topic(run), partition=p, offset=0) for p in parts)
            applier.kafka.alter_offsets(publisher(run), first)
        applier.folders.write_record(was["begun"], _BEGUN)
        applier.records.publish(staged_topic(run), self.topic, publisher(run))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless all were written, and say how many."""
        if not self.is_applied(applier, was):
            raise StepError(f"not all results are in topic {self.topic}. Resume the run")
        count = sum(_ends(applier, was["run"]).values())
        applier.note(f"{plural(count, 'result')} appended to topic {self.topic}")

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """Say how many were written; empty where none was yet."""
        at = _committed(inspector, was["run"])
        if not at:
            return (
                f"can't be undone: Kafka has no offsets of group {publisher(was['run'])}, so "
                f"Headgate doesn't know whether topic {self.topic} has results of the run. To "
                f"find them, look for records with the header headgate.run={was['run']}",
            )
        written = sum(at.values())
        if not written:
            return ()
        are = "is" if written == 1 else "are"
        return (
            f"can't be undone: {plural(written, 'result')} of the run {are} in topic {self.topic}, "
            "where consumers may have read them. Their header headgate.run has the run id",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteStagedRecords(StepBase):
    """Delete the staging topic of the run with the results.

    In an undo, `run` and `record` (the file with the topic's id) are those of the run that is
    undone, and the group that read the topic is deleted, too. The run itself keeps the group: it
    says how many records were written.
    """

    action: ClassVar[str] = "delete_staged_records"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    run: str | None = None
    record: str | None = None

    def describe(self) -> str:
        return "delete the staging topic of the run"

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The cluster must be the same one."""
        return {"cluster_id": inspector.kafka.cluster_id()}

    def bind(self, applier: Applier) -> PriorState:
        """Decide which topic it is."""
        record = self.record or f"{applier.folders.snapshot_folder()}/created-topic"
        return {"run": self.run or applier.run, "record": record}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete the topic that the run has created, known by its id."""
        own = own_topic(applier, staged_topic(was["run"]), was["record"])
        if own is not None:
            applier.kafka.delete_topic(own)
        if self.run is not None:
            applier.kafka.delete_group(publisher(self.run))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if own_topic(applier, staged_topic(was["run"]), was["record"]) is not None:
            raise StepError(
                f"topic {staged_topic(was['run'])} still exists after the delete request. Check "
                "`delete.topic.enable` of the brokers, then resume the run"
            )


def _ends(inspector: Inspector, run: str) -> dict[int, int]:
    """Return the end of each partition of the staged topic; empty if it is gone."""
    name = staged_topic(run)
    found = inspector.kafka.topics([name]).get(name)
    return {p.number: known_log(name, p)[1] for p in found.partitions} if found else {}


def _committed(inspector: Inspector, run: str) -> dict[int, int]:
    """Return how far the run has come, by partition; empty before its first commit."""
    group = inspector.kafka.group(publisher(run))
    kept = (o for o in group.offsets if o.topic == staged_topic(run) and o.offset is not None)
    return {o.partition: o.offset or 0 for o in kept}
