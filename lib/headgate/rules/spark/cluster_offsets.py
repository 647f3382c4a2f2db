"""Rules about Kafka as it is now: whether the checkpoint's offsets still mean something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from headgate.model.cluster import Cluster
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import loses_data_silently
from headgate.rules.spark.facts.cluster_offsets import (
    MOST,
    Logged,
    asked,
    exact,
    listed,
    logged_now,
    part,
    read_now,
)
from headgate.rules.spark.facts.kafka_subscriptions import known_topics, subscribes
from headgate.text.numbers import plural


class Recreated(StrEnum):
    """What ids of topics and times of records say of a topic."""

    NO = "no"
    YES = "yes"
    SINCE_STORED = "since_stored"
    LIKELY = "likely"
    NOT_KNOWN = "not_known"


def recreated(c: Comparison, cluster: Cluster, parts: list[Logged]) -> Recreated:
    """Judge one topic by the partitions whose offsets are logged.

    Equal ids are evidence that it is the same topic. Another id is evidence that it was recreated
    after the version was stored. A record below the offset that is younger than the batch which
    planned it is evidence that the offsets are still those of the old topic.
    """
    topic = parts[0].topic
    known, now = c.before.topic_ids.get(topic), cluster.topics[topic].id
    younger = _younger(cluster, parts)
    if known is not None and now is not None:
        if known == now:
            return Recreated.NO
        return {True: Recreated.YES, False: Recreated.NO, None: Recreated.SINCE_STORED}[younger]
    return {True: Recreated.LIKELY, False: Recreated.NO, None: Recreated.NOT_KNOWN}[younger]


def _younger(cluster: Cluster, parts: list[Logged]) -> bool | None:
    """Say whether a record that was read already is younger than its batch; None: not looked up."""
    looked_up = {(s.topic, s.partition): s.offset for s in cluster.since}
    asked = [p for p in parts if (p.topic, p.partition) in looked_up]
    if not asked:
        return None
    firsts = [(looked_up[p.topic, p.partition], p.offset) for p in asked]
    return any(first is not None and first < offset for first, offset in firsts)


_COPY = (
    "If you have a copy of the lost records, write the copy to the topic: the query reads these "
    "records at their new offsets."
)
_ONCE = (
    "The query can't read the lost records any more. If you can do without these records, start "
    "the query once with failOnDataLoss=false: Spark then skips them. Or start with a new "
    "checkpoint and set startingOffsets. " + _COPY
)
_RESTORE_THE_LOST = "Spark skips the lost records, because failOnDataLoss is false. " + _COPY
_COPY_OF_DELETED = (
    "If you have a copy of their unread records, write the copy to a topic that the query reads."
)
_SKIPS_DELETED = (
    "Spark skips the deleted topics and partitions, because failOnDataLoss is false. "
    + _COPY_OF_DELETED
)
_ONCE_WITHOUT_DELETED = (
    "The query can't read the deleted topics and partitions any more. If you can do without their "
    "unread records, start the query once with failOnDataLoss=false: Spark then skips them. Or "
    "start with a new checkpoint and set startingOffsets. " + _COPY_OF_DELETED
)
_IF_RECREATED = (
    "If the topic was recreated, start with a new checkpoint and startingOffsets=earliest: the "
    "query then reads all records of the new topic."
)
_NEW_CHECKPOINT = (
    f"{_IF_RECREATED} If the topic only lost its newest records, start the query once with "
    "failOnDataLoss=false: it resumes at the latest offset."
)
_RESUMES_AT_THE_END = (
    f"{_IF_RECREATED} If the topic only lost its newest records, the query resumes at the latest "
    "offset, because failOnDataLoss is false."
)


@rule(
    "WLD001",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG),
    remedies=(_RESTORE_THE_LOST, _ONCE),
)
def unread_records_deleted(c: Comparison) -> Iterator[RuleResult]:
    """Kafka deleted records that the query has not read.

    The old version can't read them either. With failOnDataLoss=true the first batch fails after
    Spark has written its offsets. With failOnDataLoss=false Spark logs a warning and skips the
    deleted records.
    """
    for pair, _, parts in logged_now(c):
        gone = [p for p in parts if p.gone]
        if gone:
            shown = listed(
                (
                    f"{plural(p.gone, 'record')} in {p} (checkpoint offset {p.offset}, earliest "
                    f"offset {_begin(p)})"
                )
                for p in gone
            )
            yield _lost(pair, f"Kafka deleted unread records: {shown}.", gone)


@rule(
    "WLD002",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG),
    remedies=(_RESUMES_AT_THE_END, _NEW_CHECKPOINT),
)
def offset_after_latest_offset(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint's offset is after the partition's latest offset: the topic was recreated, or
    lost its newest records.

    With failOnDataLoss=true Spark fails. With failOnDataLoss=false Spark continues at the latest
    offset. Spark then never reads the earlier records of a recreated topic.
    """
    for pair, _, parts in logged_now(c):
        beyond = [p for p in parts if p.beyond]
        if beyond:
            shown = listed(
                (f"{p} (checkpoint offset {p.offset}, latest offset {_end(p)})") for p in beyond
            )
            because = (
                f"In these partitions, the checkpoint's offset is after the latest offset: {shown}."
            )
            lost = _lost(pair, because, beyond)
            is_silent = lost.outcome is Outcome.SILENTLY_WRONG
            remedy = _RESUMES_AT_THE_END if is_silent else _NEW_CHECKPOINT
            yield replace(lost, remedy=remedy)


