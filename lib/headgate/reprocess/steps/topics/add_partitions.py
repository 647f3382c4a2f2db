"""Give topics more partitions, and see an application at work on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState, check_topics
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.base.wait import Wait
from headgate.text.numbers import name_list, plural

# How long an application may take to join its group and to make its internal topics, and for how
# long a status of `stopped` means that it has ended.
PROVE_SECONDS, STOPPED_SECONDS = 180.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitions(StepBase):
    """Add partitions to topics; Kafka can't remove partitions.

    `topics` maps a name to its `id` and number of `partitions` before, `to` is the number after.
    A running Kafka Streams application would shut down as soon as it sees the new ones.
    """

    action: ClassVar[str] = "add_partitions"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    topics: dict[str, dict[str, Any]]
    to: int
    pipeline: str | None = None
    group: str | None = None
    group_type: str | None = None

    def describe(self) -> str:
        froms = [f"{n} ({t['partitions']})" for n, t in sorted(self.topics.items())]
        return f"increase partitions: {name_list(froms)} -> {self.to}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody runs, a topic is not the planned one, or the broker would refuse.

        After a crash some of them may have all their partitions already.
        """
        check_stopped(inspector, self.pipeline)
        if self.group is not None:
            check_gone_or_inactive(inspector, self.group, self.group_type, again=again)
        left = self._left(inspector) if again else self.topics
        check_topics(inspector, {name: self.topics[name] for name in left})
        if why := inspector.kafka.unraisable(dict.fromkeys(left, self.to)):
            raise RefusedError(
                f"{'; '.join(why.values())}. Correct the cause, then run `headgate plan` again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Remember how many there are; `check` has compared it with the plan."""
        return {"partitions": {name: facts["partitions"] for name, facts in self.topics.items()}}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Raise those that have fewer, and wait until all have their leaders."""
        self._left(applier)
        for name in sorted(self.topics):
            applier.kafka.add_partitions(name, self.to)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where one has another number, or another topic has its name."""
        now = applier.kafka.identities(self.topics)
        wrong = [
            f"{name} {self._differs(facts['id'], *now[name])}"
            if name in now
            else f"{name} no longer exists"
            for name, facts in sorted(self.topics.items())
            if now.get(name) != (facts["id"], self.to)
        ]
        if wrong:
            raise StepError(
                f"topics differ from the plan: {name_list(wrong)}. Check these topics, then run "
                "`headgate plan` again"
            )

    def _differs(self, planned_id: str, now_id: str, partitions: int) -> str:
        if now_id != planned_id:
            return "was recreated"
        return f"has {plural(partitions, 'partition')} (planned: {self.to})"

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...]:
        """Name the topics that keep more partitions than they had."""
        now = inspector.kafka.identities(self.topics)
        raised = [n for n, had in was["partitions"].items() if n in now and now[n][1] > had]
        if not raised:
            return ()
        return (
            f"can't be undone: Kafka can't remove partitions. Topics that keep {self.to} "
            f"partitions: {name_list(raised)}",
        )

    def _left(self, inspector: Inspector) -> list[str]:
        """Return those that have not enough; StalePlanError for one that was recreated since."""
        now = inspector.kafka.identities(self.topics)
        other = [n for n, t in self.topics.items() if n not in now or now[n][0] != t["id"]]
        if other:
            raise StalePlanError(
                "these topics were deleted or recreated since the plan was made: "
                f"{name_list(other)}. Run `headgate plan` again"
            )
        return [name for name in self.topics if now[name][1] < self.to]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyPartitions(StepBase):
    """Verify that the group is stable, and that the application recreated its topics.

    `topics` maps the internal topics that go to how many partitions each had, `to` is how many
    its inputs have now. It is said of each how many it has: one whose number is fixed in the code
    comes back with the same.
    """

    action: ClassVar[str] = "verify_partitions"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    topics: dict[str, int]
    to: int

    def describe(self) -> str:
        recreated = (
            f", and that {self.pipeline} recreates {name_list(self.topics)}" if self.topics else ""
        )
        return f"verify that group {self.group} is stable and has members{recreated}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait for both; StepError where it ends meanwhile, or does neither."""
        wait = Wait(applier=applier)
        while missing := self._missing(applier):
            has_ended = wait.look(self.pipeline)
            if wait.ended >= STOPPED_SECONDS or wait.seconds >= PROVE_SECONDS:
                how = "ended" if has_ended else f"was not ready after {wait.seconds:.0f} s"
                raise StepError(
                    f"{self.pipeline} {how} ({missing}). See the log of {self.pipeline}, correct "
                    "the cause, then resume the run"
                )
            wait.pause()
        applier.note(self._said(applier))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the waiting was the verification."""

    def _missing(self, applier: Applier) -> str | None:
        group = applier.kafka.group(self.group)
        if not group.members:
            return f"group {self.group} has no members"
        # Before that its leader may still find an internal topic of another number, and end.
        if not group.is_at_work:
            return f"group {self.group} is {group.state}, not stable"
        gone = sorted(self.topics.keys() - applier.kafka.identities(self.topics).keys())
        return f"topics not found: {name_list(gone)}" if gone else None

    def _said(self, applier: Applier) -> str:
        now = {name: count for name, (_, count) in applier.kafka.identities(self.topics).items()}
        said = [f"{name} ({plural(count, 'partition')})" for name, count in sorted(now.items())]
        fixed = [name for name, count in sorted(now.items()) if count != self.to]
        why = (
            (
                f". The code or another input sets the partitions of {name_list(fixed)}, so their "
                f"number isn't {self.to}"
            )
            if fixed
            else ""
        )
        made = f". Internal topics: {name_list(said)}{why}" if said else ""
        return f"group {self.group} is stable and has members{made}"
