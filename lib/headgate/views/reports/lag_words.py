"""Consumer lag in words: one number with its age, the same on every page and in the shell."""

from __future__ import annotations

from datetime import datetime

from headgate.landscape.landscape import LandscapePipeline
from headgate.text.numbers import ago, exact, moment, plural

DEFINITION = "latest offsets in Kafka minus committed offsets (Spark: offsets in the checkpoint)"


def lag_words(lag: int | None, *read: str | None, now: datetime | None = None) -> str | None:
    """Return `206 records, 4 s ago`; None if the lag isn't known.

    `read` are the times (ISO 8601) at which what it is computed from was read. The lag is as old
    as the oldest of them.
    """
    if lag is None:
        return None
    times = sorted((found, at) for at in read if (found := moment(at)) is not None)
    age = f", {ago(times[0][1], now)}" if times else ""
    return f"{plural(lag, 'record', exact(lag))}{age}"


def pipeline_lag(pipeline: LandscapePipeline, kafka_read_at: str | None) -> str | None:
    """Return a pipeline's lag with its age: of its positions, or of Kafka's offsets if older."""
    return lag_words(pipeline.lag, kafka_read_at, pipeline.lag_at)
