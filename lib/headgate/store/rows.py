"""What rows of the store say: plain values, so that who only reads them needs no database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

# How the word for what happened to a step of a run begins: `step begun`, `step done`.
STEP = "step "


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

    `attempt` counts from 1 and grows with every resume. Times are ISO 8601 in UTC. A run that
    `resumes` ends a pause of its pipeline.
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
    resumes: bool | None = None


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
    """The requested run; `resources` are what no other run may touch meanwhile.

    `resumes`: the run ends a pause of the pipeline.
    """

    scenario: str
    pipeline: str | None
    plan_hash: str
    plan: str
    resources: tuple[str, ...]
    undo_of: str | None = None
    resumes: bool = False


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
    """One line of the journal: `data` has `was` of a start, `error` and `code` of a failure."""

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
class StepDocument:
    """What the program of a step reported in one attempt of the run.

    `name` is `job` (its result: `program`, `outcome`, `facts`), `comparison` (counts of two
    outputs) or `partitions` (offsets while it runs). `at` is ISO 8601 in UTC.
    """

    run: str
    position: int
    name: str
    attempt: int
    document: dict[str, Any]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A message about a step that is under way, for people."""

    run: str
    position: int
    message: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One entry; `action` is a word such as `apply`, `undo`, `resume`, `cancel`, `done`.

    For a step `details` hold its index in the run's plan, from 0 on; -1 is the beginning of the
    run's own roll-back.
    """

    at: str
    by: str
    action: str
    run: str | None = None
    pipeline: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    request: str | None = None

    @classmethod
    def read(cls, row: Mapping[Any, Any]) -> AuditRow:
        """Return the entry that a row of the table holds."""
        values = {k: v for k, v in row.items() if k != "seq"}
        return cls(**{**values, "details": json.loads(values["details"])})

    @property
    def is_of_step(self) -> bool:
        """Whether the worker says what it did to a step; else somebody asked, or the run ended."""
        return self.action.startswith(STEP)


class RequestState(StrEnum):
    """The life of a request; all but OPEN are ends."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One request. `plan` is the plan's JSON text, `decision` the reason that was given with it.

    `run` is the run that an approval queued. Times are ISO 8601 in UTC.
    """

    id: str
    scenario: str
    pipeline: str
    reason: str
    plan_hash: str
    plan: str
    state: RequestState
    asked_at: str
    asked_by: str
    decided_at: str | None = None
    decided_by: str | None = None
    decision: str | None = None
    run: str | None = None

    @property
    def resumes(self) -> bool:
        """Whether the run ends a pause of the pipeline: `pause` has an option for that."""
        if self.scenario != "pause":
            return False
        try:
            return bool(json.loads(self.plan)["options"]["resume"])
        except (ValueError, KeyError, TypeError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """What is requested, and why."""

    scenario: str
    pipeline: str
    reason: str
    plan_hash: str
    plan: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to a person; `by` is None as long as nobody confirmed it.

    `word` is the command that the person replaces. Times are ISO 8601 in UTC.
    """

    run: str
    position: int
    attempt: int
    word: str
    request: str
    asked_at: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointTry:
    """The newest try to make a restore point of a pipeline; `error` is why it failed, or None."""

    at: str
    error: str | None = None
