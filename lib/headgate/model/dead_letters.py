"""Dead letters: records that a consumer could not process, and which of them are redriven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Headers = tuple[tuple[str, bytes | None], ...]

UNKNOWN_REASON = "unknown"
MAX_ATTEMPTS = 3


class Convention(StrEnum):
    """Which program wrote the headers of a dead letter."""

    CONNECT = "Kafka Connect"
    STREAMS = "Kafka Streams"
    SPRING = "Spring Kafka"
    SMALLRYE = "SmallRye"
    HEADGATE = "Headgate backup"
    NONE = "no known headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What the headers of a dead letter report.

    `topic`, `partition` and `offset` are those of the failed record, None if no header has them.
    `timestamp` (Unix ms) is the failed record's, if a header has it. `attempts` is the number of
    earlier redrives. `key` is the idempotency key from the first redrive. `headers` are the failed
    record's own headers, without those about the failure and about redrives.
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
    """A record on which a pipeline's function fails, with class and message of the error."""

    pipeline: str
    topic: str
    partition: int
    offset: int
    error_class: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records of a dead letter topic are redriven, and the topic that they are written to.

    `to` is None for the topic where each record failed. `targets` are the topics that may be
    written, with their numbers of partitions; None: any topic. `since` and `until` are Unix
    milliseconds; `until` is exclusive. A record that was redriven `max_attempts` times isn't
    redriven again. With `again`, records that an earlier run redrove are redriven, too. `most` is
    the maximum number of records.
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
    """What the run does with a dead letter; the value names the count in plans and notes."""

    REDRIVE = "to_redrive"
    UNSELECTED = "not_selected"
    ALREADY = "already_redriven"
    GUARDED = "at_max_attempts"
    NO_TARGET = "without_target"


def decide(
    letter: DeadLetter, partition: int, timestamp: int | None, chosen: Selection, *, done: bool
) -> Decision:
    """Return what the run does with a dead letter; `done`: an earlier run has redriven it."""
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
    """Return the topic to write a record to; None if no header says where the record failed."""
    return chosen.to or letter.topic


def timestamp_of(letter: DeadLetter, timestamp: int | None) -> int | None:
    """Return the timestamp that a record is redriven with; None for the current time.

    Some conventions keep the timestamp with which it failed, in a header. Kafka's client takes 0
    for no timestamp.
    """
    return (letter.timestamp if letter.timestamp is not None else timestamp) or None


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
    """One dead letter as the plan shows it: `value` is masked."""

    partition: int
    offset: int
    source: str
    reason: str
    message: str
    attempts: int
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a dead letter topic contains.

    `offsets` is the number of offsets in the topic, `read` the number of records that were read.
    All other counts are of the records that were read; with `is_sample`, others weren't read.
    `decided` counts by decision. The other tables count only selected records: by reason, by source
    topic, by convention and by attempts; `targets` counts the records to redrive by topic. `newest`
    and `oldest` are the timestamps of records in Unix ms. `written` is by target topic the oldest
    timestamp with which a record is redriven. `arrived` is the number of records that arrived while
    Headgate read the topic.
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
    written: Mapping[str, int] = field(default_factory=dict)
    arrived: int = 0

    def count(self, decision: Decision) -> int:
        """Return the number of records with this decision."""
        return self.decided.get(decision, 0)
