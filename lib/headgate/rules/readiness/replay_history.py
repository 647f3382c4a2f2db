"""Whether a replay would still find what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import Topic
from headgate.model.kafka_streams import InternalKind
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import some, span
from headgate.rules.readiness.facts.state_retention import Bound, bound_of, keeps_ms
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.readiness.internal_topics import policy_of, retention_ms

_KAFKA = "Kafka documentation: topic configuration, retention and log compaction"


_RAISE_THE_TOPICS = (
    "Raise the topic's retention to cover all records that a replay needs (or use tiered storage). "
    "Or keep the raw records in an archive or an upstream topic, from which a replay can start. "
    "Deleted records are lost, so prefer changes that keep the state (`headgate diff` shows which "
    "do)."
)
_HOW_FAR_BACK = "How old are the oldest records that the state includes?"


@rule(
    "RDY100",
    _KAFKA,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_RAISE_THE_TOPICS,),
    questions=(_HOW_FAR_BACK,),
)
def input_history_too_short(s: Subject) -> Iterator[Problem]:
    """The state may include records that its input topics no longer have.

    A reset or a new checkpoint rebuilds the state only from the remaining records, so counts and
    sums are too small.
    """
    if s.cluster is None or not s.has_state:
        return
    needed, endless = _needed_ms(s), _is_endless(s)
    for name, node in dict(s.inputs()).items():
        topic = s.topic(name)
        if topic is None or not _expires(topic) or _compacted(topic):
            continue
        keeps = topic.retention_ms if (topic.retention_ms or -1) >= 0 else None
        if (
            needed is not None
            and keeps is not None
            and keeps >= needed
            and not topic_is_short(topic)
        ):
            continue
        reach = (
            f"The state includes records of the last {span(needed)}."
            if needed
            else "The state includes records of any age."
            if endless
            else ""
        )
        yield Problem(
            severity=Severity.MEDIUM if reach else Severity.LOW,
            location=node,
            what=f"{_limits(topic)} {reach or 'The state may include older records.'}"
            + (f" {left}" if (left := _left(topic)) else ""),
            question=None if reach else _HOW_FAR_BACK,
            remedy=_RAISE_THE_TOPICS,
            keeps_state=True,
        )


def _expires(topic: Topic) -> bool:
    """Whether the brokers delete records by age or size."""
    if topic.cleanup_policy and "delete" not in topic.cleanup_policy:
        return False
    return (topic.retention_ms or -1) >= 0 or topic_is_short(topic)


def topic_is_short(topic: Topic) -> bool:
    """Whether the topic is limited by size, which isn't a span of time."""
    return (topic.retention_bytes or -1) >= 0


def _compacted(topic: Topic) -> bool:
    return "compact" in (topic.cleanup_policy or "")


def _limits(topic: Topic) -> str:
    keeps = (topic.retention_ms or -1) >= 0
    if keeps and topic.retention_ms is not None:
        return f"The topic {topic.name} keeps records for {span(topic.retention_ms)}."
    return f"The topic {topic.name} keeps at most {topic.retention_bytes:,} bytes per partition."


def _left(topic: Topic) -> str:
    """Say how much of the history is there: offsets count records that were written."""
    known = [
        (p.begin, p.end) for p in topic.partitions if p.begin is not None and p.end is not None
    ]
    ever = sum(end for _, end in known if end is not None)
    gone = sum(begin for begin, _ in known if begin is not None)
    if not known or not ever:
        return ""
    if not gone:
        return "Kafka has deleted no records so far."
    share = f"{100 * gone / ever:.0f} %"
    return f"Kafka has deleted the records at {gone:,} of {ever:,} offsets ({share})."


