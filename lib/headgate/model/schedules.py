"""Schedules of bounded runs: when they are due, their limits, and the result of each tick."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.text.numbers import exact, plural


class Missed(StrEnum):
    """What happens to missed ticks. ONCE: one run for all. SKIP: no run. ALL: one run each."""

    ONCE = "once"
    SKIP = "skip"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The approved schedule of a pipeline's bounded runs, and the limits of each run.

    Exactly one of `cron` (five fields, UTC), `every` (seconds), `lag` (records) and `quiet`
    (seconds) is set. `limit_records` and `time_limit` (seconds) limit each run. `options` are those
    of the bounded run. `approved` has the `hash`, the `preconditions` and the sink (`target`) of
    the approved plan. A run that differs from these becomes a request.
    """

    pipeline: str
    cron: str | None = None
    every: int | None = None
    lag: int | None = None
    quiet: int | None = None
    missed: Missed = Missed.ONCE
    limit_records: int | None = None
    time_limit: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    approved: dict[str, Any] = field(default_factory=dict)

    @property
    def is_timed(self) -> bool:
        """Whether the time decides when a tick is due, not the input."""
        return self.cron is not None or self.every is not None

    @property
    def when(self) -> str:
        """Return when a tick is due, as text for people."""
        if self.cron is not None:
            return f"cron {self.cron} (UTC)"
        if self.every is not None:
            return f"every {span_words(self.every)}"
        if self.lag is not None:
            return f"when lag exceeds {plural(self.lag, 'record', exact(self.lag))}"
        return f"when inputs get no new records for {span_words(self.quiet or 0)}"

    @property
    def limits(self) -> str:
        """Return the limits of a run as text for people; empty if there are none."""
        most = self.limit_records
        found = [plural(most, "record", exact(most))] if most else []
        found += [span_words(self.time_limit)] if self.time_limit else []
        return ", ".join(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The latest offsets of a pipeline's inputs (`topic:0`), and since when they are unchanged.

    `ticked`: the newest tick had the same offsets. `since` is ISO 8601 in UTC.
    """

    ends: dict[str, int]
    since: str
    ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchedule:
    """A schedule in the store; times are ISO 8601 in UTC.

    `run` is the run that created the schedule, `created_by` the user who requested the run, and
    `approved_by` the user who approved it, None if no approval was needed. Ticks up to `counted_to`
    are recorded. `every` counts from `created_at`.
    """

    schedule: Schedule
    run: str
    created_at: str
    created_by: str
    counted_to: str
    approved_by: str | None = None
    paused_at: str | None = None
    paused_by: str | None = None
    inputs: Inputs | None = None

    @property
    def pipeline(self) -> str:
        """The name of the pipeline; a pipeline has at most one schedule."""
        return self.schedule.pipeline

    @property
    def actor(self) -> str:
        """The actor in the audit trail for what the schedule's ticks do."""
        return f"schedule of {self.pipeline}"


class TickState(StrEnum):
    """WAITING: the tick is due but undecided. The other states are final."""

    WAITING = "waiting"
    QUEUED = "queued"
    REQUESTED = "requested"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One time at which a schedule was due, and its result; times are ISO 8601 in UTC.

    The tick includes `missed` earlier ticks. `at` is when the state last changed. A QUEUED tick has
    a `run`, a REQUESTED tick a `request`. `reason` says why the tick waits, became a request, or
    was skipped.
    """

    pipeline: str
    due_at: str
    state: TickState
    at: str
    missed: int = 0
    reason: str | None = None
    run: str | None = None
    request: str | None = None
    records: int | None = None


_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def span_words(seconds: int) -> str:
    """Return a duration in its largest unit without a remainder: `90 minutes`, `1 hour`."""
    size, word = next((u for u in _UNITS if seconds and not seconds % u[0]), _UNITS[-1])
    return plural(seconds // size, word)
