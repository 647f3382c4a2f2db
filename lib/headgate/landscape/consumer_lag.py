"""Consumer lag: of groups by committed offsets, of Spark by checkpoint and progress."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from headgate.landscape.landscape import PartitionLag, PositionState
from headgate.landscape.pipeline_topics import Match, kafka_offsets
from headgate.model.cluster import Cluster, Group, Partition
from headgate.model.version import Engine, Source, Version
from headgate.text.numbers import plural

Key = tuple[str, int]


class Ends:
    """Begin and end of every partition as Kafka said them, and when.

    Where Kafka was not read, nothing is said to be missing. A reading that is older than a
    position decides nothing about it.
    """

    def __init__(self, cluster: Cluster | None) -> None:
        topics = cluster.topics.values() if cluster else ()
        self.partitions: dict[Key, Partition] = {
            (t.name, p.number): p for t in topics for p in t.partitions
        }
        self._cluster = cluster

    def logged(self, key: Key, offset: int | None, at: str | None) -> PartitionLag:
        """Return a position that a query logged `at`, None where that is not known."""
        newer = self._cluster is not None and self._cluster.is_newer_than(at)
        return self._position(key, offset, begin_decides=newer, end_decides=newer)

    def committed(self, key: Key, offset: int | None) -> PartitionLag:
        """Return a position that a group committed, read in one snapshot with the log.

        It was read after begin and end, so that it may lie beyond the end by now.
        """
        return self._position(key, offset, begin_decides=True, end_decides=False)

    def _position(
        self, key: Key, offset: int | None, *, begin_decides: bool, end_decides: bool
    ) -> PartitionLag:
        found = self.partitions.get(key)
        begin, end = (found.begin, found.end) if found else (None, None)
        if found is None:
            state = PositionState.UNKNOWN if self._cluster is None else PositionState.NOT_LISTED
        elif offset is None:
            state = PositionState.NO_OFFSET
        elif begin is not None and offset < begin:
            state = PositionState.DATA_LOST if begin_decides else PositionState.UNKNOWN
        elif end is None:
            state = PositionState.UNKNOWN
        elif offset <= end:
            state = PositionState.OK
        else:
            # A query that continues after Kafka was read is ahead of what was read.
            state = PositionState.BEYOND_END if end_decides else PositionState.UNKNOWN
        return PartitionLag(*key, offset, end, begin, state)


def ends_of(cluster: Cluster | None) -> Ends:
    """Return begin and end of every partition."""
    return Ends(cluster)


def group_positions(group: Group, ends: Ends) -> tuple[PartitionLag, ...]:
    """Return one entry per partition that the group has committed or is assigned."""
    return tuple(ends.committed((o.topic, o.partition), o.offset) for o in group.offsets)


def checkpoint_positions(
    version: Version, ends: Ends, match: Match | None = None
) -> tuple[PartitionLag, ...]:
    """Return one entry per topic partition that the version's sources read.

    Positions are the newest committed offsets, of the checkpoint or the progress. If two sources
    read one partition, the larger lag counts. A partition that Kafka has and the sources read, but
    have no offset in yet, has no position. Partitions that `assign` leaves out aren't read.
    `match` looks up what a `subscribePattern` means in Kafka now.
    """
    at = version.progress.offsets_at if version.progress else None
    least: dict[Key, int] = {}
    for source in version.sources or ():
        for key, offset in _offsets(source):
            least[key] = min(offset, least.get(key, offset))
    known = [ends.logged(key, offset, at) for key, offset in least.items()]
    fresh = {
        k for s in version.sources or () for k in _read(s, version.engine, ends, match)
    } - least.keys()
    found = [*known, *(ends.logged(key, None, at) for key in fresh)]
    return tuple(sorted(found, key=lambda p: (p.topic, p.partition)))


def _offsets(source: Source) -> Iterator[tuple[Key, int]]:
    for topic, parts in kafka_offsets(source).items():
        for partition, offset in parts.items():
            yield (topic, partition), offset


def _read(source: Source, engine: Engine, ends: Ends, match: Match | None) -> Iterator[Key]:
    """Yield the partitions that Kafka has now and that the source reads."""
    if source.format not in (None, "kafka"):
        return
    if (assigned := _assigned(source)) is not None:
        yield from assigned & ends.partitions.keys()
        return
    topics = {*source.topics, *kafka_offsets(source)}
    topics |= set(match(source.pattern, engine)) if match and source.pattern else set()
    yield from (key for key in ends.partitions if key[0] in topics)


def _assigned(source: Source) -> set[Key] | None:
    """Return the partitions of the option `assign`, {"topic":[0,1]}; None without one."""
    text = next((v for k, v in source.options.items() if k.lower() == "assign"), None)
    if text is None:
        return None
    try:
        found = json.loads(text)
        return {(topic, int(p)) for topic, parts in found.items() for p in parts}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return set()


def total(positions: Iterable[PartitionLag]) -> int | None:
    """Sum the known lags; None where none is known."""
    known = [p.lag for p in positions if p.lag is not None]
    return sum(known) if known else None


def by_topic(positions: Iterable[PartitionLag]) -> dict[str, int | None]:
    """Return the total per topic, in the order of first appearance."""
    return {topic: total(parts) for topic, parts in grouped(positions).items()}


def grouped(positions: Iterable[PartitionLag]) -> dict[str, tuple[PartitionLag, ...]]:
    """Return the positions per topic, in the order of first appearance."""
    out: dict[str, list[PartitionLag]] = {}
    for p in positions:
        out.setdefault(p.topic, []).append(p)
    return {topic: tuple(parts) for topic, parts in out.items()}


_LISTED = 10
"""Maximum number of partitions that a sentence names."""


def lag_sentences(name: str, positions: Iterable[PartitionLag]) -> Iterator[str]:
    """Yield a sentence for each topic on which a consumer's position is no longer in its log."""
    wrong: dict[tuple[str, PositionState], list[PartitionLag]] = {}
    for p in positions:
        if p.state in _SENTENCES:
            wrong.setdefault((p.topic, p.state), []).append(p)
    for (topic, state), found in wrong.items():
        lost = sum(p.lost or 0 for p in found)
        parts = ", ".join(str(p.partition) for p in found[:_LISTED])
        parts += f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        location = f"partition{'s' if len(found) > 1 else ''} {parts} of topic {topic}"
        said = _SENTENCES[state].format(location=location, lost=plural(lost, "offset"))
        yield f"Pipeline {name} {said}."


_SENTENCES = {
    PositionState.DATA_LOST: (
        "missed records at {lost} in {location}: Kafka deleted these records before the pipeline "
        "read them"
    ),
    PositionState.BEYOND_END: (
        "has an offset after the latest offset of {location}: the topic was probably recreated or "
        "truncated"
    ),
}
