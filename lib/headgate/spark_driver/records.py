"""One JSON object per line: what a driver reports of its queries, with secrets masked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from headgate.parse.spark.watch.mark import SCHEMA
from headgate.text.secrets import mask_json

MARK = "watch"
LARGEST_TEXT = 16 << 20
"""Maximum size of a reported query plan in bytes."""


class Kind(StrEnum):
    """What a line is about. STARTED, QUERY and PLAN are repeated at the head of each part."""

    STARTED = "started"
    QUERY = "query"
    PLAN = "plan"
    PROGRESS = "progress"
    IDLE = "idle"
    ALIVE = "alive"
    CONTROL = "control"
    TERMINATED = "terminated"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Record:
    """One line to write; `query` and `run` are Spark's ids, `at` is when it was reported."""

    kind: Kind
    query: str
    run: str
    at: str
    body: Mapping[str, Any]


def now() -> str:
    """Return the time in the form of records: ISO 8601 in UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(record: Record, dropped: int = 0) -> bytes:
    """Return the record as one line; `dropped` is how many before it could not be kept."""
    head = {
        "headgate": MARK,
        "schema": SCHEMA,
        "event": record.kind.value,
        "id": record.query,
        "runId": record.run,
        "at": record.at,
        **({"dropped": dropped} if dropped else {}),
    }
    return (json.dumps(head | mask_json(record.body), separators=(",", ":")) + "\n").encode()
