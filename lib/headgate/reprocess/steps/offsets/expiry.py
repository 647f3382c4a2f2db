"""Until when an undo of offsets is of use: when the records that it goes back to expire."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from headgate.model.cluster import Topic
from headgate.reprocess.ports.inspector import World

HOURS = (1, 6, 24, 72)
"""How near an end is looked for, nearest first."""
_HOUR_MS = 3_600_000


def expiry_risks(
    world: World, targets: Mapping[tuple[str, int], int], now_ms: int | None = None
) -> list[str]:
    """Name the topics of which retention soon takes records that these offsets still have to read.

    `targets` are offsets by (topic, partition). A record goes no sooner than its topic's
    `retention.ms` after its own time, and later where its segment is not full.
    """
    now = int(time.time() * 1000) if now_ms is None else now_ms
    topics = world.topics({topic for topic, _ in targets})
    return [
        text
        for name, topic in sorted(topics.items())
        for text in _of(world, topic, dict(_unread(topic, targets)), now)
    ]


def _unread(
    topic: Topic, targets: Mapping[tuple[str, int], int]
) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the offsets at which there is a record to read."""
    for part in topic.partitions:
        at = targets.get((topic.name, part.number))
        if at is not None and (part.begin or 0) <= at < (part.end or 0):
            yield (topic.name, part.number), at


def _of(world: World, topic: Topic, unread: dict[tuple[str, int], int], now: int) -> Iterable[str]:
    keeps = topic.retention_ms
    if not unread or keeps is None or keeps < 0 or "delete" not in (topic.cleanup_policy or ""):
        return
    for hours in HOURS:
        first = world.first_at(unread, now - keeps + hours * _HOUR_MS)
        # No record so young, or only after the offset: what stands there is older.
        old = [p for p, at in unread.items() if (f := first.get(p)) is None or at < f]
        if old:
            yield (
                f"undo it within {hours} h: {topic.name} keeps records for {keeps / _HOUR_MS:g} h,"
                f" and those that {len(old)} old position(s) go back to expire by then"
            )
            return
