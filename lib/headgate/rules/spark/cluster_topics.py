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


_CREATE_THE_TOPIC = (
    "Create the topic, or remove it from the query. If the old version read the topic, the "
    "checkpoint still has its offsets, so Spark doesn't read a recreated topic from the beginning. "
    "In this case, start with a new checkpoint and startingOffsets=earliest."
)


@rule("WLD004", outcomes=(Outcome.REFUSES,), remedies=(_CREATE_THE_TOPIC,))
def topic_missing(c: Comparison) -> Iterator[RuleResult]:
    """Spark requests the partitions of every subscribed topic from Kafka.

    If a topic doesn't exist, the query fails before it writes anything.
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
                because=f"Topic not found in Kafka: {listed(missing)}.",
                error_class="UnknownTopicOrPartitionException",
                remedy=_CREATE_THE_TOPIC,
                scenario="offline-upgrade",
            )


_RESTART_SOON_OR_RAISE = (
    "Restart before Kafka deletes unread records, or raise the topic's retention.ms first."
)


@rule(
    "WLD007",
    "Kafka documentation: topic configuration, retention.ms",
    outcomes=(Outcome.RESUMES,),
    remedies=(_RESTART_SOON_OR_RAISE,),
)
def retention_is_near(c: Comparison) -> Iterator[RuleResult]:
    """Kafka deletes records that are older than retention.ms, even if the query hasn't read them
    yet.

    If Kafka deletes unread records before the query restarts, they are lost. With
    failOnDataLoss=true, Spark then fails. With failOnDataLoss=false, Spark skips them, and only
    logs a warning.
    """
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
                    because=(
                        f"Kafka keeps the records of the topic {topic} for {_hours(kept)} "
                        f"(retention.ms). The oldest unread record may be from {at}."
                    ),
                    remedy=_RESTART_SOON_OR_RAISE,
                )


_CREATE_FIRST_WITH = (
    "Create the topic {topic} first, with as many partitions as its consumers need."
)
_DOES_THE_BROKER = "Does the broker create topics automatically (auto.create.topics.enable)?"


@rule(
    "WLD008",
    "Kafka's documentation of the producer (max.block.ms); not measured",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_CREATE_FIRST_WITH,),
    questions=(_DOES_THE_BROKER,),
)
def sink_topic_missing(c: Comparison) -> Iterator[RuleResult]:
    """The Kafka sink's topic doesn't exist: the broker creates it, or the batch fails.

    A topic that the broker creates has the default number of partitions.
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
            because=f"Topic not found in Kafka: {topic}.",
            question=_DOES_THE_BROKER,
            remedy=_CREATE_FIRST_WITH.format(topic=topic),
        )


_SET_THAT_CLUSTER = (
    "Set `bootstrap_servers` under [kafka] in headgate.toml to the source's cluster."
)
_DOES_THIS_SOURCE = (
    "Does the source read from the Kafka cluster that [kafka] in headgate.toml names?"
)


@rule(
    "WLD009",
    "comparison of the source's topics in the evidence with the topics in the Kafka cluster",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_SET_THAT_CLUSTER,),
    questions=(_DOES_THIS_SOURCE,),
)
def source_reads_another_cluster(c: Comparison) -> Iterator[RuleResult]:
    """The Kafka cluster in headgate.toml has none of the topics that the source reads.

    So Headgate did not compare the source's offsets with the cluster.
    """
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
                because=(
                    "The source's bootstrap servers differ from the bootstrap servers in "
                    "headgate.toml."
                ),
                question=_DOES_THIS_SOURCE,
                rollback=Rollback.UNKNOWN,
                remedy=_SET_THAT_CLUSTER,
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
    hours = f"{ms / _HOUR:g}"
    return f"{hours} hour" if hours == "1" else f"{hours} hours"


_COMPARE_AGAIN_WITH = (
    "Set `bootstrap_servers` under [kafka] in headgate.toml, and compare again (on the command "
    "line, with `--cluster`): Headgate then checks topics and offsets in Kafka."
)
_IS_STILL_THE_TOPIC = (
    "Was one of these topics recreated: {topics}? Did Kafka delete unread records? Or did "
    "somebody edit the checkpoint?"
)


@rule(
    "WLD010",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_COMPARE_AGAIN_WITH,),
    questions=(_IS_STILL_THE_TOPIC,),
)
def offsets_not_checked(c: Comparison) -> Iterator[RuleResult]:
    """If the query is unchanged, only the cluster and the checkpoint decide whether it resumes.

    The evidence doesn't show whether a topic was recreated, unread records were deleted, or offsets
    were edited. If the two versions differ, Headgate judges the difference and warns that it did
    not check the Kafka cluster.
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
        because="Headgate found no difference between the versions, but did not check Kafka.",
        question=_IS_STILL_THE_TOPIC.format(topics=topics),
        rollback=Rollback.UNKNOWN,
        remedy=_COMPARE_AGAIN_WITH,
    )


def _is_of_checkpoint(c: Comparison) -> bool:
    """Say whether a restart is judged: a version of only code is compared for its difference."""
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
