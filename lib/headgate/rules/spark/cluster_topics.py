"""Rules about Kafka as it is now: topics that are missing, and what is about to be deleted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import family, option
from headgate.rules.spark.facts.cluster_offsets import (
    STORED,
    Logged,
    exact,
    is_its_cluster,
    listed,
    logged_now,
)
from headgate.rules.spark.facts.kafka_subscriptions import kafka_pairs, logged_offsets
from headgate.rules.spark.facts.version_identity import looks_equal

_HOUR = 3_600_000


@rule("WLD004")
def topic_missing(c: Comparison) -> Iterator[RuleResult]:
    """Spark asks Kafka for the partitions of every topic that it is told to read.

    One that does not exist fails the query before it has written anything.
    """
    for source in c.after.sources or ():
        cluster = c.cluster
        if cluster is None or family(source) != "kafka" or not is_its_cluster(source, cluster):
            continue
        missing = [t for t in source.topics if t not in cluster.topics]
        if missing:
            pair = next((p for p in c.sources if p.after is source), SourcePair(None, source))
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                after=list(source.topics),
                because=f"{listed(missing)} does not exist.",
                error_class="UnknownTopicOrPartitionException",
                remedy="Create the topic, or leave it out. Its offsets are those of the old one: a "
                "new topic of that name is not read from its beginning.",
            )


@rule("WLD007", "Kafka's retention.ms, and the offsets in the checkpoint")
def retention_is_near(c: Comparison) -> Iterator[RuleResult]:
    """Records that wait for the new version are deleted when they are older than the retention."""
    at = c.before.progress.offsets_at if c.before.progress else None
    for pair, cluster, parts in logged_now(c):
        for topic in dict.fromkeys(p.topic for p in parts if not p.gone and _unread(p)):
            kept = cluster.topics[topic].retention_ms
            left = _left_ms(at, cluster.at, kept)
            if left is not None and kept is not None and left < kept / 4:
                yield RuleResult(
                    outcome=Outcome.RESUMES,
                    state_effect=exact(c),
                    location=pair.location,
                    before=at,
                    after=kept,
                    because=f"{topic} keeps records for {_hours(kept)}, and what is not read yet "
                    f"was written from {at} on.",
                    remedy="Restart soon, or raise retention.ms first.",
                )


@rule("WLD008", "Kafka's producer: max.block.ms; not measured")
def sink_topic_missing(c: Comparison) -> Iterator[RuleResult]:
    """A Kafka sink writes to a topic that is not there: the broker creates it, or the batch fails.

    A topic that is created like that has the broker's default number of partitions.
    """
    sink, cluster = c.after.sink, c.cluster
    if sink is None or cluster is None or sink.format != "kafka":
        return
    topic = next((v for k, v in sink.options.items() if k.lower() == "topic"), None)
    servers = next((v for k, v in sink.options.items() if k.endswith("bootstrap.servers")), "")
    ours = not servers or not set(servers.split(",")).isdisjoint(cluster.bootstrap.split(","))
    if topic and ours and topic not in cluster.topics:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            after=topic,
            because=f"{topic} does not exist.",
            question="Does the broker create topics by itself (auto.create.topics.enable)?",
            remedy=f"Create {topic} first, with as many partitions as its readers need.",
        )


@rule("WLD009", "the evidence and the cluster that was asked")
def another_cluster(c: Comparison) -> Iterator[RuleResult]:
    """The cluster that was asked has none of the topics that the source reads."""
    for pair in c.sources:
        source, cluster = pair.after, c.cluster
        if source is None or cluster is None or family(source) != "kafka":
            continue
        if not is_its_cluster(source, cluster):
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                before=option(source, "kafka.bootstrap.servers"),
                after=cluster.bootstrap,
                because="Its addresses are other ones, too.",
                question="Is the Kafka of headgate.toml the one that this source reads?",
                rollback=Rollback.UNKNOWN,
                remedy="Name that cluster under [kafka].",
            )


def _unread(p: Logged) -> bool:
    return p.now is not None and (p.now.end or 0) > p.offset


def _left_ms(at: str | None, now: str, kept: int | None) -> float | None:
    """Return for how long the oldest record that was not read is still kept, at least; in ms."""
    if at is None or kept is None or kept < 0:
        return None
    age = datetime.fromisoformat(now) - datetime.fromisoformat(at)
    return kept - age.total_seconds() * 1000


def _hours(ms: int) -> str:
    return f"{ms / _HOUR:g} hours"


@rule("WLD010")
def offsets_not_asked(c: Comparison) -> Iterator[RuleResult]:
    """Where the query is the same, only the world decides how its restart ends.

    A topic that was made again, records that were deleted before they were read, and offsets that
    were edited look like any other restart in the files. Where the two versions differ, the
    difference is what the comparison is about, and Kafka is a warning.
    """
    if c.cluster is not None or not _is_of_checkpoint(c) or not _is_same_query(c):
        return
    logged = [(p, t) for p in kafka_pairs(c) if p.before for t in logged_offsets(p.before)]
    if not logged:
        return
    topics = listed(sorted({topic for _, topic in logged}))
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        location=logged[0][0].location,
        because="Nothing that can be seen differs, and Kafka was not asked.",
        question=f"Is {topics} still the topic that the offsets were read from, with all that was "
        "not read yet, and did nobody edit the checkpoint?",
        rollback=Rollback.UNKNOWN,
        remedy="Compare with `--cluster`, which asks Kafka.",
    )


def _is_of_checkpoint(c: Comparison) -> bool:
    """Say whether a restart is judged: a version of code alone is compared for its difference."""
    progress = c.before.progress
    return progress is not None and progress.offsets_from not in (None, STORED)


def _is_same_query(c: Comparison) -> bool:
    """Say whether even names, settings and numbers that decide nothing are equal."""
    same = [(s.columns, s.options) for s in c.before.sources or ()]
    return (
        looks_equal(c)
        and same == [(s.columns, s.options) for s in c.after.sources or ()]
        and not c.nodes.removed
        and not c.nodes.added
    )
