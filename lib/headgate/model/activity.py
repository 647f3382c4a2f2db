"""Whether a pipeline runs, as far as evidence shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActivityState(StrEnum):
    """FAILED: the pipeline ended with an error, or its driver died. UNKNOWN: no evidence."""

    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The progress of a group at one time, as sums over its `partitions` (`topic:0`).

    `done` is the sum of the committed offsets, `ended` the sum of the latest offsets.
    """

    at: str
    done: int
    ended: int
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many records a group read between two marks, and how many arrived.

    `left` is the smaller number of unread records at the begin and at the end of the window.
    """

    begin: str
    end: str
    read: int
    arrived: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A committed offset of a group that was between the earliest and latest offset.

    `at` is when Headgate read it (ISO 8601 in UTC). `topic_id` is the topic's id at that time.
    """

    topic: str
    topic_id: str | None
    partition: int
    offset: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Whether a pipeline ran at the last check. Times are ISO 8601 in UTC, None if unknown.

    `since` is when the state began. `seen_at` is the time of the newest sign that the state is
    based on. `batch` is the newest batch number. `reason` is one sentence for people. `proof` lists
    what was checked, and each result. `feed` is the sign that decided the state: `watch`, `status`,
    `checkpoint`, `group`, `event-log`, or None for an unknown state. `run_id` is Spark's id of the
    run. `error_class` is Spark's error condition if the run failed. `commanded` is the last result
    of the status command: `runs`, `stopped` or `unknown`.

    Only for groups: `windows` are the newest windows, oldest first. The next window begins at
    `mark`. `positions` are the last committed offsets that were between the earliest and latest
    offset.
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
