"""Numbers of partitions: an internal topic that exists must have just as many as are expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from headgate.compat.report import Outcome, StateEffect, Where
from headgate.compat.rule import Verdict
from headgate.compat.streams.flow import Flow
from headgate.compat.streams.partitions import Counts, counts, is_explicit
from headgate.compat.streams.rule import (
    STREAMS_EXCEPTION,
    TOPOLOGY_EXCEPTION,
    StreamsComparison,
    streams_rule,
)
from headgate.compat.streams.rules.keys import kept

_BACK = (
    "Give the input its old number of partitions back (a new topic, the records copied), or fix "
    "the number with Repartitioned.withNumberOfPartitions. The reset tool that the exception "
    "recommends deletes the state: after it the inputs must be replayed from the start."
)


def expected(c: StreamsComparison) -> Counts:
    """Return what the new version expects, with the inputs as they are now."""
    return counts(_with_inputs(c), pinned(c))


def _with_inputs(c: StreamsComparison) -> Flow:
    inputs = {**c.old.inputs, **c.new.inputs, **_on_cluster(c)}
    return Flow(replace(c.new, inputs=inputs))


def _on_cluster(c: StreamsComparison) -> dict[str, int]:
    read = {t for s in c.new.sources for t in s.topics}
    topics = c.cluster.topics if c.cluster else {}
    return {t: len(topics[t].partitions) for t in read if t in topics}


def pinned(c: StreamsComparison) -> dict[str, int]:
    """Return repartition topics whose number the code sets, with what they have.

    Known where the streams group says so, where the number is not what the inputs gave, and
    assumed where a repartition that no changed key needs was asked for.
    """
    derived = counts(c.flow_before, {}).topics
    here = existing(c)
    old = {r.topic: r for r in c.old.repartitions}
    said = {
        t.name: t.partitions
        for s in c.old.group_topology or ()
        for t in s.repartition_sources
        if t.partitions
    }
    found: dict[str, int] = {}
    for r in c.new.repartitions:
        number = here.get(r.topic)
        if number is None or r.topic not in old:
            continue
        other = derived.get(r.topic, number) != number
        if r.topic in said or other or is_explicit(c.flow_after, r):
            found[r.topic] = number
    return found


def existing(c: StreamsComparison) -> Mapping[str, int]:
    """Return the internal topics that exist, with their partitions."""
    listed = {n: t.partitions for n, t in c.internal.items() if t.partitions}
    wanted = c.new.expected_topics()
    topics = c.cluster.topics if c.cluster else {}
    return {**listed, **{n: len(topics[n].partitions) for n in wanted if n in topics}}


@streams_rule("KST030")
def internal_topic_has_other_count(c: StreamsComparison) -> Iterator[Verdict]:
    """Repartition topics and changelogs get their partitions from the inputs once, when they are
    created. At every start the group's leader computes the number anew and refuses to run where an
    existing internal topic has another one."""
    should, here = expected(c).topics, existing(c)
    nodes = {s.changelog: s.node for s in c.new.stores if s.changelog}
    nodes |= {r.topic: r.node for r in c.new.repartitions}
    was = {s.changelog: s.node for s in c.old.stores} | {
        r.topic: r.node for r in c.old.repartitions
    }
    error = TOPOLOGY_EXCEPTION if c.on_streams_protocol() else STREAMS_EXCEPTION
    for topic in sorted(nodes):
        if topic in here and topic in should and here[topic] != should[topic]:
            yield Verdict(
                outcome=Outcome.REFUSES,
                state_effect=StateEffect.NONE,
                where=Where(was.get(topic), nodes[topic]),
                before=here[topic],
                after=should[topic],
                because=f"{topic} has {here[topic]} partitions and {should[topic]} are expected.",
                error_class=error,
                remedy=_BACK,
                scenario="from-scratch",
            )


@streams_rule("KST031")
def joined_inputs_differ(c: StreamsComparison) -> Iterator[Verdict]:
    """What is joined must have the same number of partitions on both sides, because a task joins
    partition by partition. The streams protocol checks it, and the classic one where the
    application has repartition topics; without any it starts, and records whose key is in another
    partition on the other side never meet."""
    checked = c.new.protocol == "streams" or bool(c.new.repartitions)
    for group in expected(c).unequal:
        listed = ", ".join(f"{t} has {n}" for t, n in sorted(group.items()))
        yield Verdict(
            outcome=Outcome.REFUSES if checked else Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.NONE if checked else StateEffect.LOST,
            where=Where(None, _source_node(c, group)),
            before=dict(sorted((t, n) for t, n in c.old.inputs.items() if t in group)),
            after=dict(sorted(group.items())),
            because=f"{listed}.",
            error_class=TOPOLOGY_EXCEPTION if checked else None,
            remedy="Give both sides the same number of partitions, or repartition() one of them.",
        )


def _source_node(c: StreamsComparison, group: Mapping[str, int]) -> str | None:
    return next((s.node for s in c.new.sources if set(s.topics) & group.keys()), None)


@streams_rule("KST032")
def input_has_other_count(c: StreamsComparison) -> Iterator[Verdict]:
    """With another number of partitions new records of a key go to another partition than the old
    ones. Where no internal topic depends on the number the application starts; state in front of
    which a repartition with a number of its own stands is not touched."""
    changed = {
        t: (n, now)
        for t, n in c.old.inputs.items()
        if (now := _with_inputs(c).app.inputs.get(t, n)) != n
    }
    for topic, (was, now) in sorted(changed.items()):
        nodes = [
            next((s.node for s in app.sources if topic in s.topics), None) for app in (c.old, c.new)
        ]
        yield Verdict(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            where=Where(*nodes),
            before=was,
            after=now,
            because=f"{topic} had {was} partitions and has {now}.{_assumed(c)}",
            remedy="Expect records of one key out of order where both partitions are read at once.",
        )


def _assumed(c: StreamsComparison) -> str:
    named = [r.name for r in c.new.repartitions if r.topic in pinned(c)]
    if not named:
        return ""
    return (
        f" {', '.join(named)} is taken to have a number of its own "
        "(Repartitioned.withNumberOfPartitions); without one the start is refused."
    )


@streams_rule("KST033")
def rows_stay_in_old_partition(c: StreamsComparison) -> Iterator[Verdict]:
    """State without a changelog of its own has no number of partitions that could be refused: the
    application starts, new records of a key go to another task, and that task has none of the
    rows."""
    was, now = counts(c.flow_before, {}).tasks, expected(c).tasks
    for pair, old, new in kept(c):
        tasks = was.get(old.subtopology or 0), now.get(new.subtopology or 0)
        bare = c.unlogged(old) or (old.restored_from and new.restored_from)
        if bare and None not in tasks and tasks[0] != tasks[1]:
            yield Verdict(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                where=pair.where,
                before=tasks[0],
                after=tasks[1],
                because=f"{new.name} is spread over {tasks[1]} tasks in place of {tasks[0]}.",
                remedy=_BACK,
                scenario="from-scratch",
            )
