"""Dead letters: records that a consumer could not process, and which of them are redriven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Headers = tuple[tuple[str, bytes | None], ...]

UNKNOWN_REASON = "unknown"
MAX_ATTEMPTS = 3


class Convention(StrEnum):
    """Who wrote the headers of a dead letter."""

    CONNECT = "Kafka Connect"
    STREAMS = "Kafka Streams"
    SPRING = "Spring Kafka"
    SMALLRYE = "SmallRye"
    HEADGATE = "Headgate backup"
    NONE = "no known headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What the headers of a dead letter say.

    `topic`, `partition` and `offset` are where the record failed, each None where nothing says so.
    `timestamp` (Unix ms) is the failed record's, where a header has it. `attempts` counts earlier
    redrives, `key` is the idempotency key that the first of them gave it. `headers` are the failed
    record's own: those about the failure and about redrives are left out.
    """

    convention: Convention = Convention.NONE
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    reason: str = UNKNOWN_REASON
    message: str | None = None
    timestamp: int | None = None
    attempts: int = 0
    key: str | None = None
    headers: Headers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRecord:
    """A record at which a pipeline's function fails, with the class and message of its error."""

    pipeline: str
    topic: str
    partition: int
    offset: int
    error_class: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records of a dead letter topic are redriven, and where to.

    `to` is None for the topic where each record failed. `targets` are the topics that may be
    written, with their number of partitions; None: any. `since` and `until` are Unix milliseconds,
    `until` excluded. A record that was redriven `max_attempts` times is not redriven again; `again`
    takes those that an earlier run has redriven. `most` ends the run after so many records.
    """

    topic: str
    to: str | None = None
    targets: Mapping[str, int] | None = None
    partitions: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    max_attempts: int = MAX_ATTEMPTS
    again: bool = False
    most: int | None = None


class Decision(StrEnum):
    """What becomes of a dead letter; its value names the count in plans and notes."""

    REDRIVE = "to_redrive"
    UNSELECTED = "not_selected"
    ALREADY = "already_redriven"
    GUARDED = "at_max_attempts"
    NO_TARGET = "without_target"


def decide(
    letter: DeadLetter, partition: int, timestamp: int | None, chosen: Selection, *, done: bool
) -> Decision:
    """Return what becomes of a record; `done` says that an earlier run has redriven it."""
    if not _is_selected(letter, partition, timestamp, chosen):
        return Decision.UNSELECTED
    if done and not chosen.again:
        return Decision.ALREADY
    if letter.attempts >= chosen.max_attempts:
        return Decision.GUARDED
    target = target_of(letter, chosen)
    if target is None or (chosen.targets is not None and target not in chosen.targets):
        return Decision.NO_TARGET
    return Decision.REDRIVE


def target_of(letter: DeadLetter, chosen: Selection) -> str | None:
    """Return the topic that a record goes to, None where nothing says where it failed."""
    return chosen.to or letter.topic


def _is_selected(
    letter: DeadLetter, partition: int, timestamp: int | None, chosen: Selection
) -> bool:
    if chosen.partitions and partition not in chosen.partitions:
        return False
    if chosen.sources and letter.topic not in chosen.sources:
        return False
    if chosen.reasons and not any(r.lower() in letter.reason.lower() for r in chosen.reasons):
        return False
    at = -1 if timestamp is None else timestamp
    return (chosen.since is None or at >= chosen.since) and (
        chosen.until is None or at < chosen.until
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One dead letter as people are shown it: `value` is its form, not its content."""

    partition: int
    offset: int
    source: str
    reason: str
    message: str
    attempts: int
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a dead letter topic holds. `offsets` are between its ends, `read` were looked at.

    Counts are of the records that were read; `is_sample` says that others were not. `decided`
    counts by decision. The other tables count selected records only: by reason, by source topic,
    by convention and by attempts; `targets` those to redrive. `newest` and `oldest` are Unix ms of
    the records' times. `arrived` are records that came while it was read.
    """

    offsets: int = 0
    read: int = 0
    is_sample: bool = False
    decided: Mapping[Decision, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    conventions: Mapping[Convention, int] = field(default_factory=dict)
    attempts: Mapping[int, int] = field(default_factory=dict)
    targets: Mapping[str, int] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    newest: int | None = None
    oldest: int | None = None
    arrived: int = 0

    def count(self, decision: Decision) -> int:
        """Return how many of the records that were read are decided so."""
        return self.decided.get(decision, 0)
