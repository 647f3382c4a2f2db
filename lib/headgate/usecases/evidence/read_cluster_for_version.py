"""Read current facts for a version: topics in Kafka, and offsets in its checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from headgate.errors import ConfigError, HeadgateError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.connect import open_kafka
from headgate.model.cluster import CLOCKS, Cluster, Since, Topic
from headgate.model.version import Progress, Version
from headgate.rules.spark.facts.cluster_offsets import STORED, is_its_cluster
from headgate.rules.spark.facts.kafka_subscriptions import logged_offsets, subscribes
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_version import read_version

_NUMBERED = re.compile(r"@\d{1,18}$")


def read_kafka(context: Context | None, before: Version) -> Cluster:
    """Return the configured cluster, with the offsets that show whether topics were recreated.

    `before` must have been read earlier, so that none of its offsets is newer than this snapshot.
    Raises UnreachableError if Kafka doesn't respond, ConfigError if no cluster is configured.
    """
    if context is None or not context.registry.bootstrap_servers:
        raise ConfigError("No Kafka cluster is configured: set bootstrap_servers under [kafka].")
    with open_kafka(context.registry) as kafka:
        cluster = replace(kafka.snapshot(), after_evidence=True)
        return replace(cluster, since=_since(kafka, cluster, before))


def reread_cluster(context: Context, cluster: Cluster, before: Version, after: Version) -> Cluster:
    """Return a cluster that was read recently, with its topics read once more after the evidence.

    Both versions must have been read earlier. Only their topics are read a second time, with the
    offsets of records that are newer than the newest batch. Raises UnreachableError if Kafka
    doesn't respond, because a snapshot from before the evidence can't decide.
    """
    names = _topics_of(cluster, (before, after))
    if not names:
        return cluster
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    with open_kafka(context.registry) as kafka:
        seen = {n: _sized(t, cluster) for n, t in kafka.topics(names).items()}
        others = {n: t for n, t in cluster.topics.items() if n not in names}
        fresh = replace(cluster, at=at, topics={**others, **seen}, after_evidence=True)
        return replace(fresh, since=_since(kafka, fresh, before))


def _topics_of(cluster: Cluster, versions: Sequence[Version]) -> set[str]:
    """Return the topics of this cluster that the versions read, or have offsets of."""
    read = [s for v in versions for s in v.sources or () if s.format == "kafka"]
    ours = [s for s in read if is_its_cluster(s, cluster)]
    named = {t for s in ours for t in (*s.topics, *logged_offsets(s))}
    return named | {t for s in ours if s.pattern for t in cluster.topics if subscribes(s, t)}


def _sized(topic: Topic, cluster: Cluster) -> Topic:
    """Return the topic with the size on disk that was read last."""
    known = cluster.topics.get(topic.name)
    return replace(topic, bytes=known.bytes) if known else topic


def _logged(cluster: Cluster, before: Version) -> list[tuple[str, int]]:
    """Return the partitions of this cluster that the old version has offsets of."""
    return [
        (topic, number)
        for source in before.sources or ()
        if source.format == "kafka" and is_its_cluster(source, cluster)
        for topic, offsets in logged_offsets(source).items()
        if topic in cluster.topics
        for number in offsets
    ]


def _since(kafka: Kafka, cluster: Cluster, before: Version) -> tuple[Since, ...]:
    """Look up which records are younger than the batch that the offsets are of."""
    at = before.progress.offsets_at if before.progress else None
    parts = _logged(cluster, before)
    if at is None or not parts:
        return ()
    later = datetime.fromisoformat(at) + CLOCKS
    found = kafka.offsets_for_times(dict.fromkeys(parts, int(later.timestamp() * 1000)))
    return tuple(
        Since(topic=topic, partition=number, at=later.isoformat(), offset=offset)
        for (topic, number), offset in found.items()
    )


def with_offsets_now(evidence: Sequence[str], version: Version, context: Context | None) -> Version:
    """Return the version with the current offsets of its query's checkpoint.

    The offsets of a stored version are those at the time when it was stored. If its checkpoint is
    unknown or reads other topics now, the version keeps these offsets and marks them as stored.
    """
    if _is_read_now(evidence, version):
        return version
    now = _checkpoint_now(evidence, context)
    if now is not None and _topics(now) == _topics(version):
        return with_progress_of(version, now)
    progress = version.progress or Progress()
    return replace(version, progress=replace(progress, offsets_from=STORED))


def with_progress_of(version: Version, now: Version) -> Version:
    """Return the version with offsets and progress of `now`, read from its checkpoint.

    Both versions have the same sources in the same order.
    """
    pairs = zip(version.sources or (), now.sources or (), strict=True)
    moved = tuple(replace(s, offsets=n.offsets, advanced=n.advanced) for s, n in pairs)
    return replace(
        version, sources=moved, progress=now.progress, query_id=now.query_id, faults=now.faults
    )


def _is_read_now(evidence: Sequence[str], version: Version) -> bool:
    """Say whether the source of the offsets was read now, and not when the version was stored."""
    told = [e.path for e in version.evidence]
    return any(path == e or path.startswith(e.rstrip("/") + "/") for path in told for e in evidence)


def _checkpoint_now(evidence: Sequence[str], context: Context | None) -> Version | None:
    name = _NUMBERED.sub("", evidence[0]) if evidence else ""
    pipeline = context.registry.pipeline(name) if context else None
    if pipeline is None or not pipeline.checkpoint:
        return None
    try:
        return read_version([pipeline.checkpoint], context=context)
    except HeadgateError:
        return None


def _topics(version: Version) -> list[frozenset[str]]:
    return [frozenset(logged_offsets(s)) for s in version.sources or ()]


def topic_ids(context: Context, version: Version) -> Mapping[str, str]:
    """Return the current ids in Kafka of the topics of a version's sources.

    Empty without a cluster, or if Kafka doesn't respond, because the ids are optional.
    """
    wanted = {t for s in version.sources or () for t in (*s.topics, *logged_offsets(s))}
    if not wanted or not context.registry.bootstrap_servers:
        return {}
    try:
        with open_kafka(context.registry) as kafka:
            found = kafka.topics(wanted)
    except HeadgateError:
        return {}
    return {name: topic.id for name, topic in found.items() if topic.id}
