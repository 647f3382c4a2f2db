"""Inputs and outputs: which topics are read and written, and what the state knows of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsApplication, StreamsSink
from headgate.parse.kafka_streams.from_cluster import matching
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import meaning
from headgate.rules.kafka_streams.repartition_topics import lag_on
from headgate.rules.kafka_streams.store_keys import kept


def _topics(app: StreamsApplication) -> set[str]:
    return {t for s in app.sources for t in s.topics}


def _node(app: StreamsApplication, topic: str) -> str | None:
    return next((s.node for s in app.sources if topic in s.topics), None)


_STOP_ALL_INSTANCES = "Stop all instances before the new version starts."


@streams_rule("KST040", outcomes=(Outcome.RESUMES,), remedies=(_STOP_ALL_INSTANCES,))
def input_added(c: StreamsComparison) -> Iterator[RuleResult]:
    """The group has no committed offsets for a new input topic.

    The setting auto.offset.reset therefore decides where reading starts (default: earliest). A
    rolling restart doesn't work, because instances with and without the topic can't share a group.
    """
    for topic in sorted(_topics(c.new) - _topics(c.old)):
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(None, _node(c.new, topic)),
            before=None,
            after=topic,
            because=f"{topic} is a new input topic.",
            remedy=_STOP_ALL_INSTANCES,
            scenario="offline-upgrade",
        )


_STOP_ALL_INSTANCES_BEFORE = (
    "Stop all instances before the new version starts. If rows from this topic must be "
    "removed from the state, replay the inputs under a new application id."
)


_DRAIN_IT = (
    "Stop the producers of the inputs. Wait until the group's lag on {topic} is 0. Stop all "
    "instances, then start the new version."
)


@streams_rule(
    "KST041",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES),
    remedies=(_STOP_ALL_INSTANCES_BEFORE, _DRAIN_IT),
)
def input_removed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Rows from a removed input topic stay in the state, and the group keeps the topic's offsets.

    A later version that reads the topic again resumes at these offsets. If the old version both
    writes and reads the topic, the topic's unread records are never processed.
    """
    for topic in sorted(_topics(c.old) - _topics(c.new)):
        mixed = any((m := meaning(c.flow_before, s)) and topic in m.inputs for s in c.old.stores)
        own = topic in c.flow_before.own_topics
        waiting = (lag_on(c, topic) or 0) if own else 0
        unread = f" Unprocessed records: {waiting}." if waiting else ""
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG if waiting else Outcome.RESUMES,
            state_effect=StateEffect.LOST
            if waiting
            else StateEffect.MIXED
            if mixed
            else StateEffect.EXACT,
            location=Location(_node(c.old, topic), None),
            before=topic,
            after=None,
            because=f"The new version no longer reads the topic {topic}.{unread}",
            remedy=_DRAIN_IT.format(topic=topic) if own else _STOP_ALL_INSTANCES_BEFORE,
            scenario="offline-upgrade",
        )


_START_A_NEW = "Start the new version under a new application id, or give the store another name."
_DOES_START_WHERE = (
    "Does the new input ({names}) contain only records that the old topic doesn't have? Or are the "
    "group's committed offsets on the new topic after the records that are in both topics? If "
    "neither is true, the store counts the records that are in both topics twice."
)


@streams_rule(
    "KST042",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_START_A_NEW,),
    questions=(_DOES_START_WHERE,),
)
def input_replaced(c: StreamsComparison) -> Iterator[RuleResult]:
    """A new input topic replaces the old one, and the store keeps its state.

    The setting auto.offset.reset decides where reading of the new topic starts. The store then
    counts records of both topics. This is correct if the new topic starts where the old topic
    ended. If the new topic also has the old topic's records, these records are counted twice.
    Topology#describe() doesn't show which case applies. If the new version reads the old topic into
    another store, this store mixes records of two unrelated topics.
    """
    for pair, was, now in kept(c):
        old, new = meaning(c.flow_before, was), meaning(c.flow_after, now)
        if not old or not new or not old.inputs or not new.inputs or old.inputs & new.inputs:
            continue
        if old.family != new.family:
            continue
        moved = not old.inputs & _topics(c.new) or _declared(c, old.inputs, new.inputs)
        names = ", ".join(sorted(new.inputs))
        yield RuleResult(
            outcome=Outcome.UNKNOWN if moved else Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.MIXED,
            location=pair.location,
            before=sorted(old.inputs),
            after=sorted(new.inputs),
            because=(
                f"Input topics of the store {now.name}: {', '.join(sorted(old.inputs))} in the old "
                f"version, {names} in the new version."
            ),
            question=_DOES_START_WHERE.format(names=names) if moved else None,
            remedy=_START_A_NEW,
            scenario="from-scratch",
        )


def _declared(c: StreamsComparison, old: frozenset[str], new: frozenset[str]) -> bool:
    """Say whether somebody declared that the old topics are the new ones under other names."""
    renamed = {
        was: now
        for olds, news in c.renames.sources.items()
        for was, now in zip(olds.split(", "), news.split(", "), strict=False)
    }
    return {renamed.get(t, t) for t in old} <= new