_IF_THE_OLD = (
    "Start with a new checkpoint and startingOffsets=earliest. If you still need the old topic's "
    "records, first write a copy of these records to the new topic."
)
_IF_IT_WAS = "If the topic was recreated, start with a new checkpoint and startingOffsets=earliest."
_WAS_DELETED_AND_RECREATED = (
    "Was the topic {topic} deleted and recreated after the query had read from it?"
)


@rule(
    "WLD003",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_IF_THE_OLD, _IF_IT_WAS),
    questions=(_WAS_DELETED_AND_RECREATED,),
)
def topic_recreated(c: Comparison) -> Iterator[RuleResult]:
    """Offsets belong to the topic that they were read from, but Spark doesn't compare topic ids.

    If the recreated topic has records after the old offset, Spark resumes at that offset. Spark
    skips all records before the old offset, even with failOnDataLoss=true.
    """
    for pair, cluster, parts in logged_now(c):
        for topic in dict.fromkeys(p.topic for p in parts):
            mine = [p for p in parts if p.topic == topic and p.offset > 0]
            if mine and not any(p.beyond or p.now is None for p in mine):
                yield from _recreated(c, pair, cluster, mine)


@rule(
    "WLD005",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.RESUMES),
    remedies=(_SKIPS_DELETED, _ONCE_WITHOUT_DELETED),
)
def partitions_deleted(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint has offsets of a topic or partition that no longer exists.

    Kafka never removes single partitions, so the topic was deleted.
    """
    for pair, cluster in asked(c):
        assert pair.before and pair.after
        gone = [str(p) for p in _all_logged(c, pair) if p.now is None]
        topics = _matching_no_more(pair, cluster)
        if gone or (topics and not loses_data_silently(pair.after)):
            because = f"These topics or partitions no longer exist: {listed([*gone, *topics])}."
            silent = loses_data_silently(pair.after)
            remedy = _SKIPS_DELETED if silent else _ONCE_WITHOUT_DELETED
            yield replace(_lost(pair, because, ()), remedy=remedy)
        elif topics:
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=exact(c),
                location=pair.location,
                before=topics,
                because=f"These topics no longer exist: {listed(topics)}. Unread records are lost.",
            )


@rule(
    "WLD006",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.RESUMES),
    remedies=(_RESTORE_THE_LOST, _ONCE),
)
def partitions_added(c: Comparison) -> Iterator[RuleResult]:
    """If a partition isn't in the checkpoint, Spark reads it from its earliest offset.
    startingOffsets doesn't apply.

    If the earliest offset isn't 0, Kafka deleted records before Spark read them. Spark treats that
    as data loss.
    """
    for pair, cluster in asked(c):
        assert pair.before
        known = {(p.topic, p.partition) for p in _all_logged(c, pair)}
        if not known:
            continue
        new = _new_partitions(pair, cluster, known)
        cut = [p for p in new if p.gone]
        if cut:
            shown = listed(f"{p} (earliest offset {_begin(p)})" for p in cut)
            yield _lost(
                pair,
                (
                    "These partitions aren't in the checkpoint, and their earliest offset isn't "
                    f"0: {shown}."
                ),
                cut,
            )
        elif new:
            records = sum((p.now.end or 0) - (p.now.begin or 0) for p in new if p.now)
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=exact(c),
                location=pair.location,
                after=[str(p) for p in new][:MOST],
                because=(
                    f"These partitions aren't in the checkpoint: {listed(map(str, new))}. Spark "
                    "reads these partitions from their earliest offsets "
                    f"({plural(records, 'record')})."
                ),
            )


def _lost(pair: SourcePair, because: str, parts: Sequence[Logged]) -> RuleResult:
    """Return the two outcomes of what Spark calls data loss."""
    assert pair.after
    silent = loses_data_silently(pair.after)
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if silent else Outcome.REFUSES,
        state_effect=StateEffect.LOST if silent else None,
        location=pair.location,
        before={str(p): p.offset for p in parts[:MOST]} or None,
        after={str(p): [_begin(p), _end(p)] for p in parts[:MOST]} or None,
        because=because,
        error_class=None if silent else "KAFKA_DATA_LOSS",
        rollback=Rollback.SAFE if silent else Rollback.REPAIRABLE,
        remedy=_RESTORE_THE_LOST if silent else _ONCE,
        scenario="from-point",
    )


def _recreated(
    c: Comparison, pair: SourcePair, cluster: Cluster, parts: list[Logged]
) -> Iterator[RuleResult]:
    topic, found = parts[0].topic, recreated(c, cluster, parts)
    ids = [c.before.topic_ids.get(topic), cluster.topics[topic].id]
    if found is Recreated.YES:
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.LOST,
            location=pair.location,
            before=ids[0],
            after=ids[1],
            because=f"Topic {topic} was deleted and recreated.",
            remedy=_IF_THE_OLD,
            scenario="from-scratch",
        )
    elif found in (Recreated.LIKELY, Recreated.SINCE_STORED):
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=pair.location,
            before=ids[0],
            after=ids[1],
            because=_WHY[found].format(topic=topic),
            question=_WAS_DELETED_AND_RECREATED.format(topic=topic),
            remedy=_IF_IT_WAS,
            scenario="from-scratch",
        )


_WHY = {
    Recreated.LIKELY: (
        "Topic {topic} was probably recreated: records before the checkpoint's offset were "
        "written after the batch that read up to this offset."
    ),
    Recreated.SINCE_STORED: (
        "Topic {topic} was recreated after the old version was stored: the topic id differs from "
        "the stored id. Headgate hasn't checked whether the query has already read the new topic."
    ),
}


def _all_logged(c: Comparison, pair: SourcePair) -> list[Logged]:
    return next((parts for p, _, parts in logged_now(c) if p == pair), [])


def _matching_no_more(pair: SourcePair, cluster: Cluster) -> list[str]:
    """Return the topics that a pattern matched and that are gone; a list of topics has WLD004."""
    assert pair.before and pair.after
    if not pair.after.pattern:
        return []
    known = (t for t in known_topics(pair.before) if t not in cluster.topics)
    return [t for t in known if subscribes(pair.after, t)]


def _new_partitions(
    pair: SourcePair, cluster: Cluster, known: set[tuple[str, int]]
) -> list[Logged]:
    """Return the partitions that are not logged, as if their offset were 0."""
    assert pair.after
    return [
        Logged(name, p.number, 0, part(cluster.topics[name], p.number))
        for name in read_now(pair.after, cluster)
        for p in cluster.topics[name].partitions
        if (name, p.number) not in known
    ]


def _begin(p: Logged) -> int | None:
    return p.now.begin if p.now else None


def _end(p: Logged) -> int | None:
    return p.now.end if p.now else None
