"""Write the schedule of a pipeline's bounded runs, and restore what was there before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from headgate.errors import StepError
from headgate.model.schedules import Missed, Schedule, StoredSchedule
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step

_MISSED = {
    Missed.ONCE: "one run for all missed ticks of the schedule",
    Missed.SKIP: "no run for missed ticks of the schedule",
    Missed.ALL: "one run for each missed tick of the schedule",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSchedule(StepBase):
    """Write the schedule; the worker then runs the pipeline at each tick.

    `before` is when the pipeline's other schedule is due, `none` without one.
    """

    action: ClassVar[str] = "set_schedule"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    schedule: Schedule
    before: str = "none"

    def describe(self) -> str:
        limits, target = self.schedule.limits, self.schedule.approved.get("target")
        more = [_MISSED[self.schedule.missed]]
        more += [f"at most {limits} per run"] if limits else []
        more += [f"output: {target}"] if target else []
        return (
            f"set schedule of {self.pipeline}: {self.before} -> {self.schedule.when}; "
            f"{', '.join(more)}"
        )

    def bind(self, applier: Applier) -> PriorState:
        """Keep the schedule that it replaces."""
        return {"before": _document(applier.schedules.schedule(self.pipeline))}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Whether this run has written it."""
        found = applier.schedules.schedule(self.pipeline)
        return found is not None and (found.schedule, found.run) == (self.schedule, applier.run)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write it in the run's name: who requested and approved the run is kept with it."""
        applier.schedules.put(self.schedule)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where another one is there."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"the schedule of {self.pipeline} isn't the planned schedule: another run "
                "replaced it. To see the current schedule, run `headgate schedules "
                f"{self.pipeline}`"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the earlier schedule; if there was none, remove the schedule."""
        before = was["before"]
        now = self.schedule.when
        return (RestoreSchedule(pipeline=self.pipeline, before=before, now=now),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSchedule(StepBase):
    """Restore a pipeline's earlier schedule; if it had none, remove the schedule."""

    action: ClassVar[str] = "restore_schedule"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    pipeline: str
    before: dict[str, Any] | None
    now: str

    def describe(self) -> str:
        before = _stored(self.before)
        if before is None:
            return f"remove schedule of {self.pipeline}: {self.now} -> none"
        return f"restore schedule of {self.pipeline}: {self.now} -> {before.schedule.when}"

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Whether the schedule is that of before."""
        found, before = applier.schedules.schedule(self.pipeline), _stored(self.before)
        if found is None or before is None:
            return found is before
        return (found.run, found.created_at) == (before.run, before.created_at)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write or remove it."""
        applier.schedules.restore(self.pipeline, _stored(self.before))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where another one is there."""
        if not self.is_applied(applier, was):
            what = (
                f"{self.pipeline} still has a schedule: another run set it"
                if self.before is None
                else f"the earlier schedule of {self.pipeline} isn't restored: another run "
                "replaced it"
            )
            raise StepError(
                f"{what}. To see the current schedule, run `headgate schedules {self.pipeline}`"
            )


def _document(stored: StoredSchedule | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = msgspec.to_builtins(stored)
    return found


def _stored(document: dict[str, Any] | None) -> StoredSchedule | None:
    return None if document is None else msgspec.convert(document, type=StoredSchedule)
