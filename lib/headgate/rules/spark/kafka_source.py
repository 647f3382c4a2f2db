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
    "If you started the new version, check the newest batch N in `offsets`. If commits/N is "
    "missing, delete offsets/N before you start the old version."
)


_START_THE_NEW = (
    "Start the new version with a new checkpoint and set startingOffsets. Or, if you can lose the "
    f"topic's unread records, start the new version once with failOnDataLoss=false. {_POISONED}"
)


@rule("KAF001", outcomes=(Outcome.REFUSES,), remedies=(_START_THE_NEW,))
def topic_removed(c: Comparison) -> Iterator[RuleResult]:
    """If a source no longer reads a topic in the checkpoint, Spark treats it as data loss and
    fails.

    Before Spark fails, it writes the new topics to offsets/N. The old version then can't start
    either until you delete that file.
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
                    "The checkpoint has offsets of topics that this source no longer reads: "
                    f"{', '.join(gone)}."
                ),
                error_class="KAFKA_DATA_LOSS",
                rollback=Rollback.REPAIRABLE,
                remedy=_START_THE_NEW,
                scenario="from-point",
            )


_KEEP_THE_ORDER = "Keep the order of the sources, and keep each topic in its source."


@rule("KAF002", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_KEEP_THE_ORDER,))
def topic_removed_silently(c: Comparison) -> Iterator[RuleResult]:
    """With failOnDataLoss=false Spark logs a warning and drops the offsets of topics that a source
    no longer reads.

    If another source reads the topic, or if you add the topic again later, Spark starts at the
    topic's earliest offset. The topic's records are then processed twice.
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
            because=f"Spark reprocesses these topics from the earliest offset: {', '.join(moved)}."
            if moved
            else f"The source no longer reads these topics: {', '.join(gone)}.",
            remedy=_KEEP_THE_ORDER if moved else "",
        )


_TO_ROLL_BACK = (
    "To roll back, restore the checkpoint from before the change. Or, if you don't need the new "
    "topic's records, start the old version once with failOnDataLoss=false."
)


@rule("KAF003", outcomes=(Outcome.RESUMES,), remedies=(_TO_ROLL_BACK,))
def topic_added(c: Comparison) -> Iterator[RuleResult]:
    """Spark reads a new topic from its earliest offset. startingOffsets doesn't apply.

    If the earliest offset isn't 0, Spark treats that as data loss and fails (WLD006). After a
    rollback, the old version fails to start, because the offset log has a topic that it doesn't
    read. With failOnDataLoss=false, the old version starts.
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
                because=f"The source now also reads: {', '.join(new)}.",
                rollback=Rollback.SAFE if loses_data_silently(pair.before) else Rollback.REPAIRABLE,
                remedy="" if loses_data_silently(pair.before) else _TO_ROLL_BACK,
            )


_TO_START_FROM = "To start from another offset, use `headgate plan from-point`."


@rule("KAF004", outcomes=(Outcome.NO_EFFECT,), remedies=(_TO_START_FROM,))
def starting_offsets(c: Comparison) -> Iterator[RuleResult]:
    """Starting offsets apply only to a new checkpoint. On a restart Spark uses the offset log.

    If you change the option to reprocess or skip records, the query continues at its stored offsets
    instead. No records are lost or repeated, but the change has no effect until you use a new
    checkpoint.
    """
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
                    because=f"Spark ignores {key}.",
                    remedy=_TO_START_FROM,
                    scenario="from-point",
                )


_FOR_ANOTHER_CLUSTER = (
    "If the new addresses belong to another cluster, start with a new checkpoint."
)
_DO_BOTH_ADDRESSES = "Do both addresses belong to the same Kafka cluster?"


@rule(
    "KAF005",
    "Kafka's design: each cluster has its own offsets; not measured",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_FOR_ANOTHER_CLUSTER,),
    questions=(_DO_BOTH_ADDRESSES,),
)
def bootstrap_servers_changed(c: Comparison) -> Iterator[RuleResult]:
    """Offsets belong to one Kafka cluster. In a different cluster, the same offsets point to
    different records.

    If the stored offsets exist in the new cluster, Spark continues there without an error. Records
    of the new cluster before these offsets are never processed. Records that were copied to other
    offsets are skipped or processed twice.
    """
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


_KEEP_THE_PARTITIONS = "Keep all partitions of the checkpoint in `assign`."
_KEEP_ASSIGNED = (
    f"{_KEEP_THE_PARTITIONS} Or, if you can lose their unread records, start the new version once "
    f"with failOnDataLoss=false. {_POISONED}"
)


@rule(
    "KAF006",
    outcomes=(Outcome.REFUSES, Outcome.RESUMES),
    remedies=(_KEEP_THE_PARTITIONS, _KEEP_ASSIGNED),
)
def assigned_partitions(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores offsets by partition, and the option `assign` names each partition.

    If a partition in the checkpoint is no longer assigned, Spark treats it as data loss. Spark
    reads a new partition from its earliest offset.
    """
    for pair in kafka_pairs(c):
        assert pair.before and pair.after
        known, now = logged_offsets(pair.before), _assigned(pair.after)
        if not known or now is None:
            continue
        old = {(t, p) for t, parts in known.items() for p in parts if t in now}
        new = {(t, p) for t, parts in now.items() for p in parts}
        lost, more = (sorted(f"{t}[{p}]" for t, p in x) for x in (old - new, new - old))
        silent = loses_data_silently(pair.after)
        if lost or more:
            yield RuleResult(
                outcome=Outcome.REFUSES if lost and not silent else Outcome.RESUMES,
                state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
                location=pair.location,
                before=sorted(f"{t}[{p}]" for t, p in old),
                after=sorted(f"{t}[{p}]" for t, p in new),
                because=f"The source no longer reads these partitions: {', '.join(lost)}."
                if lost
                else f"The source now also reads these partitions: {', '.join(more)}.",
                error_class="KAFKA_DATA_LOSS" if lost and not silent else None,
                rollback=Rollback.REPAIRABLE,
                remedy=(_KEEP_THE_PARTITIONS if silent else _KEEP_ASSIGNED) if lost else "",
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
        return [f"all other topics that match {pair.after.pattern}"]
    known = {*known_topics(pair.before), *pair.before.topics}
    if not known:
        return []
    return [t for t in pair.after.topics if t not in known and not subscribes(pair.before, t)]


def _topics(source: Source | None) -> str | None:
    if source is None:
        return None
    return ", ".join(source.topics) or source.pattern
