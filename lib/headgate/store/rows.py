"""What rows of the store say: plain values, so that who only reads them needs no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class RunState(StrEnum):
    """The life of a run; the last four are ends, and FAILED and CANCELLED can be resumed."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_active(self) -> bool:
        """Whether a worker has it or will take it."""
        return self in (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """One run without its plan, whose text may be long; `slot` is the worker that has or had it.

    `attempt` counts from 1 and grows with every resume. Times are ISO 8601 in UTC.
    """

    id: str
    scenario: str
    pipeline: str | None
    plan_hash: str
    state: RunState
    created_at: str
    created_by: str
    started_at: str | None = None
    ended_at: str | None = None
    error: str | None = None
    undo_of: str | None = None
    attempt: int = 1
    slot: str | None = None
    cancel_requested: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(RunFacts):
    """One run. `plan` is the plan's JSON text."""

    plan: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs to list: those that fit every field; None and no `states` fit all runs."""

    pipeline: str | None = None
    scenario: str | None = None
    undo_of: str | None = None
    states: tuple[RunState, ...] = ()

    @property
    def equal(self) -> dict[str, str]:
        """The columns that must have one value each."""
        asked = {"pipeline": self.pipeline, "scenario": self.scenario, "undo_of": self.undo_of}
        return {column: value for column, value in asked.items() if value is not None}


ALL_RUNS = RunFilter()
ACTIVE_RUNS = RunFilter(states=tuple(state for state in RunState if state.is_active))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What is asked for; `resources` are what no other run may touch meanwhile."""

    scenario: str
    pipeline: str | None
    plan_hash: str
    plan: str
    resources: tuple[str, ...]
    undo_of: str | None = None


class Origin(StrEnum):
    """Who added a version: the worker that saw the pipeline like this, or somebody's capture.

    A capture may be what is to be deployed next: it says nothing of what runs.
    """

    OBSERVED = "observed"
    CAPTURED = "captured"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """What a list of versions shows; `captured_at` is ISO 8601 in UTC."""

    pipeline: str
    number: int
    captured_at: str
    fingerprint: str
    summary: str
    origin: Origin


class Event(StrEnum):
    """What an entry says of its step; ASKED and CONFIRMED leave its state as it is.

    RETURNING at position -1 is the beginning of a run's own roll-back.
    """

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    RETURNING = "returning"
    UNDONE = "undone"
    ASKED = "asked"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One line of the journal: `data` of a BEGUN holds `was`, of a FAILED the `error`."""

    run: str
    position: int
    event: Event
    data: dict[str, Any] = field(default_factory=dict)
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """`done` of `total` units (`records`, `partitions`, `bytes`, `files`) of one step.

    `total` is None where it is not known. `first_done` and `first_at` are the first count of the
    step's latest try, so that the rate is that of the work and not of what was there before it.
    Times are ISO 8601 in UTC.
    """

    run: str
    position: int
    unit: str
    done: int
    total: int | None
    first_done: int
    first_at: str
    at: str

    @property
    def rate(self) -> float | None:
        """Units per second since the first count; None before there are two."""
        passed = datetime.fromisoformat(self.at) - datetime.fromisoformat(self.first_at)
        seconds = passed.total_seconds()
        return (self.done - self.first_done) / seconds if seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at that rate; None where total or rate are not known."""
        if self.total is None:
            return None
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A message about a step that is under way, for people."""

    run: str
    position: int
    message: str
    at: str
