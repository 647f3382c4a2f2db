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
    "Go through the classic protocol: stop all, start the new version with group.protocol=classic, "
    "stop it, start it with streams again. Or, if the group is empty, save its committed offsets, "
    "delete the group, restore the offsets, then start. Deleting only the group counts everything "
    "twice."
)


@streams_rule("KST060")
def registered_topology_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """A group of the streams protocol keeps its topology on the broker: per sub-topology the input
    topics and the internal topics with names, numbers and settings. A member that brings another
    one is refused ("Topology updates are not supported yet."), also where the group is empty.
    Operators and sinks are no part of it. Another application id is another group."""
    if not c.on_streams_protocol() or _is_another_group(c):
        return
    bare = frozenset(s.changelog for s in c.old.stores if s.changelog and c.unlogged(s))
    changed = differences(registered(c.old, bare), registered(c.new, bare))
    if changed:
        listed = "; ".join(f"{n}: {', '.join(words)}" for n, words in changed.items())
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=len(registered(c.old, bare)),
            after=len(registered(c.new, bare)),
            because=f"Sub-topologies that differ: {listed}.",
            error_class=STREAMS_EXCEPTION,
            remedy=AROUND,
            scenario="offline-upgrade",
        )


def _is_another_group(c: StreamsComparison) -> bool:
    old, new = c.old.application_id, c.new.application_id
    return None not in (old, new) and old != new


@streams_rule("KST061")
def protocol_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The committed offsets and the state are the same under both protocols, but a group is of one
    of them: while a member of the old kind is in it, one of the new kind is refused
    (StreamsException on GroupIdNotFoundException). Only a group that is empty changes its kind."""
    old, new = c.old.protocol, c.new.protocol
    if old and new and old != new:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=old,
            after=new,
            because=f"group.protocol goes from {old} to {new}.",
            remedy="Stop all instances, wait until the group is empty (members that crashed leave "
            "it after session.timeout.ms), then start the new version.",
            scenario="offline-upgrade",
        )


@streams_rule("KST062")
def pattern_under_streams(c: StreamsComparison) -> Iterator[RuleResult]:
    """The streams protocol has no subscription by pattern yet: the application is refused as it is
    made, before it joins the group."""
    found = next((s for s in c.new.sources if s.pattern), None)
    if c.new.protocol == "streams" and found is not None:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(None, found.node),
            before=c.old.protocol,
            after=found.pattern,
            because=f"{found.processor} subscribes to /{found.pattern}/.",
            error_class="java.lang.UnsupportedOperationException",
            remedy="Name the topics, or stay on group.protocol=classic.",
        )


@streams_rule("KST063")
def static_members_under_streams(c: StreamsComparison) -> Iterator[RuleResult]:
    """The streams protocol has no static membership: the configuration is refused before anything
    starts."""
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
            remedy=f"Take {said} out, or stay on group.protocol=classic.",
        )
