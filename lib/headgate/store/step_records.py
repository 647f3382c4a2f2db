"""Read a run's journal as what is known of each step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from headgate.reprocess.execution.execute import Record, StepState
from headgate.store.rows import Event, JournalEntry

_STATES = {
    Event.BEGUN: StepState.IN_DOUBT,
    Event.DONE: StepState.DONE,
    Event.FAILED: StepState.FAILED,
    Event.RETURNING: StepState.IN_DOUBT,
    Event.UNDONE: StepState.UNDONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step's life; times are ISO 8601 in UTC, `error` is that of its last try.

    `code` is the exit code of a failed step's error.
    """

    state: StepState = StepState.WAITING
    was: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    begun_at: str | None = None
    ended_at: str | None = None
    error: str | None = None
    reenabled: bool = False
    code: int | None = None

    def as_record(self) -> Record:
        """Return what the executor needs of it."""
        return Record(state=self.state, was=self.was, begun=self.begun, reenabled=self.reenabled)


def step_records(entries: Iterable[JournalEntry]) -> dict[int, StepRecord]:
    """Return the record of every step that has an entry, by position.

    A step that started twice keeps the `was` of the first time: what the second one saw is
    partly the run's own work.
    """
    found: dict[int, StepRecord] = {}
    for entry in entries:
        if entry.event not in _STATES or entry.position < 0:
            continue
        found[entry.position] = _after(found.get(entry.position, StepRecord()), entry)
    return found


def is_rolling_back(entries: Iterable[JournalEntry]) -> bool:
    """Whether the run began to roll itself back because a step refused."""
    return any(entry.event is Event.RETURNING for entry in entries)


def _after(record: StepRecord, entry: JournalEntry) -> StepRecord:
    is_begun = entry.event is Event.BEGUN
    return StepRecord(
        state=_STATES[entry.event],
        was=entry.data.get("was", {}) if is_begun and not record.begun else record.was,
        begun=record.begun or is_begun,
        begun_at=record.begun_at or (entry.at if is_begun else None),
        ended_at=None if entry.event in (Event.BEGUN, Event.RETURNING) else entry.at,
        error=_error(record, entry),
        reenabled=bool(entry.data.get("reenabled")),
        code=entry.data.get("code"),
    )


def _error(record: StepRecord, entry: JournalEntry) -> str | None:
    """Return why the last try failed, also of a step that was then rolled back."""
    match entry.event:
        case Event.FAILED:
            return str(entry.data.get("error"))
        case Event.RETURNING | Event.UNDONE:
            return record.error
        case _:
            return None
