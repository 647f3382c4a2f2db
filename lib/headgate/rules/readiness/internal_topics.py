"""Internal topics of Kafka Streams: what they keep, and for how long."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import InternalKind, InternalTopic
from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import some, span
from headgate.rules.readiness.facts.subject import Subject

_ADDED = "windowstore.changelog.additional.retention.ms"
_DAY_MS = 86_400_000
_JOINS = ("join_window", "stream_join", "stream_outer_join", "stream_left_join")


_COMPACT_THE_CHANGELOG = (
    "Set cleanup.policy=compact on the changelog with kafka-configs. Records that Kafka has "
    "already deleted remain lost, so the next restoration from the changelog lacks their keys. If "
    "Kafka may have deleted records, rebuild the state with `headgate plan from-scratch`."
)
_KEEP_ALL_RECORDS = (
    "Set retention.ms=-1 on the repartition topic with kafka-configs. If Kafka has already deleted "
    "unread records, reprocess the input topics with `headgate plan from-point`."
)


@rule(
    "RDY088",
    "measured on Kafka Streams 4.3.1; Kafka documentation: Managing Streams Application Topics",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH,),
    remedies=(_COMPACT_THE_CHANGELOG, _KEEP_ALL_RECORDS),
)
def internal_topic_altered(s: Subject) -> Iterator[Problem]:
    """The settings of an internal topic were altered. Kafka Streams creates compacted changelogs,
    and repartition topics with unlimited retention.

    With the altered settings, brokers delete data that is still needed: state is missing after the
    next restoration, or records are never read. An upgrade doesn't restore the settings.
    """
    for topic in s.app.internal or ():
        policy, keeps = policy_of(topic), retention_ms(topic)
        if (
            topic.kind is InternalKind.CHANGELOG
            and policy == "delete"
            and not _of_join(topic.name, s)
        ):
            what = (
                f"The changelog {topic.name} isn't compacted: brokers delete old records, so the "
                "next restoration loses state."
            )
            remedy = _COMPACT_THE_CHANGELOG
        elif (
            topic.kind is InternalKind.REPARTITION
            and policy == "delete"
            and keeps is not None
            and keeps >= 0
        ):
            what = (
                f"The repartition topic {topic.name} keeps records for only {span(keeps)}: unread "
                "records are lost if the application stops for longer."
            )
            remedy = _KEEP_ALL_RECORDS
        else:
            continue
        yield Problem(
            severity=Severity.HIGH,
            location=_node(topic.name, s),
            what=what,
            remedy=remedy,
            keeps_state=True,
        )


_IF_WINDOWS_AND_GRACE = (
    "Compare each window plus its grace period with the time that its changelog covers. If the "
    "changelog covers less, raise its retention.ms with kafka-configs before the next restoration. "
    "Repeat this for every version that makes a window or grace period longer."
)
_IS_THE_LONGEST = "Is the longest window plus its grace period at most {span}?"


@rule(
    "RDY089",
    "measured on Kafka Streams 4.3.1; Kafka documentation: "
    "windowstore.changelog.additional.retention.ms",
    Engine.KAFKA_STREAMS,
    severities=(Severity.LOW,),
    remedies=(_IF_WINDOWS_AND_GRACE,),
    questions=(_IS_THE_LONGEST,),
)
def retention_of_window_changelogs(s: Subject) -> Iterator[Problem]:
    """Kafka Streams sets the retention of a changelog only when it creates the topic.

    If a later version makes a window or grace period longer, the changelog keeps its old retention.
    After the next restoration, the oldest windows are missing.
    """
    limited = {t.name: keeps for t in _changelogs(s) if (keeps := _windowed_ms(t)) is not None}
    if limited:
        extra = int(s.config(_ADDED) or _DAY_MS)
        least = min(limited, key=lambda name: limited[name])
        reach = max(limited[least] - extra, 0)
        shown = some([f"{name} ({span(keeps)})" for name, keeps in sorted(limited.items())])
        yield Problem(
            severity=Severity.LOW,
            location=_node(least, s),
            what=(
                f"Changelogs of window stores have limited retention: {shown}. The shortest "
                f"retention covers a window plus grace period of {span(reach)} (retention minus "
                f"{_ADDED}, {span(extra)})."
            ),
            remedy=_IF_WINDOWS_AND_GRACE,
            keeps_state=True,
            question=_IS_THE_LONGEST.format(span=span(reach)),
        )


_IF_KEYS_KEEP = (
    "If new keys keep coming, aggregate in windows. Or let the aggregator return null for a "
    "completed key: Kafka Streams then deletes the key's row from the store and the changelog. "
    "Rows of other keys remain."
)
_IS_THE_NUMBER = "Is the number of keys limited?"


@rule(
    "RDY090",
    "Kafka documentation: Streams DSL, Aggregating",
    Engine.KAFKA_STREAMS,
    severities=(Severity.LOW,),
    remedies=(_IF_KEYS_KEEP,),
    questions=(_IS_THE_NUMBER,),
)
def store_grows_with_keys(s: Subject) -> Iterator[Problem]:
    """The store and its changelog keep a row for every key that was ever seen.

    If new keys keep coming, disks fill up, and each restoration takes longer than the last.
    """
    kept = {t.name for t in _changelogs(s) if policy_of(t) == "compact"}
    stores = [x for x in s.app.stores if x.changelog in kept and _aggregates(x.processors, s)]
    if stores:
        yield Problem(
            severity=Severity.LOW,
            location=stores[0].node,
            what=(
                "These stores belong to aggregations without a window, so their size has no limit: "
                f"{some([x.name for x in stores])}."
            ),
            remedy=_IF_KEYS_KEEP,
            keeps_state=True,
            question=_IS_THE_NUMBER,
        )


def _aggregates(processors: tuple[str, ...], s: Subject) -> bool:
    return any((p := s.app.processor(name)) and p.operator == "aggregate" for name in processors)


def policy_of(topic: InternalTopic) -> str | None:
    """Return the clean-up policy in force, its words in order; None where nobody said."""
    text = topic.configs.get("cleanup.policy") or topic.effective.get("cleanup.policy")
    return ",".join(sorted(w.strip() for w in text.split(","))) if text else None


def retention_ms(topic: InternalTopic) -> int | None:
    """Return the retention in force, -1 for ever; None where nobody said."""
    text = topic.configs.get("retention.ms") or topic.effective.get("retention.ms") or ""
    return int(text) if text.lstrip("-").isdecimal() else None


def _changelogs(s: Subject) -> list[InternalTopic]:
    return [t for t in s.app.internal or () if t.kind is InternalKind.CHANGELOG]


def _windowed_ms(topic: InternalTopic) -> int | None:
    keeps = retention_ms(topic)
    return keeps if policy_of(topic) == "compact,delete" and (keeps or -1) >= 0 else None


def _of_join(topic: str, s: Subject) -> bool:
    """Whether a changelog is of a stream-stream join's buffer, which is deleted only by time."""
    store = next((x for x in s.app.stores if x.changelog == topic), None)
    users = [s.app.processor(p) for p in store.processors] if store else []
    return store is None or any(p and p.operator in _JOINS for p in users)


def _node(topic: str, s: Subject) -> str | None:
    stores = ((x.changelog, x.node) for x in s.app.stores)
    repartitions = ((x.topic, x.node) for x in s.app.repartitions)
    return next((node for name, node in (*stores, *repartitions) if name == topic), None)
