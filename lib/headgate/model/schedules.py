"""Schedules of bounded runs: when they are due, within which limits, and what came of each tick."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.text.numbers import exact, plural


class Missed(StrEnum):
    """What becomes of ticks that could not run in time: one run, none, or a run each."""

    ONCE = "once"
    SKIP = "skip"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What was approved: when `pipeline` has a bounded run, and its limits.

    One of `cron` (five fields, UTC), `every` (seconds), `lag` (records) and `quiet` (seconds) is
    given. `limit_records` and `time_limit` (seconds) are the limits of each run. `options` are
    those of the bounded run. `approved` holds the `hash` and `preconditions` of the bounded plan
    that was shown, and its `target`: a run that differs from these waits as a request.
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
        """Whether the clock decides when it is due, not the data."""
        return self.cron is not None or self.every is not None

    @property
    def when(self) -> str:
        """Return when it is due, for people."""
        if self.cron is not None:
            return f"cron {self.cron} (UTC)"
        if self.every is not None:
            return f"every {span_words(self.every)}"
        if self.lag is not None:
            return f"when lag exceeds {plural(self.lag, 'record', exact(self.lag))}"
        return f"when inputs are quiet for {span_words(self.quiet or 0)}"

    @property
    def limits(self) -> str:
        """Return its limits, for people; empty without any."""
        found = [f"{exact(self.limit_records)} records"] if self.limit_records else []
        found += [span_words(self.time_limit)] if self.time_limit else []
        return ", ".join(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The latest offsets of a pipeline's inputs (`topic:0`), and since when they are so.

    `ticked` says that they were the same at the newest tick. `since` is ISO 8601 in UTC.
    """

    ends: dict[str, int]
    since: str
    ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchedule:
    """A schedule as the store has it; times are ISO 8601 in UTC.

    `run` is the run that wrote it, `created_by` who requested that run, and `approved_by` who
    approved it, None if nobody had to. Ticks up to `counted_to` are recorded. `every` counts from
    `created_at`.
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
        """The pipeline, whose only schedule it is."""
        return self.schedule.pipeline

    @property
    def actor(self) -> str:
        """Who the audit trail names for what its ticks do."""
        return f"schedule of {self.pipeline}"


class TickState(StrEnum):
    """WAITING: it is due and not decided; the others are ends."""

    WAITING = "waiting"
    QUEUED = "queued"
    REQUESTED = "requested"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One time at which a schedule was due, and what came of it; times are ISO 8601 in UTC.

    `missed` earlier ticks are part of it. `at` is when its state changed last. A QUEUED tick has
    its `run`, a REQUESTED one its `request`; `reason` says why it waits, is a request, or was
    skipped.
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
    """Return a duration in its largest whole unit: `90 minutes`, `1 hour`, `10 seconds`."""
    size, word = next((u for u in _UNITS if seconds and not seconds % u[0]), _UNITS[-1])
    return plural(seconds // size, word)
