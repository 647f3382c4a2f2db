"""Read the records of `headgate.watch` from a folder or a topic."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from headgate.errors import ConfigError, EvidenceError
from headgate.gateway.files.evidence_files import find
from headgate.gateway.spark.watch_folder import newest_watch_files
from headgate.usecases.context import Context

if TYPE_CHECKING:
    from headgate.gateway.spark.watch_topic import WatchTopic
    from headgate.parse.spark.event_log.gather import Keep
    from headgate.parse.spark.watch.read import Watched

TOPIC = "kafka:"
# A run tells a topic anew each hour who it is, and each half minute that it lives.
_TAIL, _FORGET = 70 * 60.0, 60 * 60.0


def read_topic(location: str, context: Context | None, keep: Keep | None = None) -> Watched:
    """Return the records in `kafka:TOPIC` of the registry's cluster.

    ConfigError if no cluster is configured, EvidenceError if the cluster doesn't have the topic,
    UnreachableError if Kafka doesn't respond.
    """
    return _topic(location, context, keep).read()


def _topic(
    location: str, context: Context | None, keep: Keep | None = None, since_ms: int | None = None
) -> WatchTopic:
    servers = context.registry.bootstrap_servers if context else None
    if context is None or not servers:
        where = (context.registry.path if context else None) or "headgate.toml"
        raise ConfigError(
            f"{location} is a topic, but {where} has no Kafka cluster: set bootstrap_servers under "
            "[kafka]"
        )
    # Kafka's client is not imported for a folder.
    from headgate.gateway.spark.watch_topic import WatchTopic

    topic = location.removeprefix(TOPIC)
    return WatchTopic(topic, servers, context.registry.kafka, keep=keep, since_ms=since_ms)


@dataclass(slots=True)
class _Tail:
    """A topic's newest records, kept between two looks so that each reads only what is new."""

    topic: WatchTopic
    begun: float
    lock: Lock = field(default_factory=Lock)


_tails: dict[tuple[str, str], _Tail] = {}


def _newest_of_topic(location: str, context: Context) -> Watched:
    key = location, f"{context.registry.bootstrap_servers} {sorted(context.registry.kafka.items())}"
    tail = _tails.get(key)
    if tail is None or time.monotonic() - tail.begun > _FORGET:
        since_ms = int((time.time() - _TAIL) * 1000)
        tail = _Tail(_topic(location, context, since_ms=since_ms), time.monotonic())
        _tails[key] = tail
    with tail.lock:
        return tail.topic.read()


def read_newest(location: str, context: Context) -> Watched:
    """Return the state of the newest runs in a watch; raises the errors of `read_version`."""
    if location.startswith(TOPIC):
        return _newest_of_topic(location, context)
    place = find(location, context.registry.file_systems)
    if place is None:
        raise EvidenceError(
            f"{location} not found: no watch has written to this location yet. Start the "
            "query with `headgate.watch`, or correct `watch` in headgate.toml"
        )
    if not place.is_folder:
        raise EvidenceError(
            f"{location} is a file, but a watch writes to a folder: correct `watch` in "
            "headgate.toml"
        )
    return newest_watch_files(place)
