"""How far readers are behind: groups by committed offsets, Spark by its checkpoint's offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headgate.landscape.joins import kafka_offsets
from headgate.landscape.landscape import PartitionLag
from headgate.model.cluster import Cluster, Group
from headgate.model.version import Version

Ends = Mapping[tuple[str, int], int | None]


def ends_of(cluster: Cluster | None) -> Ends:
    """Return the end offset of every partition."""
    topics = cluster.topics.values() if cluster else ()
    return {(t.name, p.number): p.end for t in topics for p in t.partitions}


def group_positions(group: Group, ends: Ends) -> tuple[PartitionLag, ...]:
    """Return one entry per partition that the group has committed."""
    return tuple(
        PartitionLag(o.topic, o.partition, o.offset, ends.get((o.topic, o.partition)))
        for o in group.offsets
    )


def checkpoint_positions(version: Version, ends: Ends) -> tuple[PartitionLag, ...]:
    """Return one entry per topic partition of the version's newest committed offsets.

    Where two sources read one partition, the one that is further behind counts.
    """
    least: dict[tuple[str, int], int] = {}
    for source in version.sources or ():
        for topic, parts in kafka_offsets(source).items():
            for partition, offset in parts.items():
                key = topic, partition
                least[key] = min(offset, least.get(key, offset))
    return tuple(PartitionLag(t, p, o, ends.get((t, p))) for (t, p), o in sorted(least.items()))


def total(positions: Iterable[PartitionLag]) -> int | None:
    """Sum the known lags; None where none is known."""
    known = [p.lag for p in positions if p.lag is not None]
    return sum(known) if known else None


def by_topic(positions: Iterable[PartitionLag]) -> dict[str, int | None]:
    """Return the total per topic, in the order of first appearance."""
    out: dict[str, list[PartitionLag]] = {}
    for p in positions:
        out.setdefault(p.topic, []).append(p)
    return {topic: total(parts) for topic, parts in out.items()}
