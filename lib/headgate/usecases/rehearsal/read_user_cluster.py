"""What a rehearsal of Kafka Streams reads from the user's cluster; it writes nothing there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from headgate.errors import RefusedError
from headgate.gateway.kafka import consumer_groups
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import read_offsets
from headgate.gateway.kafka.read_records import Record, read_records
from headgate.gateway.kafka.topics import TopicPart, Warnings
from headgate.gateway.kafka_broker.rehearsal_broker import Wanted
from headgate.model.cluster import Cluster, Group, GroupOffset, Topic
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.model.kafka_streams_rehearsal import ClusterComparison
from headgate.text.java_patterns import java_pattern

_KEPT = ("cleanup.policy", "retention.ms", "retention.bytes", "segment.bytes", "segment.ms")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Maximum numbers of copied records: unread ones of all inputs, those of all changelogs."""

    records: int = 1000
    changelog: int = 1_000_000


@dataclass(frozen=True, slots=True)
class UserCluster:
    """The application's part of the cluster at one time.

    `names` are the names of all topics and of all groups.
    """

    kafka: Kafka
    application_id: str
    cluster_id: str
    topics: Mapping[str, Topic]
    group: Group
    committed: Mapping[TopicPart, GroupOffset]
    names: tuple[frozenset[str], frozenset[str]]
    wanted: frozenset[str] = field(default_factory=frozenset)

    def facts(self) -> dict[str, object]:
        """Return all facts that a rehearsal must not change, by topic and group."""
        found: dict[str, object] = {"the list of topics": sorted(self.names[0])}
        found |= {"the list of groups": sorted(self.names[1])}
        for name, topic in self.topics.items():
            parts = [(p.number, p.begin, p.end) for p in topic.partitions]
            found[f"topic {name}"] = [topic.id, parts]
        offsets = sorted((*part, o.offset, o.metadata) for part, o in self.committed.items())
        members = sorted(m.id for m in self.group.members or ())
        return found | {f"group {self.application_id}": [self.group.state, members, offsets]}

    def as_cluster(self) -> Cluster:
        """Return the same facts as a cluster for the rules."""
        return Cluster(
            id=self.cluster_id,
            at="",
            bootstrap=self.kafka.bootstrap,
            topics=dict(self.topics),
            groups={self.application_id: self.group},
        )


def read_user_cluster(
    kafka: Kafka, application_id: str, app: StreamsApplication | None = None
) -> UserCluster:
    """Read the application's internal topics, inputs, outputs and group.

    `app` is the version to start; its inputs and outputs are read, too.
    """
    committed = read_offsets(kafka, application_id)
    names = frozenset(kafka.partitions())
    wanted = {n for n in names if n.startswith(f"{application_id}-") and looks_internal(n)}
    wanted |= {topic for topic, _ in committed}
    wanted |= set(sources(app, names) | sinks(app)) if app else set()
    return _look(kafka, application_id, frozenset(wanted & names), committed, names)


def reread_user_cluster(seen: UserCluster) -> UserCluster:
    """Read the same topics and the group a second time."""
    committed = read_offsets(seen.kafka, seen.application_id)
    names = frozenset(seen.kafka.partitions())
    return _look(seen.kafka, seen.application_id, seen.wanted, committed, names)


def _look(
    kafka: Kafka,
    application_id: str,
    wanted: frozenset[str],
    committed: Mapping[TopicPart, GroupOffset],
    names: frozenset[str],
) -> UserCluster:
    groups = consumer_groups.list_all(kafka.admin, kafka.deadline(), Warnings()).ids
    return UserCluster(
        kafka=kafka,
        application_id=application_id,
        cluster_id=kafka.cluster_id(),
        topics=kafka.topics(wanted),
        group=kafka.describe_group(application_id),
        committed=committed,
        names=(names, frozenset(groups)),
        wanted=wanted,
    )


def compare_reads(before: UserCluster, after: UserCluster) -> ClusterComparison:
    """Return the differences between two reads of the cluster."""
    was, now = before.facts(), after.facts()
    return ClusterComparison(
        bootstrap=before.kafka.bootstrap,
        topics=len(before.topics),
        partitions=sum(len(t.partitions) for t in before.topics.values()),
        offsets=len(before.committed),
        before=_hash(was),
        after=_hash(now),
        changed=tuple(sorted(k for k in was.keys() | now.keys() if was.get(k) != now.get(k))),
    )


