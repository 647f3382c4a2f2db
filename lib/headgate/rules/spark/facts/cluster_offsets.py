"""What Kafka as it is now says of the offsets that a new version starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.model.cluster import Cluster, Partition, Topic
from headgate.model.version import Source, Version
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import StateEffect
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import option
from headgate.rules.spark.facts.kafka_subscriptions import kafka_pairs, logged_offsets, subscribes

MOST = 5
"""Maximum number of topics or partitions that a sentence names."""
STORED = "stored"
"""`Progress.offsets_from` of a stored version. Its query may have read more records since then."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A partition whose offset is in the checkpoint; None where Kafka does not have it now."""

    topic: str
    partition: int
    offset: int
    now: Partition | None

    @property
    def gone(self) -> int:
        """How many records that were not read yet are deleted by now."""
        return max((self.now.begin or 0) - self.offset, 0) if self.now else 0

    @property
    def beyond(self) -> int:
        """By how many records the offset is after the end of the partition."""
        known = self.now is not None and self.now.end is not None
        return max(self.offset - self.now.end, 0) if known else 0  # type: ignore[union-attr, operator]

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


def asked(c: Comparison) -> Iterator[tuple[SourcePair, Cluster]]:
    """Yield the pairs of Kafka sources, where this cluster is the one that they read."""
    for pair in kafka_pairs(c):
        assert pair.after
        if c.cluster is not None and is_its_cluster(pair.after, c.cluster):
            yield pair, c.cluster


def is_its_cluster(source: Source, cluster: Cluster) -> bool:
    """Say whether a source reads this cluster: equal addresses, or a topic of its own is there.

    One cluster has many addresses, so other addresses aren't evidence of another cluster.
    """
    return _same_address(source, cluster) or any(t in cluster.topics for t in source.topics)


def _same_address(source: Source, cluster: Cluster) -> bool:
    servers = option(source, "kafka.bootstrap.servers")
    if servers is None:
        return True
    return not _addresses(servers).isdisjoint(_addresses(cluster.bootstrap))


def _addresses(text: str) -> set[str]:
    return {a.strip().rpartition("//")[2].lower() for a in text.split(",") if a.strip()}


def are_current(version: Version) -> bool:
    """Say whether the offsets are those that the query has now, as far as known."""
    return version.progress is None or version.progress.offsets_from != STORED


def too_old(before: Version, cluster: Cluster | None) -> str | None:
    """Say that Kafka was read before the offsets that it is to judge; None if it was not."""
    if cluster is None or not any(_is_judged(s, cluster) for s in before.sources or ()):
        return None
    at = before.progress.offsets_at if before.progress else None
    if not are_current(before) or cluster.is_newer_than(at):
        return None
    return (
        "Headgate did not compare the offsets with Kafka: the cluster state is from "
        f"{cluster.at}, but the offsets are from {at or 'an unknown time'}. The cluster state "
        "must be newer than the offsets. Compare again."
    )


def _is_judged(source: Source, cluster: Cluster) -> bool:
    is_kafka = source.format == "kafka" and bool(logged_offsets(source))
    return is_kafka and is_its_cluster(source, cluster)


def logged_now(c: Comparison) -> Iterator[tuple[SourcePair, Cluster, list[Logged]]]:
    """Yield each pair with its logged partitions, of topics that the new version reads still.

    Nothing where the offsets may be old ones, and nothing of a topic that is missing altogether.
    """
    if not are_current(c.before):
        return
    for pair, cluster in asked(c):
        assert pair.before and pair.after
        parts = [
            Logged(topic, number, offset, part(cluster.topics[topic], number))
            for topic, offsets in logged_offsets(pair.before).items()
            if topic in cluster.topics and subscribes(pair.after, topic)
            for number, offset in offsets.items()
        ]
        if parts:
            yield pair, cluster, parts


def part(topic: Topic, number: int) -> Partition | None:
    """Return one partition of a topic, None where it has no such one."""
    return next((p for p in topic.partitions if p.number == number), None)


def read_now(source: Source, cluster: Cluster) -> list[str]:
    """Return the topics of the cluster that a source reads now, internal ones left out."""
    names = (n for n, t in cluster.topics.items() if not t.internal)
    return sorted(n for n in names if subscribes(source, n))


def listed(names: Iterable[str]) -> str:
    """Return the first names and how many more there are."""
    every = list(names)
    more = f" and {len(every) - MOST} more" if len(every) > MOST else ""
    return ", ".join(every[:MOST]) + more


def exact(c: Comparison) -> StateEffect:
    """Return the effect of a change that doesn't touch state."""
    return StateEffect.EXACT if c.is_stateful else StateEffect.NONE
