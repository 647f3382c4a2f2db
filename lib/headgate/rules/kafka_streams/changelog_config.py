"""Settings of changelogs, if the new version's own were listed: they show the kind of store."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import InternalTopic
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import STATE_EXCEPTION, StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import StorePair
from headgate.rules.kafka_streams.store_keys import kept

_GIVE_THE_STORE = "Give the store another name and replay the inputs."


@streams_rule("KST080", outcomes=(Outcome.REFUSES,), remedies=(_GIVE_THE_STORE,))
def changelog_policy_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """A changelog's cleanup policy shows the kind of its store. A key-value store has `compact`,
    window and session stores have `compact,delete`, and the windows of a stream-stream join have
    `delete`.

    Kafka Streams never alters an existing changelog. The new version restores the old rows into a
    store of the new kind, and fails.
    """
    for pair, was, now in _both_listed(c):
        old, new = (_policy(t) for t in (was, now))
        if old != new:
            yield RuleResult(
                outcome=Outcome.REFUSES,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=old,
                after=new,
                because=(
                    f"The changelog {was.name} has cleanup.policy={old}. The new version would "
                    f"create this changelog with cleanup.policy={new}."
                ),
                error_class=STATE_EXCEPTION,
                remedy=_GIVE_THE_STORE,
                scenario="from-scratch",
            )


_IF_ONLY_THE_GRACE = (
    "If only the grace period changed and the changelog contains all rows of the store: stop all "
    "instances, raise the changelog's retention.ms with kafka-configs, delete the local state "
    "directories, and start the new version. In all other cases, give the store another name and "
    "replay the inputs."
)


@streams_rule("KST081", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_IF_ONLY_THE_GRACE,))
def changelog_retention_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The retention of a window store is its window size plus its grace period. The names of the
    store's local segments depend on the retention.

    With a different retention, Kafka Streams searches for local rows in the wrong segments. With a
    different window size, the changelog's rows belong to different windows. The changelog's
    retention.ms doesn't change.
    """
    for pair, was, now in _both_listed(c):
        old, new = (t.configs.get("retention.ms") for t in (was, now))
        if old != new and _policy(was) == _policy(now):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=old,
                after=new,
                because=(
                    f"The changelog {was.name} has retention.ms={old}. The new version would "
                    f"create this changelog with retention.ms={new}."
                ),
                remedy=_IF_ONLY_THE_GRACE,
                scenario="from-scratch",
            )


def _both_listed(c: StreamsComparison) -> Iterator[tuple[StorePair, InternalTopic, InternalTopic]]:
    """Yield pairs of stores whose changelogs both versions list, unless it is the same list."""
    if not c.new.internal or c.new.internal == c.old.internal:
        return
    listed = {t.name: t for t in c.new.internal}
    for pair, was, now in kept(c):
        if was.changelog in c.internal and now.changelog in listed:
            yield pair, c.internal[was.changelog], listed[now.changelog]


def _policy(topic: InternalTopic) -> str:
    said = topic.configs.get("cleanup.policy") or topic.effective.get("cleanup.policy") or "delete"
    return ",".join(sorted(p.strip() for p in said.split(",")))
