"""Carry out steps: journal first, effect second, mark third; an undo starts with the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from headgate.errors import HeadgateError, RunCancelledError, StepError, UnreachableError
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.step import PriorState, Step, check_same_topics
from headgate.text.secrets import mask_text


class StepState(StrEnum):
    """What is known of a step; IN_DOUBT and FAILED may have had their effect in part."""

    WAITING = "waiting"
    IN_DOUBT = "in_doubt"
    FAILED = "failed"
    DONE = "done"
    UNDONE = "undone"

    @property
    def may_have_effect(self) -> bool:
        """Whether an undo has to check it."""
        return self in (StepState.DONE, StepState.IN_DOUBT, StepState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the journal says of one step; `was` is the prior state recorded when it first started.

    `reenabled` says that restarts, which the step suspended, were re-enabled when the run was
    cancelled.
    """

    state: StepState = StepState.WAITING
    was: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    reenabled: bool = False


class Journal(Protocol):
    """The run's own record; each call returns when it is on disk."""

    def record(self, position: int) -> Record:
        """Return what is known of the step."""

    def begin(self, position: int, was: dict[str, Any]) -> None:
        """Record that the effect is about to happen."""

    def done(self, position: int) -> None:
        """Record that the effect happened and was verified."""

    def failed(self, position: int, error: str, code: int) -> None:
        """Record that the step gave up; `code` is the exit code of its error."""

    def returning(self, position: int) -> None:
        """Record that the effect is about to be rolled back."""

    def undone(self, position: int) -> None:
        """Record that the effect was rolled back."""


class Executor:
    """Applies steps with `applier`; called again after a crash, it continues where it stopped.

    `topics` are those that the next step relies on (see `relied_topics`).
    """

    def __init__(
        self,
        applier: Applier,
        journal: Journal,
        topics: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.applier = applier
        self.journal = journal
        self.topics = topics or {}

    def apply(self, position: int, step: Step) -> None:
        """Carry out one step, unless it is done. If it was started before, check it first."""
        record = self.journal.record(position)
        if record.state is StepState.DONE:
            return
        try:
            self._apply(position, step, record)
        except HeadgateError as error:
            self.journal.failed(position, mask_text(str(error)), error.exit_code)
            raise
        self.journal.done(position)

    def _apply(self, position: int, step: Step, record: Record) -> None:
        was = record.was
        if record.begun:
            if step.is_applied(self.applier, was):
                step.verify(self.applier, was)
                return
            self._check_topics()
            step.check(self.applier, again=True)
        else:
            self.applier.pause(0)
            self._check_topics()
            step.check(self.applier)
            was = step.bind(self.applier)
            self.journal.begin(position, was)
        self._carry_out(step, was)

    def _check_topics(self) -> None:
        """Refuse if a topic was recreated since the run began."""
        if not self.topics:
            return
        # Without an answer the step decides: the start of a stopped pipeline needs no broker.
        with suppress(UnreachableError):
            check_same_topics(self.applier, self.topics)

    def _carry_out(self, step: Step, was: PriorState) -> None:
        """Apply and verify; a failure counts only if the step's goal isn't reached after it.

        A wait and a command each end at their own limit. What they waited for may come a moment
        later: a run that ends `failed` would then contradict the cluster state.
        """
        try:
            step.apply(self.applier, was)
            step.verify(self.applier, was)
        except RunCancelledError:
            raise
        except (StepError, UnreachableError) as error:
            if not self._is_reached(step, was):
                raise
            self.applier.note(
                f"A second check shows that the step is complete. Earlier error: {error}"
            )

    def _is_reached(self, step: Step, was: PriorState) -> bool:
        try:
            if not step.reached(self.applier, was):
                return False
            step.verify(self.applier, was)
        except RunCancelledError:
            raise
        except HeadgateError:
            # The first error says what went wrong.
            return False
        return True

    def roll_back(self, steps: Sequence[Step]) -> None:
        """Roll back all started steps, newest first: a blocked run leaves everything as it was.

        A cancel stops it between two steps and wherever one waits; the journal says at which.
        """
        for position in reversed(range(len(steps))):
            record = self.journal.record(position)
            if not (record.begun and record.state.may_have_effect):
                continue
            self.applier.pause(0)
            self.journal.returning(position)
            for back in steps[position].undo(record.was):
                self._perform(back)
            self.journal.undone(position)

    def _perform(self, step: Step) -> None:
        """Carry out a step of a rollback, which may have been started before a crash."""
        was = step.bind(self.applier)
        if step.is_applied(self.applier, was):
            return
        step.check(self.applier)
        self._carry_out(step, was)
