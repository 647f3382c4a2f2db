"""Rules about Kafka sources: topics, options, cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator

from headgate.model.version import Source
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import loses_data_silently, option
from headgate.rules.spark.facts.kafka_subscriptions import (
    kafka_pairs,
    known_topics,
    logged_offsets,
    subscribes,
)

_STARTING = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
)
_POISONED = (
    "If the new version was started and stopped again, and commits/N is missing, batch N is "
    "uncommitted: delete offsets/N before the old version starts."
)


_START_THE_NEW = (
    f"{_POISONED} Start the new version on an empty checkpoint with starting offsets. If the "
    "unread records of the topic may be lost, set failOnDataLoss=false for one start instead."
)


@rule("KAF001", remedies=(_START_THE_NEW,))
def topic_removed(c: Comparison) -> Iterator[RuleResult]:
    """Spark compares the partitions of the last offsets with those that it reads now.

    Missing partitions are data loss, and Spark fails. But by then offsets/N has the new topics, so
    the old version can't start either until that file is deleted.
    """
    for pair, gone in _gone(c):
        assert pair.after
        if not loses_data_silently(pair.after):
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                before=_topics(pair.before),
                after=_topics(pair.after),
                because=(
                    f"The checkpoint has offsets of {', '.join(gone)}, but this source no longer "
                    "reads it."
                ),
                error_class="KAFKA_DATA_LOSS",
                rollback=Rollback.REPAIRABLE,
                remedy=_START_THE_NEW,
                scenario="from-point",
            )


_KEEP_THE_ORDER = "Keep the order of the sources."


@rule("KAF002", remedies=(_KEEP_THE_ORDER,))
def topic_removed_silently(c: Comparison) -> Iterator[RuleResult]:
    """With failOnDataLoss=false Spark only logs a warning, and forgets the offsets of missing
    topics. If another source reads the topic, or if it returns later, Spark reads it from its
    earliest offset. Its records count twice.
    """
    for pair, gone in _gone(c):
        assert pair.after
        if not loses_data_silently(pair.after):
            continue
        moved = [t for t in gone if any(subscribes(s, t) for s in c.after.sources or ())]
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG if moved else Outcome.RESUMES,
            state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
            location=pair.location,
            before=_topics(pair.before),
            after=_topics(pair.after),
            because=f"{', '.join(moved)} is reprocessed from its earliest offset."
            if moved
            else f"{', '.join(gone)} is no longer read.",
            remedy=_KEEP_THE_ORDER if moved else "",
        )


_TO_ROLL_BACK = (
    "To roll back, restore the checkpoint from before. If the new topic's records may be "
    "skipped, start the old version once with failOnDataLoss=false."
)


@rule("KAF003", remedies=(_TO_ROLL_BACK,))
def topic_added(c: Comparison) -> Iterator[RuleResult]:
    """Spark reads a topic that the offset log doesn't know from its earliest offset.
    startingOffsets doesn't apply. If that offset is no longer 0, it counts as data loss and
    Spark fails (WLD006). After a rollback the old version fails to start until the new topic is
    removed from the offset log, or failOnDataLoss is off.
    """
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        new = _topics_added(pair)
        if new:
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
                location=pair.location,
                before=_topics(pair.before),
                after=_topics(pair.after),
                because=f"{', '.join(new)} is new.",
                rollback=Rollback.SAFE if loses_data_silently(pair.before) else Rollback.REPAIRABLE,
                remedy=_TO_ROLL_BACK,
            )


_TO_START_FROM = "To start from another offset, plan a replay."


@rule("KAF004", remedies=(_TO_START_FROM,))
def starting_offsets(c: Comparison) -> Iterator[RuleResult]:
    """Starting offsets apply only to an empty checkpoint. After that the offset log wins."""
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        if _topics_added(pair):
            # What is new is read, and not from there: KAF003 says so.
            continue
        for key in _STARTING:
            old, new = option(pair.before, key), option(pair.after, key)
            if old != new and pair.after.options and pair.before.options:
                yield RuleResult(
                    outcome=Outcome.NO_EFFECT,
                    state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
                    location=pair.location,
                    before=old,
                    after=new,
                    because=f"{key} is ignored.",
                    remedy=_TO_START_FROM,
                    scenario="from-point",
                )


_FOR_ANOTHER_CLUSTER = "For another cluster, start from an empty checkpoint."
_DO_BOTH_ADDRESSES = "Do both addresses belong to the same Kafka cluster?"


@rule(
    "KAF005",
    "offsets belong to one cluster's log; not measured",
    remedies=(_FOR_ANOTHER_CLUSTER,),
    questions=(_DO_BOTH_ADDRESSES,),
)
def other_cluster(c: Comparison) -> Iterator[RuleResult]:
    """Offsets belong to the log of one cluster and mean nothing in another."""
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        key = "kafka.bootstrap.servers"
        old, new = option(pair.before, key), option(pair.after, key)
        if old and new and set(old.split(",")).isdisjoint(new.split(",")):
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                before=old,
                after=new,
                because="The bootstrap servers changed.",
                question=_DO_BOTH_ADDRESSES,
                rollback=Rollback.UNKNOWN,
                remedy=_FOR_ANOTHER_CLUSTER,
            )


@rule("KAF006", remedies=(_POISONED,))
def assigned_partitions(c: Comparison) -> Iterator[RuleResult]:
    """Spark keeps offsets by partition, and `assign` names each partition.

    A partition that is no longer assigned is data loss, like a missing topic. Spark reads a new one
    from its earliest offset.
    """
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        known, now = logged_offsets(pair.before), _assigned(pair.after)
        if not known or now is None:
            continue
        old = {(t, p) for t, parts in known.items() for p in parts if t in now}
        new = {(t, p) for t, parts in now.items() for p in parts}
        lost = sorted(f"{t}-{p}" for t, p in old - new)
        silent = loses_data_silently(pair.after)
        if lost or new - old:
            yield RuleResult(
                outcome=Outcome.REFUSES if lost and not silent else Outcome.RESUMES,
                state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
                location=pair.location,
                before=sorted(f"{t}-{p}" for t, p in old),
                after=sorted(f"{t}-{p}" for t, p in new),
                because=f"{', '.join(lost)} is no longer read." if lost else "",
                error_class="KAFKA_DATA_LOSS" if lost and not silent else None,
                rollback=Rollback.REPAIRABLE,
                remedy=_POISONED,
            )


def _assigned(source: Source) -> dict[str, set[int]] | None:
    """Return what `assign` names, {topic: partitions}; None where a source subscribes."""
    text = option(source, "assign")
    try:
        found = json.loads(text) if text else None
        return {t: {int(p) for p in parts} for t, parts in found.items()} if found else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _gone(c: Comparison) -> Iterator[tuple[SourcePair, list[str]]]:
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        if not (pair.after.topics or pair.after.pattern):
            continue
        gone = [t for t in known_topics(pair.before) if not subscribes(pair.after, t)]
        if gone:
            yield pair, gone


def _topics_added(pair: SourcePair) -> list[str]:
    assert pair.before and pair.after
    if pair.after.pattern and pair.after.pattern != pair.before.pattern:
        return [f"whatever else matches {pair.after.pattern}"]
    known = {*known_topics(pair.before), *pair.before.topics}
    if not known:
        return []
    return [t for t in pair.after.topics if t not in known and not subscribes(pair.before, t)]


def _topics(source: Source | None) -> str | None:
    if source is None:
        return None
    return ", ".join(source.topics) or source.pattern
