"""Whether a pipeline runs, as far as something proves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActivityState(StrEnum):
    """FAILED: it ended by an error, or its driver died. UNKNOWN: nothing proves anything."""

    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a group was: sums over its `partitions` (`topic:0`) of offsets and of logs' ends."""

    at: str
    done: int
    ended: int
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a group read between two marks, and what arrived; `left` waited at both ends."""

    begin: str
    end: str
    read: int
    arrived: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a group was at `at` (ISO 8601 in UTC) in the topic of this id, within its log."""

    topic: str
    topic_id: str | None
    partition: int
    offset: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How a pipeline was seen last; times are ISO 8601 in UTC, None where nothing says.

    `since` is when the state began, `seen_at` the newest sign that the proof rests on. `batch` is
    the newest batch number. `reason` is one sentence
    for people; `proof` names what was looked at and what each said, `feed` what the state was
    taken from (`watch`, `status`, `checkpoint`, `group`, `event-log`, None for unknown).
    `run_id` is Spark's id of the run, `error_class` its condition where it failed. `commanded` is
    what the status command said when it was asked last (`runs`, `stopped`, `unknown`). Of a group
    `windows` are the newest, oldest first, and `mark` is where the next one begins,
    `positions` the last committed offsets that were within their logs.
    """

    state: ActivityState = ActivityState.UNKNOWN
    since: str | None = None
    seen_at: str | None = None
    batch: int | None = None
    reason: str = "not checked yet"
    proof: tuple[str, ...] = ()
    feed: str | None = None
    run_id: str | None = None
    error_class: str | None = None
    commanded: str | None = None
    looked_at: str | None = None
    mark: Mark | None = None
    windows: tuple[Window, ...] = ()
    positions: tuple[Position, ...] = ()
