"""Unused resources: unused topics, internal topics without an owner, undeclared groups."""

from __future__ import annotations

from headgate.landscape.landscape import Landscape, LandscapeGroup, LandscapeTopic
from headgate.model.kafka_streams import looks_internal


def unused(landscape: Landscape) -> tuple[LandscapeTopic, ...]:
    """Topics without consumers that no declared pipeline writes; internal ones aren't included."""
    return tuple(t for t in _plain(landscape) if not t.writers and not t.readers)


def unread(landscape: Landscape) -> tuple[LandscapeTopic, ...]:
    """Topics that a pipeline writes and neither a pipeline nor a group reads."""
    return tuple(t for t in _plain(landscape) if t.writers and not t.readers)


def unwritten(landscape: Landscape) -> tuple[LandscapeTopic, ...]:
    """Topics that are read and that no declared pipeline writes: producers are not known."""
    return tuple(t for t in _plain(landscape) if t.readers and not t.writers)


def unowned_topics(landscape: Landscape) -> tuple[LandscapeTopic, ...]:
    """Topics named like internal ones of Kafka Streams that are no known pipeline's."""
    return tuple(t for t in landscape.topics if looks_internal(t.name) and not t.owner)


def undeclared_groups(landscape: Landscape) -> tuple[LandscapeGroup, ...]:
    """Kafka's groups that no pipeline of the registry declares."""
    return tuple(g for g in landscape.groups if not g.is_declared)


def _plain(landscape: Landscape) -> tuple[LandscapeTopic, ...]:
    return tuple(
        t for t in landscape.topics if not t.internal and not t.owner and not looks_internal(t.name)
    )
