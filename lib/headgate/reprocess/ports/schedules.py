"""What steps ask of schedules, and do to them."""

from __future__ import annotations

from typing import Protocol

from headgate.model.schedules import Schedule, StoredSchedule


class ScheduleInspector(Protocol):
    """What may be asked; a plan, which has no run, finds none."""

    def schedule(self, pipeline: str) -> StoredSchedule | None:
        """Return the pipeline's schedule, None if it has none."""


class ScheduleApplier(ScheduleInspector, Protocol):
    """What a step may do to them."""

    def put(self, schedule: Schedule) -> None:
        """Write the schedule in the run's name, in the stead of the pipeline's other one."""

    def restore(self, pipeline: str, before: StoredSchedule | None) -> None:
        """Write a schedule as it was; with None, remove it."""
