"""Read what `headgate.watch` told of queries, from a folder or a topic."""

from __future__ import annotations

import time

from headgate.errors import ConfigError, EvidenceError
from headgate.gateway.evidence_files import find
from headgate.gateway.watch_files import newest_watch_files
from headgate.parse.spark.event_log_gather import Keep
from headgate.parse.spark.watch import Watched
from headgate.usecases.context import Context

TOPIC = "kafka:"
_TAIL_MS = 70 * 60 * 1000
"""A run tells a topic anew each hour who it is, and each half minute that it lives."""


def read_topic(
    location: str,
    context: Context | None,
    keep: Keep | None = None,
    *,
    since_ms: int | None = None,
) -> Watched:
    """Return what `kafka:TOPIC` of the registry's cluster holds, or what came since a time.

    ConfigError where no cluster is named, EvidenceError where it has no such topic,
    UnreachableError where it does not answer.
    """
    servers = context.registry.bootstrap_servers if context else None
    if context is None or not servers:
        where = (context.registry.path if context else None) or "headgate.toml"
        raise ConfigError(
            f"{location} is a topic, and {where} names no cluster: set bootstrap_servers"
        )
    # Kafka's client is not imported for a folder.
    from headgate.gateway.watch_topic import read_watch_topic

    topic = location.removeprefix(TOPIC)
    return read_watch_topic(topic, servers, context.registry.kafka, keep=keep, since_ms=since_ms)


def read_newest(location: str, context: Context) -> Watched:
    """Return how the newest runs are that a watch tells of; raises as `read_version` does."""
    if location.startswith(TOPIC):
        since = int(time.time() * 1000) - _TAIL_MS
        return read_topic(location, context, since_ms=since)
    place = find(location, context.registry.file_systems)
    if place is None:
        raise EvidenceError(f"{location} is not there: no watch has written to it yet")
    if not place.is_folder:
        raise EvidenceError(f"{location} is a file, a watch writes into a folder")
    return newest_watch_files(place)
