"""Schedules, as whoever executes the run keeps them."""

from __future__ import annotations

from headgate.gateway.adapters.run_context import RunContext
from headgate.model.schedules import Schedule, StoredSchedule


class ScheduleAdapter:
    """See `reprocess.ports.schedules`."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def schedule(self, pipeline: str) -> StoredSchedule | None:
        """Return the pipeline's schedule, None if it has none."""
        return self._context.schedules.get(pipeline)

    def put(self, schedule: Schedule) -> None:
        """Write the schedule in the run's name."""
        self._context.schedules.put(schedule, self._context.run)

    def restore(self, pipeline: str, before: StoredSchedule | None) -> None:
        """Write a schedule as it was; with None, remove it."""
        self._context.schedules.restore(pipeline, before)
