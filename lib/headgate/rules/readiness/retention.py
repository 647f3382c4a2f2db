"""How near a pipeline's position is to what Kafka deletes: the records, or the position itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headgate.landscape.consumer_lag import checkpoint_positions, ends_of, group_positions
from headgate.landscape.landscape import PartitionLag, PositionState
from headgate.model.activity import ActivityState
from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import some, span
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.cluster_offsets import are_current, too_old
from headgate.text.numbers import plural

_KEEP = (
    "Start the pipeline before its committed offsets expire. Or save the offsets now, to restore "
    "them later: kafka-consumer-groups --bootstrap-server HOST:PORT --group GROUP --all-topics "
    "--reset-offsets --to-current --export. Without --execute, this command changes nothing."
)

RETENTION = "offsets.retention.minutes"
NEAR = 0.8
"""Share of the retention after which the next unread record counts as expiring soon."""
FEW = 1000
"""Minimum number of offsets in a partition for this estimate.

With fewer, the lag doesn't show how close the next unread record is to its deletion.
"""
_MINUTE_MS = 60_000
_SHORT_MS = 2 * 86_400_000
"""Two days: committed offsets that expire earlier may not outlast a weekend."""


_FIND_THE_RECORDS = (
    "Raise the topic's retention first. If you have a copy of the deleted records (archive, "
    "mirror), write the copy to the topic. Then let the pipeline continue at the earliest offset. "
    "Consumer group or Kafka Streams: set the group's offsets to earliest. Spark: start the query "
    "once with failOnDataLoss=false."
)


@rule(
    "RDY110",
    "measured on Spark 4.2.0 and Kafka 4.3.1",
    severities=(Severity.HIGH,),
    remedies=(_FIND_THE_RECORDS,),
)
def unread_offsets_deleted(s: Subject) -> Iterator[Problem]:
    """Kafka deleted records before the pipeline read them.

    Spark fails, or skips the records with failOnDataLoss=false. A consumer group silently continues
    at the offset that auto.offset.reset sets.
    """
    lost = [p for p in _positions(s) if p.state is PositionState.DATA_LOST]
    if lost:
        gone = sum((p.begin or 0) - (p.position or 0) for p in lost)
        yield Problem(
            severity=Severity.HIGH,
            location=_node(lost[0].topic, s),
            what=(
                f"Kafka deleted records at {plural(gone, 'unread offset', f'{gone:,}')}. In "
                f"{_partitions(lost)}, the earliest offset is after the pipeline's offset."
            ),
            remedy=_FIND_THE_RECORDS,
            keeps_state=True,
        )


_RAISE_RETENTION_MS = (
    "Raise retention.ms on the topic now (this also keeps existing records), then let the "
    "pipeline catch up."
)


@rule(
    "RDY111",
    "Kafka documentation: topic configuration, retention.ms; the estimate is Headgate's",
    severities=(Severity.HIGH,),
    remedies=(_RAISE_RETENTION_MS,),
)
def unread_records_expire_soon(s: Subject) -> Iterator[Problem]:
    """The consumer lag is so large that Kafka will soon delete unread records.

    If the pipeline stops, or reads more slowly than producers write, these records are lost.
    """
    near = [p for p in _positions(s) if (_age(p, s) or 0) >= NEAR]
    if near:
        worst = max(near, key=lambda p: _age(p, s) or 0)
        topic = s.topic(worst.topic)
        keeps = (topic.retention_ms or 0) if topic else 0
        left = keeps * (1 - (_age(worst, s) or 0))
        soon = f"in about {span(left)}" if left >= _MINUTE_MS else "at any moment"
        yield Problem(
            severity=Severity.HIGH,
            location=_node(worst.topic, s),
            what=(
                f"The next unread record in {_partitions(near)} is near the end of its retention "
                f"of {span(keeps)}. Kafka starts to delete unread records {soon}, "
                "assuming an even write rate."
            ),
            remedy=_RAISE_RETENTION_MS,
            keeps_state=True,
        )


def _age(position: PartitionLag, s: Subject) -> float | None:
    """Return which share of its life the next record has had, as if records came evenly.

    None where nothing waits, nothing was deleted yet, or records do not go by age.
    """
    begin, end, now = position.begin, position.end, position.position
    topic = s.topic(position.topic)
    if topic is None or not begin or end is None or now is None or now >= end or now < begin:
        return None
    deletes = "delete" in (topic.cleanup_policy or "delete")
    if not deletes or (topic.retention_ms or -1) <= 0 or end - begin < FEW:
        return None
    return (end - now) / (end - begin)


_RAISE_ON_THE_BROKERS = (
    f"On the brokers, set {RETENTION} to more than the longest time that the pipeline may be "
    "stopped. The default is 7 days."
)
_SINCE_WHEN_IS_IT_STOPPED = "Since when has the pipeline been stopped?"


@rule(
    "RDY112",
    "Kafka documentation: broker configuration, offsets.retention.minutes",
    severities=(Severity.HIGH, Severity.MEDIUM, Severity.LOW),
    remedies=(_KEEP, _RAISE_ON_THE_BROKERS),
    questions=(_SINCE_WHEN_IS_IT_STOPPED,),
)
def committed_offsets_expire(s: Subject) -> Iterator[Problem]:
    """Kafka deletes a group's offsets if the group has no members for offsets.retention.minutes.

    A later start doesn't resume: auto.offset.reset decides whether the group starts at the latest
    or the earliest offset. The state isn't reset.
    """
    keeps = _offsets_kept_ms(s)
    if s.version.engine is Engine.SPARK or keeps is None or s.group is None:
        return
    stopped = _stopped_ms(s)
    if stopped is not None:
        yield from _of_stopped(s, keeps, stopped)
    elif s.group.is_inactive:
        yield Problem(
            severity=Severity.MEDIUM,
            what=(
                f"The group {s.group.id} has no members. Its offsets expire {span(keeps)} "
                "after the last member left."
            ),
            remedy=_KEEP,
            keeps_state=True,
            question=_SINCE_WHEN_IS_IT_STOPPED,
        )
    elif keeps < _SHORT_MS:
        yield Problem(
            severity=Severity.MEDIUM,
            what=(
                "The brokers keep the committed offsets of a group without members for only "
                f"{span(keeps)}."
            ),
            remedy=_RAISE_ON_THE_BROKERS,
            keeps_state=True,
        )


def _of_stopped(s: Subject, keeps: int, stopped: float) -> Iterator[Problem]:
    assert s.group is not None
    left = keeps - stopped
    if left <= 0:
        what = "the offsets may have expired already"
    else:
        at = s.now + timedelta(milliseconds=left)
        what = f"the offsets expire by {at:%Y-%m-%d %H:%M} UTC, in {span(left)} or earlier"
    yield Problem(
        severity=Severity.HIGH if left < keeps / 2 else Severity.LOW,
        what=(
            f"The group {s.group.id} has been stopped for at least {span(stopped)}. Brokers keep "
            f"its offsets for {span(keeps)}: {what}."
        ),
        remedy=_KEEP,
        keeps_state=True,
    )


def _stopped_ms(s: Subject) -> float | None:
    """Return how long the pipeline is known to be stopped, None where it runs or nobody knows."""
    seen = s.activity
    if seen is None or seen.state is not ActivityState.STOPPED or not seen.since:
        return None
    since = datetime.fromisoformat(seen.since)
    return max((s.now - since).total_seconds() * 1000, 0)


def _offsets_kept_ms(s: Subject) -> int | None:
    text = s.cluster.broker_settings.get(RETENTION, "") if s.cluster else ""
    return int(text) * _MINUTE_MS if text.isdecimal() else None


def _positions(s: Subject) -> tuple[PartitionLag, ...]:
    if s.cluster is None:
        return ()
    ends = ends_of(s.cluster)
    if s.version.engine is Engine.SPARK:
        if too_old(s.version, s.cluster) or not are_current(s.version):
            return ()
        return checkpoint_positions(replace(s.version, sources=s.of_this_cluster()), ends)
    return group_positions(s.group, ends) if s.group else ()


def _node(topic: str, s: Subject) -> str | None:
    return next((node for name, node in s.inputs() if name == topic), None)


def _partitions(found: list[PartitionLag]) -> str:
    return some([f"{p.topic}[{p.partition}]" for p in found])