def copied(
    seen: UserCluster, app: StreamsApplication, bounds: Bounds, *, batch: bool
) -> Iterator[Wanted]:
    """Yield the topics for the rehearsal's broker, with their records.

    With `batch` False, records that the application hasn't read are left out. RefusedError if
    changelogs have more records than `bounds` allows.
    """
    changelogs = {n for n in seen.topics if n.endswith("-changelog") and looks_internal(n)}
    _check(seen, changelogs, bounds.changelog)
    whole, read = _read_as_a_whole(app), sources(app, seen.topics)
    lag = {p: r for t in seen.topics.values() for p, r in _lags(seen, t)}
    behind = [p for p, (begin, end) in lag.items() if begin < end and p[0] in read]
    quota = max(1, bounds.records // max(1, len(behind)))
    for name, topic in sorted(seen.topics.items()):
        if name in changelogs:
            yield _changelog(seen, topic)
        elif name in read or looks_internal(name):
            yield _input(seen, topic, quota if batch else 0, whole=name in whole)
        else:
            role = "output" if name in sinks(app) else "not read"
            yield Wanted(name, len(topic.partitions), role, _config(topic))


def sources(app: StreamsApplication, names: Collection[str]) -> frozenset[str]:
    """Return the input topics of a version; patterns are matched with `names`."""
    found = {t for s in app.sources for t in s.topics}
    for source in app.sources:
        if source.pattern:
            found |= {n for n in names if not n.startswith("__") and _fits(source.pattern, n)}
    return frozenset(found)


def sinks(app: StreamsApplication) -> frozenset[str]:
    """Return the output topics that a version names."""
    return frozenset(s.topic for s in app.sinks if s.topic)


def _fits(pattern: str, name: str) -> bool:
    """One that only Java understands matches nothing."""
    compiled = java_pattern(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


def _read_as_a_whole(app: StreamsApplication) -> frozenset[str]:
    """Topics that a store is restored from: of global tables, and of optimised ones."""
    restored = {s.restored_from for s in app.stores if s.restored_from}
    return frozenset(restored | {t for s in app.sources if s.is_global for t in s.topics})


def _check(seen: UserCluster, changelogs: Collection[str], most: int) -> None:
    count = sum(seen.topics[n].records or 0 for n in changelogs)
    if count > most:
        raise RefusedError(
            f"the changelogs of {seen.application_id} have up to {count:,} records, but "
            f"--max-changelog allows only {most:,}. Raise the limit, or use only local files with "
            "--offline"
        )


def _lags(seen: UserCluster, topic: Topic) -> Iterator[tuple[TopicPart, tuple[int, int]]]:
    for p in topic.partitions:
        at = seen.committed.get((topic.name, p.number))
        begin = at.offset if at and at.offset is not None else (p.begin or 0)
        yield (topic.name, p.number), (max(begin, p.begin or 0), p.end or 0)


def _changelog(seen: UserCluster, topic: Topic) -> Wanted:
    ranges = {(topic.name, p.number): (p.begin or 0, p.end or 0) for p in topic.partitions}
    return Wanted(
        topic.name,
        len(topic.partitions),
        "changelog",
        _config(topic),
        _read(seen, ranges),
        {number: end for (_, number), (_, end) in ranges.items()},
    )


def _input(seen: UserCluster, topic: Topic, quota: int, *, whole: bool) -> Wanted:
    internal = looks_internal(topic.name)
    ranges, starts = {}, {}
    for part, (begin, end) in _lags(seen, topic):
        low = next(p.begin or 0 for p in topic.partitions if p.number == part[1])
        starts[part[1]] = begin
        last = min(end, begin + quota)
        ranges[part] = (low if whole else begin, max(last, begin))
    records = _read(seen, ranges)
    read = {n: sum(1 for r in records if r.partition == n and r.offset < at)
            for n, at in starts.items()}  # fmt: skip
    committed = {
        n: GroupOffset(topic=topic.name, partition=n, offset=count, metadata=was.metadata)
        for n, count in read.items()
        if (was := seen.committed.get((topic.name, n))) is not None
    }
    role = "repartition" if internal else "input"
    return Wanted(
        topic.name, len(topic.partitions), role, _config(topic), records, committed=committed
    )


def _read(seen: UserCluster, ranges: Mapping[TopicPart, tuple[int, int]]) -> list[Record]:
    return read_records(seen.kafka.bootstrap, seen.kafka.config, ranges)


def _config(topic: Topic) -> dict[str, str]:
    found = {k: topic.own_settings[k] for k in _KEPT if k in topic.own_settings}
    if topic.cleanup_policy:
        found["cleanup.policy"] = topic.cleanup_policy
    return found


def _hash(facts: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
