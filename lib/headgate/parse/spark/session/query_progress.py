"""Read one progress report of a streaming query into a batch of its time series."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from headgate.model.progress import BatchProgress, OperatorProgress, SourceProgress
from headgate.parse.spark.session.capture_json import is_progress, reported_source
from headgate.parse.spark.session.json_values import items, mapping, offset_value
from headgate.text.json_text import whole
from headgate.text.secrets import mask_options


def read_progress(found: Mapping[str, Any]) -> BatchProgress:
    """Return the batch that one report is of; secrets are masked.

    The report is `StreamingQueryProgress.json`, or the `progress` of an event log's
    QueryProgressEvent, where offsets are JSON within text. Spark 3.5 reports no `batchDuration`:
    there the trigger's execution time stands for it. ValueError on another shape.
    """
    if not is_progress(found):
        raise ValueError("a progress report needs id, runId, batchId and sources")
    batch, at = whole(found.get("batchId")), found.get("timestamp")
    if batch is None or not isinstance(at, str):
        raise ValueError("a progress report needs an integer batchId and a timestamp")
    durations = _wholes(found.get("durationMs"))
    sink = mapping(found.get("sink"))
    duration = whole(found.get("batchDuration"))
    return BatchProgress(
        query_id=str(found["id"]),
        run_id=str(found["runId"]),
        batch=batch,
        at=at,
        name=_text(found.get("name")),
        duration_ms=durations.get("triggerExecution") if duration is None else duration,
        durations=durations,
        watermark=_text(mapping(found.get("eventTime")).get("watermark")),
        sources=tuple(_source(mapping(s)) for s in items(found.get("sources"))),
        operators=tuple(_operator(mapping(o)) for o in items(found.get("stateOperators"))),
        sink=_text(sink.get("description")),
    )


def _source(found: Mapping[str, Any]) -> SourceProgress:
    return SourceProgress(
        description=mask_options(str(found.get("description", ""))),
        topics=_topics(found),
        start=offset_value(found.get("startOffset")),
        end=offset_value(found.get("endOffset")),
        latest=offset_value(found.get("latestOffset")),
        input_rows=whole(found.get("numInputRows")),
        input_rows_per_second=_rate(found.get("inputRowsPerSecond")),
        processed_rows_per_second=_rate(found.get("processedRowsPerSecond")),
    )


def _topics(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the topics a Kafka source names; of a pattern, those that it has offsets in."""
    facts = reported_source(found)
    if facts.topics or facts.format != "kafka":
        return facts.topics
    end = offset_value(found.get("endOffset"))
    return tuple(sorted(end)) if isinstance(end, dict) else ()


def _operator(found: Mapping[str, Any]) -> OperatorProgress:
    return OperatorProgress(
        name=str(found.get("operatorName", "unknown")),
        rows_total=whole(found.get("numRowsTotal")),
        rows_updated=whole(found.get("numRowsUpdated")),
        rows_removed=whole(found.get("numRowsRemoved")),
        rows_dropped_by_watermark=whole(found.get("numRowsDroppedByWatermark")),
        memory_bytes=whole(found.get("memoryUsedBytes")),
        partitions=whole(found.get("numShufflePartitions")),
    )


def _wholes(found: Any) -> dict[str, int]:
    numbers = ((str(k), whole(v)) for k, v in mapping(found).items())
    return {k: v for k, v in numbers if v is not None}


def _rate(found: Any) -> float | None:
    """Return a rate in rows per second; the first batch of a run has none, or NaN."""
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return float(found) if math.isfinite(found) else None


def _text(found: Any) -> str | None:
    return None if found is None else mask_options(str(found))
