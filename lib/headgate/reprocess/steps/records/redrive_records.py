"""Redrive the records of a dead letter topic to the topic where they failed, or to another one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from headgate.errors import StepError
from headgate.model.dead_letters import MAX_ATTEMPTS, Decision, Selection
from headgate.reprocess.ports.dead_letters import Ledger, Progress
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics
from headgate.reprocess.steps.records.delete_retry_topic import DeleteRetryTopic
from headgate.text.numbers import name_list, plural

_WORDS = {
    Decision.REDRIVE: "redriven",
    Decision.ALREADY: "redriven by an earlier run",
    Decision.GUARDED: "at the maximum number of attempts",
    Decision.NO_TARGET: "without a target topic",
    Decision.UNSELECTED: "not selected",
}
_LEDGER = {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveRecords(StepBase):
    """Write the selected dead letters to their target topics, each exactly once.

    A transaction writes records, marks them as redriven and commits the step's progress, so a
    killed run resumes without duplicates or gaps. Key, value, timestamp and the failed record's
    headers are kept. Headers about the failure are removed, and four are added: attempts,
    idempotency key, dead letter and run.

    `topics` are the dead letter topic and existing targets with `id` and `partitions`; `targets`
    maps each target to its number of partitions. `new_topic` is a target that an earlier step of
    the run creates: then the undo deletes it. `count` is how many records are to be redriven, as
    far as the plan read the topic.
    """

    action: ClassVar[str] = "redrive_records"
    symbol: ClassVar[str] = "+"
    moving: ClassVar[frozenset[str]] = frozenset({"count"})
    topic: str
    topics: dict[str, dict[str, Any]]
    targets: dict[str, int]
    replication: int = 1
    to: str | None = None
    new_topic: str | None = None
    partitions: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    max_attempts: int = MAX_ATTEMPTS
    again: bool = False
    most: int | None = None
    rate: int | None = None
    count: int = field(default=0)

    @property
    def undoable(self) -> bool:
        """Whether all that is written goes to a topic of the run's own."""
        return self.new_topic is not None

    @property
    def ledger(self) -> Ledger:
        """Where Kafka keeps what was redriven of this topic; a recreated topic has another one."""
        return ledger_of(self.topic, str(self.topics[self.topic]["id"]))

    @property
    def selection(self) -> Selection:
        """Which records are redriven."""
        return Selection(
            topic=self.topic,
            to=self.to,
            targets=self.targets,
            partitions=self.partitions,
            reasons=self.reasons,
            sources=self.sources,
            since=self.since,
            until=self.until,
            max_attempts=self.max_attempts,
            again=self.again,
            most=self.most,
        )

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The ledger."""
        return (
            TopicShape(
                name=self.ledger.topic,
                id="",
                partitions=1,
                replication=self.replication,
                configs=dict(_LEDGER),
            ),
        )

    def describe(self) -> str:
        speed = f", at most {self.rate} records/s" if self.rate else ""
        return (
            f"redrive {plural(self.count, 'record')} of {self.topic} to "
            f"{name_list(self.targets)}{speed}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a topic is not the planned one."""
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Fix what is read: records that arrive later are left for another run."""
        spans = applier.dead_letters.stable_spans(self.topic, self.partitions)
        return {"spans": [asdict(span) for span in spans], "run": applier.run}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the run has come to the end of each partition, or to its limit."""
        at = applier.dead_letters.progress(self.ledger, was["run"])
        if self.most is not None and _total(at, Decision.REDRIVE) >= self.most:
            return True
        ends = {s.partition: s.end for s in _spans(was)}
        return all(p in at and at[p].offset >= end for p, end in ends.items())

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Create the ledger if there is none, and redrive what is left."""
        if self.ledger.topic not in applier.kafka.identities([self.ledger.topic]):
            applier.kafka.create_topic(*self.creates)
        applier.dead_letters.redrive(self.selection, _spans(was), self.ledger, self.rate)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the run has not come to the end; report what it did, by partition."""
        if not self.is_applied(applier, was):
            raise StepError(f"not all selected records of {self.topic} were read. Resume the run")
        at = applier.dead_letters.progress(self.ledger, was["run"])
        applier.note(f"records of {self.topic}: {_said(at.values())}")
        for number, done in sorted(at.items()):
            if done.counts and len(at) > 1:
                applier.note(f"records of {self.topic}[{number}]: {_said([done])}")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the retry topic that the run created; records in existing topics stay."""
        if self.new_topic is None:
            return ()
        back = DeleteRetryTopic(
            topic=self.new_topic,
            dead_letters=self.topic,
            ledger_topic=self.ledger.topic,
            transactional_id=self.ledger.transactional_id,
        )
        return (back,)

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """Say how much was written; empty where the run wrote nothing yet."""
        at = inspector.dead_letters.progress(self.ledger, was["run"])
        written = _total(at, Decision.REDRIVE)
        if not written:
            return ()
        return (
            f"can't be undone: {plural(written, 'record')} of {self.topic} "
            f"{'is' if written == 1 else 'are'} in {name_list(self.targets)}, where consumers may "
            "have read them",
        )


def ledger_of(topic: str, topic_id: str) -> Ledger:
    """Return the ledger of a dead letter topic; the id makes it another one's after a recreation.

    The topic's own name is not in that of the ledger's topic: consumers that subscribe to a pattern
    would read it.
    """
    short = hashlib.sha256(f"{topic} {topic_id}".encode()).hexdigest()[:8]
    return Ledger(topic=f"headgate-redriven-{short}", transactional_id=f"headgate-redrive-{topic}")


def _spans(was: PriorState) -> tuple[Span, ...]:
    return tuple(Span(**s) for s in was["spans"])


def _total(at: Mapping[int, Progress], decision: Decision) -> int:
    return sum(done.counts.get(decision, 0) for done in at.values())


def _said(found: Any) -> str:
    done = list(found)
    counts = {d: sum(p.counts.get(d, 0) for p in done) for d in Decision}
    said = [f"{n} {_WORDS[d]}" for d, n in counts.items() if n or d is Decision.REDRIVE]
    return ", ".join(said)
