"""Read the headers of a dead letter: where the record failed, why, and how often.

Names and encodings, each from the class that writes them:
- Kafka Connect `DeadLetterQueueReporter` (KIP-298): `__connect.errors.*`, all of them text.
- Kafka Streams `ExceptionHandlerUtils` (KIP-1034): `__streams.errors.*`, all of them text; 4.3.1
  writes the exception's class and keeps the failed record's headers.
- Spring Kafka `DeadLetterPublishingRecoverer`: `kafka_dlt-*`, partition and offset big-endian
  integers; its retry topics write `kafka_original-*` and `kafka_exception-*`.
- SmallRye `KafkaDeadLetterQueue`: `dead-letter-*`, all of them text.
- Headgate's backup topics: one header, with topic, partition and offset.

If a record has headers of several of them, the last one failed it: only its headers are read, and
only they are left out of the record's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.model.dead_letters import (
    UNKNOWN_REASON,
    Convention,
    DeadLetter,
    FailedRecord,
    Headers,
)

BACKED_UP_FROM = "headgate.backup.from"
"""Last header of a backed-up record: its original topic, partition and offset."""
ATTEMPTS = "headgate.redrive.attempts"
KEY = "headgate.redrive.key"
FROM = "headgate.redrive.from"
RUN = "headgate.redrive.run"
AGAIN = "headgate.redrive.again"
"""Header of a record that an earlier run had already redriven. The value is `true`."""
FAILED_IN = "__connect.errors.headgate.run"
"""Header of a record that made a function fail in a run. The value is the run id."""
_OWN = frozenset({ATTEMPTS, KEY, FROM, RUN, AGAIN})
_BACKED_UP = "backed up by Headgate"
# A class, where older versions write `class: message`.
_CLASS = re.compile(r"[\w$.]+(?=: )")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """Headers of one convention: `prefixes` are all of its headers', the others name each one.

    Of several names the first that a record has counts.
    """

    convention: Convention
    prefixes: tuple[str, ...]
    topic: tuple[str, ...]
    partition: tuple[str, ...]
    offset: tuple[str, ...]
    reason: tuple[str, ...]
    message: tuple[str, ...]
    timestamp: tuple[str, ...] = ()


_FAMILIES = (
    _Family(
        convention=Convention.CONNECT,
        prefixes=("__connect.errors.",),
        topic=("__connect.errors.topic",),
        partition=("__connect.errors.partition",),
        offset=("__connect.errors.offset",),
        reason=("__connect.errors.exception.class.name",),
        message=("__connect.errors.exception.message",),
    ),
    _Family(
        convention=Convention.STREAMS,
        prefixes=("__streams.errors.",),
        topic=("__streams.errors.topic",),
        partition=("__streams.errors.partition",),
        offset=("__streams.errors.offset",),
        reason=("__streams.errors.exception",),
        message=("__streams.errors.message",),
    ),
    _Family(
        convention=Convention.SPRING,
        prefixes=("kafka_dlt-", "kafka_original-", "kafka_exception-", "retry_topic-"),
        topic=("kafka_dlt-original-topic", "kafka_original-topic"),
        partition=("kafka_dlt-original-partition", "kafka_original-partition"),
        offset=("kafka_dlt-original-offset", "kafka_original-offset"),
        reason=(
            # The first is what the listener threw; the second is Spring's wrapper around it.
            *("kafka_dlt-exception-cause-fqcn", "kafka_exception-cause-fqcn"),
            *("kafka_dlt-exception-fqcn", "kafka_exception-fqcn"),
        ),
        message=("kafka_dlt-exception-message", "kafka_exception-message"),
        timestamp=("kafka_dlt-original-timestamp", "kafka_original-timestamp"),
    ),
    _Family(
        convention=Convention.SMALLRYE,
        prefixes=("dead-letter-",),
        topic=("dead-letter-topic",),
        partition=("dead-letter-partition",),
        offset=("dead-letter-offset",),
        reason=("dead-letter-cause-class-name", "dead-letter-exception-class-name"),
        message=("dead-letter-reason",),
    ),
)


def read_dead_letter(headers: Headers) -> DeadLetter:
    """Return what the headers say; a record without known ones has all of them as its own."""
    last = dict(headers)
    plain = DeadLetter(
        attempts=_number(last.get(ATTEMPTS)) or 0,
        key=_text(last.get(KEY)),
        headers=tuple(h for h in headers if h[0] not in _OWN),
    )
    for name, value in reversed(plain.headers):
        if name == BACKED_UP_FROM:
            return _backed_up(plain, value)
        for family in _FAMILIES:
            if name.startswith(family.prefixes):
                return _read(plain, family, last)
    return plain


def connect_headers(record: FailedRecord, run: str) -> Headers:
    """Return the headers that Kafka Connect gives a record which failed, and the run id."""
    prefix = "__connect.errors."
    values = {
        f"{prefix}topic": record.topic,
        f"{prefix}partition": str(record.partition),
        f"{prefix}offset": str(record.offset),
        f"{prefix}connector.name": record.pipeline,
        f"{prefix}stage": "TRANSFORMATION",
        f"{prefix}exception.class.name": record.error_class,
        f"{prefix}exception.message": record.message,
        FAILED_IN: run,
    }
    return tuple((name, text.encode()) for name, text in values.items())


def _read(plain: DeadLetter, family: _Family, last: Mapping[str, bytes | None]) -> DeadLetter:
    return replace(
        plain,
        convention=family.convention,
        topic=_text(_first(last, family.topic)),
        partition=_number(_first(last, family.partition)),
        offset=_number(_first(last, family.offset)),
        reason=_reason(_text(_first(last, family.reason))),
        message=_text(_first(last, family.message)),
        timestamp=_number(_first(last, family.timestamp)),
        headers=tuple(h for h in plain.headers if not h[0].startswith(family.prefixes)),
    )


def _backed_up(plain: DeadLetter, value: bytes | None) -> DeadLetter:
    parts = (_text(value) or "").split(" ")
    topic, partition, offset = parts if len(parts) == 3 else ("", "", "")
    return replace(
        plain,
        convention=Convention.HEADGATE,
        topic=topic or None,
        partition=_number(partition.encode()),
        offset=_number(offset.encode()),
        reason=_BACKED_UP,
        headers=tuple(h for h in plain.headers if h[0] != BACKED_UP_FROM),
    )


def _first(last: Mapping[str, bytes | None], names: tuple[str, ...]) -> bytes | None:
    return next((last[name] for name in names if last.get(name)), None)


def _text(value: bytes | None) -> str | None:
    return value.decode("utf-8", "replace").strip() or None if value else None


def _reason(text: str | None) -> str:
    if text is None:
        return UNKNOWN_REASON
    found = _CLASS.match(text)
    return found[0] if found else text.splitlines()[0]


def _number(value: bytes | None) -> int | None:
    """Return a number that is written in digits, or as a big-endian integer of 4 or 8 bytes."""
    if not value:
        return None
    if value.decode("ascii", "replace").isdecimal():
        return int(value)
    if len(value) not in (4, 8):
        return None
    found = int.from_bytes(value, "big", signed=True)
    return found if found >= 0 else None