def _needed_ms(s: Subject) -> int | None:
    """Return how far back the state reaches; None where it has no end, or it is not known."""
    if s.stateful:
        bounds = [bound_of(o, s.version) for o in s.stateful]
        reaches = [keeps_ms(o, s.version) for o in s.stateful]
        if any(b is not Bound.TIME for b in bounds) or None in reaches:
            return None
        return max(r for r in reaches if r is not None)
    changelogs = [t for t in s.app.internal or () if t.kind is InternalKind.CHANGELOG]
    spans = [retention_ms(t) for t in changelogs if "delete" in t.configs.get("cleanup.policy", "")]
    if not changelogs or len(spans) < len(changelogs) or None in spans:
        return None
    return max(x for x in spans if x is not None)


def _is_endless(s: Subject) -> bool:
    """Whether state is known to be made of everything that was ever read."""
    endless = (Bound.GROWS, Bound.KEYS, Bound.ONE, Bound.FUNCTION)
    if any(bound_of(o, s.version) in endless for o in s.stateful):
        return True
    changelogs = [t for t in s.app.internal or () if t.kind is InternalKind.CHANGELOG]
    return any(policy_of(t) == "compact" for t in changelogs)


_READ_IT_AS = (
    "Read the topic as a table (newest row per key). Or, if results must be the same after a "
    "replay, use a topic without compaction."
)
_DOES_THE_RESULT = (
    "Does the result depend on every record, or only on the newest record of each key?"
)


@rule(
    "RDY101",
    _KAFKA,
    severities=(Severity.MEDIUM,),
    remedies=(_READ_IT_AS,),
    questions=(_DOES_THE_RESULT,),
)
def compacted_input(s: Subject) -> Iterator[Problem]:
    """A compacted topic keeps only the newest record of each key.

    A replay doesn't read earlier records: counts and sums are then too small, without an error.
    """
    if s.cluster is None or not _counts(s):
        return
    names = [
        n for n, _ in s.inputs() if (t := s.topic(n)) and _compacted(t) and not _is_table(n, s)
    ]
    for name, node in dict(s.inputs()).items():
        if name in names:
            yield Problem(
                severity=Severity.MEDIUM,
                location=node,
                what=f"The pipeline builds its state from the compacted topic {name}.",
                remedy=_READ_IT_AS,
                keeps_state=False,
                question=_DOES_THE_RESULT,
            )


def _counts(s: Subject) -> bool:
    operators = [p.operator for p in s.app.processors]
    return bool(s.stateful) or "aggregate" in operators


def _is_table(name: str, s: Subject) -> bool:
    """Whether an application reads a topic as a table, for which compaction is right."""
    for source in s.app.sources:
        processor = s.app.processor(source.processor)
        if name in source.topics and processor is not None:
            following = [s.app.processor(x) for x in processor.successors]
            return source.is_global or any(p and p.operator == "table_source" for p in following)
    return False


_CHECK_WHETHER_IT_WAS = (
    "Check whether the topic was deleted or renamed, and whether [kafka] in headgate.toml names "
    "the pipeline's cluster. If you recreate the topic, also reset the pipeline's offsets."
)
_IS_THIS_THE_CLUSTER = (
    "Is this the cluster that the pipeline reads from, and is Headgate authorised to describe "
    "the topic?"
)


@rule(
    "RDY102",
    "measured on Spark 4.2.0 and Kafka Streams 4.3.1",
    severities=(Severity.HIGH,),
    remedies=(_CHECK_WHETHER_IT_WAS,),
    questions=(_IS_THIS_THE_CLUSTER,),
)
def input_topic_missing(s: Subject) -> Iterator[Problem]:
    """An input topic doesn't exist on the cluster.

    The next start fails, or waits until the topic exists. A recreated topic with the same name
    has other records, or none.
    """
    if s.cluster is None or not s.cluster.topics:
        return
    missing = {n: node for n, node in s.inputs() if n not in s.cluster.topics}
    if missing:
        yield Problem(
            severity=Severity.HIGH,
            location=next(iter(missing.values())),
            what=f"Input topics that don't exist on the cluster: {some(list(missing))}.",
            remedy=_CHECK_WHETHER_IT_WAS,
            keeps_state=True,
            question=_IS_THIS_THE_CLUSTER,
        )
