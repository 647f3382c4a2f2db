"""Numbers of partitions: an internal topic that exists must have just as many as are expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import (
    STREAMS_EXCEPTION,
    TOPOLOGY_EXCEPTION,
    StreamsComparison,
    streams_rule,
)
from headgate.rules.kafka_streams.store_keys import kept
from headgate.text.numbers import name_list, plural

_BACK = (
    "Restore the input's old partition count (create a new topic and copy the records), or set the "
    "count with Repartitioned.withNumberOfPartitions. If you use the application reset tool, which "
    "deletes the state, replay the inputs from the earliest offset. Even after this replay, a "
    "store with the input's keys is wrong if no repartition topic precedes the store. The reason: "
    "old and new records of a key are in different partitions. `headgate plan repartition` shows "
    "whether your application has such stores."
)


_IS_SET = "Does the code set the partition count of {names} (Repartitioned.withNumberOfPartitions)?"


@streams_rule(
    "KST030", outcomes=(Outcome.REFUSES, Outcome.UNKNOWN), remedies=(_BACK,), questions=(_IS_SET,)
)
def internal_topic_partitions_differ(c: StreamsComparison) -> Iterator[RuleResult]:
    """Repartition topics and changelogs get their partition count from the inputs once, when they
    are created.

    At every start, the group leader computes the count again. The application fails if an existing
    internal topic has a different count. `repartition()` can set its own count, which
    Topology#describe() doesn't show.
    """
    should, here, if_set = c.expected.topics, c.existing, c.expected_if_set.topics
    may_be = _maybe_pinned(c)
    nodes = {s.changelog: s.node for s in c.new.stores if s.changelog}
    nodes |= {r.topic: r.node for r in c.new.repartitions}
    was = {s.changelog: s.node for s in c.old.stores} | {
        r.topic: r.node for r in c.old.repartitions
    }
    error = TOPOLOGY_EXCEPTION if c.on_streams_protocol() else STREAMS_EXCEPTION
    for topic in sorted(nodes):
        if topic in here and topic in should and here[topic] != should[topic]:
            is_open = if_set.get(topic) == here[topic]
            unless = f", unless the code sets the count of {may_be}" if is_open else ""
            yield RuleResult(
                outcome=Outcome.UNKNOWN if is_open else Outcome.REFUSES,
                state_effect=StateEffect.NONE,
                location=Location(was.get(topic), nodes[topic]),
                before=here[topic],
                after=should[topic],
                because=(
                    f"The topic {topic} has {plural(here[topic], 'partition')}, but the new "
                    f"version expects {should[topic]}{unless}."
                ),
                question=_IS_SET.format(names=may_be) if is_open else None,
                error_class=None if is_open else error,
                remedy=_BACK,
                scenario="repartition",
            )


def _maybe_pinned(c: StreamsComparison) -> str:
    return name_list(sorted(r.name for r in c.new.repartitions if r.topic in c.maybe_pinned))


_GIVE_BOTH_SIDES = "Give both topics the same number of partitions, or repartition() one side."


@streams_rule(
    "KST031", outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG), remedies=(_GIVE_BOTH_SIDES,)
)
def joined_inputs_partitions_differ(c: StreamsComparison) -> Iterator[RuleResult]:
    """Both sides of a join must have the same partition count, because a task joins partition by
    partition.

    The streams protocol checks this. The classic protocol checks it only if the application has
    repartition topics. Otherwise the application starts, and records never match if their key is in
    different partitions on the two sides.
    """
    checked = c.new.protocol == "streams" or bool(c.new.repartitions)
    for group in c.expected.unequal:
        listed = ", ".join(f"{t} has {n}" for t, n in sorted(group.items()))
        yield RuleResult(
            outcome=Outcome.REFUSES if checked else Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.NONE if checked else StateEffect.LOST,
            location=Location(None, _source_node(c, group)),
            before=dict(sorted((t, n) for t, n in c.old.inputs.items() if t in group)),
            after=dict(sorted(group.items())),
            because=f"The joined topics have different partition counts: {listed}.",
            error_class=TOPOLOGY_EXCEPTION if checked else None,
            remedy=_GIVE_BOTH_SIDES,
        )


def _source_node(c: StreamsComparison, group: Mapping[str, int]) -> str | None:
    return next((s.node for s in c.new.sources if set(s.topics) & group.keys()), None)


_EXPECT_RECORDS_OF_ONE = (
    "Until the application has processed all records from before the change, records of one key "
    "can arrive out of order. Check that the application tolerates this."
)


@streams_rule("KST032", outcomes=(Outcome.RESUMES,), remedies=(_EXPECT_RECORDS_OF_ONE,))
def input_partitions_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """With a different partition count, new records of a key may go to a different partition than
    its old records.

    If no internal topic depends on the count, the application starts. A store isn't affected if its
    records come from a repartition topic that sets its own partition count.
    """
    changed = {t: (n, now) for t, n in c.old.inputs.items() if (now := c.inputs.get(t, n)) != n}
    assumed = _assumed(c) if changed else ""
    sources = [{t: s.node for s in reversed(a.sources) for t in s.topics} for a in (c.old, c.new)]
    for topic, (was, now) in sorted(changed.items()):
        nodes = [read.get(topic) for read in sources]
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(*nodes),
            before=was,
            after=now,
            because=f"The topic {topic} had {plural(was, 'partition')} and now has {now}.{assumed}",
            remedy=_EXPECT_RECORDS_OF_ONE,
        )


def _assumed(c: StreamsComparison) -> str:
    named = [r.name for r in c.new.repartitions if r.topic in c.pinned]
    if not named:
        return ""
    return (
        f" Headgate assumes that the code sets the partition count of {', '.join(named)} "
        "(Repartitioned.withNumberOfPartitions). If the code doesn't set this count, the "
        "application fails to start."
    )


@streams_rule(
    "KST033",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_BACK,),
    questions=(_IS_SET,),
)
def rows_stay_in_old_partition(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams can't check the partition count of a store without its own changelog.

    The application starts. New records of a key may go to a different task, which has none of the
    key's old rows.
    """
    was, now = c.derived.tasks, c.expected.tasks
    for pair, old, new in kept(c):
        tasks = was.get(old.subtopology or 0), now.get(new.subtopology or 0)
        bare = c.unlogged(old) or (old.restored_from and new.restored_from)
        if bare and None not in tasks and tasks[0] != tasks[1]:
            is_open = c.expected_if_set.tasks.get(new.subtopology or 0) == tasks[0]
            yield RuleResult(
                outcome=Outcome.UNKNOWN if is_open else Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                location=pair.location,
                before=tasks[0],
                after=tasks[1],
                question=_IS_SET.format(names=_maybe_pinned(c)) if is_open else None,
                because=(
                    f"The number of tasks in the sub-topology of the store {new.name} changes from "
                    f"{tasks[0]} to {tasks[1]}."
                ),
                remedy=_BACK,
                scenario="repartition",
            )
