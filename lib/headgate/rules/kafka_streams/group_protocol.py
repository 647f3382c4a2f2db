"""The group's protocol: what the streams protocol registers, and how to change it."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.broker_topology import differences, registered
from headgate.rules.kafka_streams.facts.rule import (
    CONFIG_EXCEPTION,
    STREAMS_EXCEPTION,
    StreamsComparison,
    streams_rule,
)

AROUND = (
    "Switch to the classic protocol and back: stop all instances, then start the new version with "
    "group.protocol=classic. Stop all instances again, then start them with "
    "group.protocol=streams. Or, if the group is empty, save its committed offsets, delete the "
    "group, restore the offsets and start the new version. If you don't restore the offsets, all "
    "records may be counted twice."
)


@streams_rule("KST060", outcomes=(Outcome.REFUSES,), remedies=(AROUND,))
def registered_topology_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """With the streams protocol, the broker stores a group's topology. For each sub-topology, it
    stores the input topics and the internal topics with their names, partition counts and settings.
    Operators and sinks aren't included.

    The broker rejects a member with a different topology ("Topology updates are not supported
    yet."), even if the group is empty. A new application id creates a new group, which accepts the
    topology.
    """
    if not c.on_streams_protocol() or _is_another_group(c):
        return
    bare = frozenset(s.changelog for s in c.old.stores if s.changelog and c.unlogged(s))
    changed = differences(registered(c.old, bare), registered(c.new, bare))
    if changed:
        listed = ", ".join(f"sub-topology {n} ({', '.join(words)})" for n, words in changed.items())
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=len(registered(c.old, bare)),
            after=len(registered(c.new, bare)),
            because=(
                "The topology differs from the one that the broker stores for the group. "
                f"Differences: {listed}."
            ),
            error_class=STREAMS_EXCEPTION,
            remedy=AROUND,
            scenario="offline-upgrade",
        )


def _is_another_group(c: StreamsComparison) -> bool:
    old, new = c.old.application_id, c.new.application_id
    return None not in (old, new) and old != new


_STOP_ALL_INSTANCES = (
    "Stop all instances. Wait until the group is empty (crashed members leave it after "
    "session.timeout.ms). Then start the new version."
)


@streams_rule("KST061", outcomes=(Outcome.RESUMES,), remedies=(_STOP_ALL_INSTANCES,))
def protocol_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Both protocols use the same committed offsets and state, but a group has only one protocol.

    While the group has a member with the old protocol, a new member fails with StreamsException
    (cause: GroupIdNotFoundException). Only an empty group can change its protocol.
    """
    old, new = c.old.protocol, c.new.protocol
    if old and new and old != new:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=old,
            after=new,
            because=f"group.protocol changes from {old} to {new}.",
            remedy=_STOP_ALL_INSTANCES,
            scenario="offline-upgrade",
        )


_NAME_THE_TOPICS = "Subscribe to the topics by name, or keep group.protocol=classic."


@streams_rule("KST062", outcomes=(Outcome.REFUSES,), remedies=(_NAME_THE_TOPICS,))
def pattern_with_streams_protocol(c: StreamsComparison) -> Iterator[RuleResult]:
    """The streams protocol doesn't support subscriptions by pattern yet.

    The application fails before it joins the group.
    """
    found = next((s for s in c.new.sources if s.pattern), None)
    if c.new.protocol == "streams" and found is not None:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(None, found.node),
            before=c.old.protocol,
            after=c.new.protocol,
            because=f"The source {found.processor} subscribes to the pattern /{found.pattern}/.",
            error_class="java.lang.UnsupportedOperationException",
            remedy=_NAME_THE_TOPICS,
        )


_REMOVE_OR_STAY = "Remove {said}, or keep group.protocol=classic."


@streams_rule("KST063", outcomes=(Outcome.REFUSES,), remedies=(_REMOVE_OR_STAY,))
def static_members_with_streams_protocol(c: StreamsComparison) -> Iterator[RuleResult]:
    """The streams protocol doesn't support static membership.

    The application fails with a configuration error before it starts.
    """
    keys = ("group.instance.id", "consumer.group.instance.id", "main.consumer.group.instance.id")
    said = next((k for k in keys if c.new.config.get(k)), None)
    if c.new.protocol == "streams" and said:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=c.old.config.get(said),
            after=c.new.config[said],
            because=f"{said} is set.",
            error_class=CONFIG_EXCEPTION,
            remedy=_REMOVE_OR_STAY.format(said=said),
        )
