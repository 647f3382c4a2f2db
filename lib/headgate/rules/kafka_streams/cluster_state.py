"""What Kafka says now: a group that is gone or still has members, changelogs that were deleted."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import (
    STREAMS_EXCEPTION,
    StreamsComparison,
    streams_rule,
)
from headgate.rules.kafka_streams.state_config import reset_policy
from headgate.rules.kafka_streams.store_keys import kept

_RESTORE_THE_GROUPS = (
    "Restore the group's committed offsets before you start the new version. If the offsets are "
    "unknown and the input topics still have all records, reset the application instead. The "
    "reset must also delete the internal topics and the state directories."
)


@streams_rule(
    "KST100", outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG), remedies=(_RESTORE_THE_GROUPS,)
)
def group_deleted(c: StreamsComparison) -> Iterator[RuleResult]:
    """The group's committed offsets don't exist any more, but the application's state does.

    The group was deleted, or its offsets expired while all instances were stopped.
    auto.offset.reset decides where reading starts. With earliest, Kafka Streams reprocesses all
    records, so the state counts them twice. With latest, Kafka Streams skips all unread records.
    With none, Kafka Streams fails to start.
    """
    if c.cluster is None or c.group is not None or c.old.application_id != c.new.application_id:
        return
    left = [(p, s) for p, s, _ in kept(c) if s.changelog in c.cluster.topics]
    if left:
        pair, store = left[0]
        policy = reset_policy(c.new)
        fails = policy == "none"
        yield RuleResult(
            outcome=Outcome.REFUSES if fails else Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.NONE if fails else StateEffect.MIXED,
            location=pair.location,
            before=c.old.application_id,
            after=None,
            because=(
                f"The group {c.old.application_id} doesn't exist on the cluster, but the changelog "
                f"{store.changelog} does. The new version has no committed offsets, so "
                f"auto.offset.reset={policy} applies."
            ),
            error_class=STREAMS_EXCEPTION if fails else None,
            remedy=_RESTORE_THE_GROUPS,
            scenario="from-scratch",
        )


_REPLAY_THE_INPUTS = "Replay the inputs under a new application id."
_DO_ALL_INSTANCES = (
    "Do all instances still have the store {now} in their state directories? Will they keep the "
    "store until every row has been updated?"
)


@streams_rule(
    "KST101",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_REPLAY_THE_INPUTS,),
    questions=(_DO_ALL_INSTANCES,),
)
def changelog_deleted(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams recreates a deleted changelog, which remains empty until rows are updated.

    With exactly_once_v2, the local store is ahead of the changelog: Kafka Streams treats the store
    as corrupted and wipes it. With at_least_once, the local rows remain, but no other copy of these
    rows exists.
    """
    if c.cluster is None or not c.internal:
        return
    exactly = c.new.config.get("processing.guarantee", "").lower().startswith("exactly_once")
    for pair, was, now in kept(c):
        if was.changelog not in c.internal or now.changelog != was.changelog:
            continue
        if was.changelog in c.cluster.topics:
            continue
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG if exactly else Outcome.UNKNOWN,
            state_effect=StateEffect.LOST,
            location=pair.location,
            before=was.changelog,
            after=None,
            because=f"The changelog {was.changelog} no longer exists on the cluster.",
            question=None if exactly else (_DO_ALL_INSTANCES.format(now=now.name)),
            remedy=_REPLAY_THE_INPUTS,
            scenario="from-scratch",
        )


_STOP_ALL_INSTANCES = (
    "Stop all instances and wait until the group is empty. Then start the new version."
)


@streams_rule("KST102", outcomes=(Outcome.REFUSES,), remedies=(_STOP_ALL_INSTANCES,))
def group_has_old_members(c: StreamsComparison) -> Iterator[RuleResult]:
    """A group can change its protocol only while it is empty.

    Until then, the group rejects new members that use a different protocol. The members that are
    already in the group continue.
    """
    changed = c.old.protocol and c.new.protocol and c.old.protocol != c.new.protocol
    if changed and c.group is not None and c.group.members:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=c.old.protocol,
            after=c.new.protocol,
            because=(
                f"The group {c.group.id} isn't empty. Number of members: {len(c.group.members)}."
            ),
            error_class=STREAMS_EXCEPTION,
            remedy=_STOP_ALL_INSTANCES,
            scenario="offline-upgrade",
        )
