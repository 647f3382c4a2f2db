"""Progress reports of a streaming query: a time series, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress:
    """One source in one batch; rates are rows per second, None if the engine reported NaN.

    For Kafka, `start`, `end` and `latest` are {topic: {partition: offset}}, otherwise the source's
    own JSON. `topics` are exact names.
    """

    description: str
    topics: tuple[str, ...] = ()
    start: Any = None
    end: Any = None
    latest: Any = None
    input_rows: int | None = None
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorProgress:
    """One stateful operator in one batch; `memory_bytes` is the size of its state."""

    name: str
    rows_total: int | None = None
    rows_updated: int | None = None
    rows_removed: int | None = None
    rows_dropped_by_watermark: int | None = None
    memory_bytes: int | None = None
    partitions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """One progress report.

    `at` is the start of the batch (ISO 8601, UTC). Durations are in milliseconds. `watermark` is
    ISO 8601 in UTC, None without a watermark.
    """

    query_id: str
    run_id: str
    batch: int
    at: str
    name: str | None = None
    duration_ms: int | None = None
    durations: dict[str, int] = field(default_factory=dict)
    watermark: str | None = None
    sources: tuple[SourceProgress, ...] = ()
    operators: tuple[OperatorProgress, ...] = ()
    sink: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What a session or a progress report says of one source; secrets are masked."""

    format: str | None = None
    name: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    path: str | None = None
    offsets: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestProgress:
    """The newest progress of one query; operator names are in the order of the report.

    `batch` is its number, `at` when it began (ISO 8601, UTC).
    """

    query_id: str
    batch: int | None = None
    at: str | None = None
    name: str | None = None
    sources: tuple[SourceFacts, ...] = ()
    operators: tuple[tuple[str, int | None], ...] = ()
    sink: str | None = None