_CREATE_BEFORE_THE_START = "Create the topic {topic} before you start the new version."
_DOES_EXIST_AND_WITH = (
    "Does the topic {topic} exist on the cluster, and how many partitions does it have?"
)


@streams_rule(
    "KST043",
    "Kafka Streams: MissingSourceTopicException",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN),
    remedies=(_CREATE_BEFORE_THE_START,),
    questions=(_DOES_EXIST_AND_WITH,),
)
def input_topic_not_found(c: StreamsComparison) -> Iterator[RuleResult]:
    """If a source topic doesn't exist, the application stops with MissingSourceTopicException.

    Kafka Streams creates only internal topics.
    """
    known = c.cluster.topics if c.cluster else {**c.new.inputs, **c.old.inputs}
    if not known:
        return
    written = set() if c.cluster else {s.topic for s in c.old.sinks}
    for topic in sorted(_topics(c.new) - known.keys() - written):
        certain = c.cluster is not None
        yield RuleResult(
            outcome=Outcome.REFUSES if certain else Outcome.UNKNOWN,
            state_effect=StateEffect.NONE,
            location=Location(None, _node(c.new, topic)),
            before=None,
            after=topic,
            because=f"The topic {topic} doesn't exist on the cluster."
            if certain
            else f"The evidence doesn't show whether the topic {topic} exists.",
            error_class="org.apache.kafka.streams.errors.MissingSourceTopicException"
            if certain
            else None,
            question=None if certain else _DOES_EXIST_AND_WITH.format(topic=topic),
            remedy=_CREATE_BEFORE_THE_START.format(topic=topic),
        )


_NAME_THE_TOPICS = (
    "Subscribe to the topics by name. Or check that the old and the new pattern match the same "
    "topics."
)
_CHECK_THE_NAMES = "Check that the new version names all topics that the old pattern matched."
_WHICH_TOPICS_DOES = "Which topics on the cluster do the old and the new subscription match?"


@streams_rule(
    "KST044",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_CHECK_THE_NAMES, _NAME_THE_TOPICS),
    questions=(_WHICH_TOPICS_DOES,),
)
def pattern_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams matches a pattern against the cluster's topics at run time. Topology#describe()
    doesn't show which topics match.

    If topic names replace the pattern, the new version keeps the state and reads the named topics.
    """
    old = {s.pattern: s.node for s in c.old.sources if s.pattern}
    new = {s.pattern: s.node for s in c.new.sources if s.pattern}
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if gone or come:
        is_known = not come or c.cluster is not None or all(_matches(c, p) for p in come)
        yield RuleResult(
            outcome=Outcome.RESUMES if is_known else Outcome.UNKNOWN,
            state_effect=StateEffect.MIXED,
            location=Location(
                *(next((d[p] for p in ps), None) for d, ps in ((old, gone), (new, come)))
            ),
            before=gone or None,
            after=come or None,
            because="The subscription by pattern changed.",
            question=None if is_known else _WHICH_TOPICS_DOES,
            remedy=_NAME_THE_TOPICS if come else _CHECK_THE_NAMES,
        )


def _matches(c: StreamsComparison, pattern: str) -> bool:
    """Say whether the new version's evidence lists topics that the pattern matches."""
    return any(matching(pattern, c.new.inputs))


_INFORM_ITS_CONSUMERS = "Inform the consumers of the output {name}: they get no new records."
_REPLAY_FOR_OLDER = (
    "If consumers of the output {name} need older results, replay the inputs under a new "
    "application id."
)
_IDENTITY = re.compile(r"(?<=\$\$Lambda).*$|@[0-9a-f]+$")
"""The part of an extractor's name that differs in each run."""


@streams_rule(
    "KST045", outcomes=(Outcome.RESUMES,), remedies=(_INFORM_ITS_CONSUMERS, _REPLAY_FOR_OLDER)
)
def output_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The state doesn't depend on sinks.

    Consumers of a removed output topic get no new records. Older results are not written to a new
    output topic.
    """
    old, new = ({_output(s): s.node for s in app.sinks} for app in (c.old, c.new))
    for name in sorted(filter(None, old.keys() ^ new.keys())):
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(old.get(name), new.get(name)),
            before=name if name in old else None,
            after=name if name in new else None,
            because=f"The output {name} was removed."
            if name in old
            else f"The output {name} is new.",
            remedy=(_INFORM_ITS_CONSUMERS if name in old else _REPLAY_FOR_OLDER).format(name=name),
        )


def _output(sink: StreamsSink) -> str | None:
    """Return what a sink is called by: its topic, or the code that chooses one for each record."""
    if sink.topic or not sink.extractor:
        return sink.topic
    return f"of TopicNameExtractor {_IDENTITY.sub('', sink.extractor)}"
