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


@streams_rule("KST100")
def group_gone(c: StreamsComparison) -> Iterator[RuleResult]:
    """The committed offsets are the group's, the state is not: where the group was deleted, or its
    offsets expired while everything was stopped, the inputs are read from where auto.offset.reset
    says on top of the state that is still there. From the start, all is counted twice; from the
    end, what was written in the meantime is skipped."""
    if c.cluster is None or c.group is not None or c.old.application_id != c.new.application_id:
        return
    left = [(p, s) for p, s, _ in kept(c) if s.changelog in c.cluster.topics]
    if left:
        pair, store = left[0]
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.MIXED,
            location=pair.location,
            before=c.old.application_id,
            after=None,
            because=f"There is no group {c.old.application_id} on the cluster, but "
            f"{store.changelog} is; it starts at {reset_policy(c.new)}.",
            remedy="Restore the group's offsets before the start. Only if they are unknown, and "
            "the inputs still hold all history, reset the application (internal topics and state "
            "directories too).",
            scenario="from-scratch",
        )


@streams_rule("KST101")
def changelog_gone(c: StreamsComparison) -> Iterator[RuleResult]:
    """A changelog that was deleted is made anew and stays empty until rows are written again. Under
    exactly_once_v2 the local store, which is ahead of it, is taken for corrupted and wiped; under
    at_least_once the local rows are kept and exist nowhere else."""
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
            because=f"{was.changelog} is no longer on the cluster.",
            question=None
            if exactly
            else f"Do all instances still have {now.name} in their state directories, and will "
            "they keep it until every row was written again?",
            remedy="Replay the inputs into a new application id.",
            scenario="from-scratch",
        )


@streams_rule("KST102")
def old_members_live(c: StreamsComparison) -> Iterator[RuleResult]:
    """A group changes its protocol only while it is empty: a member of the other kind is refused,
    and those that are in it go on undisturbed."""
    changed = c.old.protocol and c.new.protocol and c.old.protocol != c.new.protocol
    if changed and c.group is not None and c.group.members:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=c.old.protocol,
            after=c.new.protocol,
            because=f"{len(c.group.members)} members are in the group {c.group.id} now.",
            error_class=STREAMS_EXCEPTION,
            remedy="Stop all instances and wait until the group is empty, then start.",
            scenario="offline-upgrade",
        )
