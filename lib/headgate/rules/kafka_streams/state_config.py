"""Settings of the application that decide what becomes of offsets and state."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsApplication, StreamsStore
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import (
    STATE_EXCEPTION,
    STREAMS_EXCEPTION,
    StreamsComparison,
    streams_rule,
)
from headgate.rules.kafka_streams.facts.store_pairs import StorePair
from headgate.rules.kafka_streams.invalid_config import GUARANTEES
from headgate.rules.kafka_streams.store_keys import kept

_SERDES = (
    "default.key.serde",
    "default.value.serde",
    "default.timestamp.extractor",
    "windowed.inner.class.serde",
    "windowed.inner.deserializer.class",
)
_DEFAULTS = {
    "default.timestamp.extractor": "org.apache.kafka.streams.processor.FailOnInvalidTimestamp"
}
_NEW_TOPICS_ONLY = ("replication.factor", "windowstore.changelog.additional.retention.ms")
_OF_STORES = ("default.dsl.store", "dsl.store.suppliers.class")


_KEEP_THE_APPLICATION = "Keep the application id. If you need a new id, also use new output topics."


@streams_rule(
    "KST070", outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG), remedies=(_KEEP_THE_APPLICATION,)
)
def application_renamed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The application id is the group id, the prefix of every internal topic and the name of the
    state directory.

    With a new id the state is empty, and auto.offset.reset decides where reading starts. With
    earliest, Kafka Streams writes all results a second time. With latest, Kafka Streams skips
    unread records. With none, Kafka Streams fails to start.
    """
    old, new = c.old.application_id, c.new.application_id
    if old and new and old != new:
        policy = reset_policy(c.new)
        fails = policy == "none"
        yield RuleResult(
            outcome=Outcome.REFUSES if fails else Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            location=Location(),
            before=old,
            after=new,
            because=f"The application id changes from {old} to {new}. With "
            f"auto.offset.reset={policy}, {_under_new_id(policy)}.",
            error_class=STREAMS_EXCEPTION if fails else None,
            remedy=_KEEP_THE_APPLICATION,
            scenario="from-scratch",
        )


def _under_new_id(policy: str) -> str:
    """Return what Kafka Streams does without committed offsets."""
    match policy:
        case "latest":
            return "Kafka Streams skips unread records"
        case "none":
            return "Kafka Streams fails, because it has no offset to start at"
        case "earliest":
            return "Kafka Streams writes all results a second time"
    return (
        "Kafka Streams starts at records of that time: it writes some results a second time, or "
        "skips unread records"
    )


def reset_policy(app: StreamsApplication) -> str:
    """Return where topics without committed offsets are read from; Kafka Streams' default is
    `earliest`, and a prefix that is more to the point wins."""
    for prefix in ("main.consumer.", "consumer.", ""):
        if found := app.config.get(f"{prefix}auto.offset.reset"):
            return found.lower()
    return "earliest"


_MAKE_SURE_THAT_IS_COMPACTED = (
    "Make sure that the topic {restored_from} is compacted and that its records never expire. "
    "Delete the changelog {changelog} only if you no longer need a rollback."
)
_LEAVE_THE_OPTIMISATION = (
    "Keep topology.optimization on (all, or reuse.ktable.source.topics), or reprocess the "
    "KTable's source topic from the earliest offset."
)
_DO_ALL_INSTANCES = (
    "Will all instances keep their state directories until every row has been updated? Kafka "
    "Streams writes a row to the new changelog only when the row is updated."
)


@streams_rule(
    "KST071",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_MAKE_SURE_THAT_IS_COMPACTED, _LEAVE_THE_OPTIMISATION),
    questions=(_DO_ALL_INSTANCES,),
)
def optimisation_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """With topology.optimization, a table is restored from its source topic and has no changelog.

    If you switch it on, the source topic's retention decides which rows can be restored. The old
    changelog remains on the cluster. If you switch it off, the new changelog gets only new updates.
    Older rows are then only on the local disk.
    """
    for pair, was, now in kept(c):
        if not was.restored_from and now.restored_from:
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                location=pair.location,
                before=was.changelog,
                after=now.restored_from,
                because=(
                    f"The store {now.name} is now restored from its source topic "
                    f"{now.restored_from}."
                ),
                remedy=_MAKE_SURE_THAT_IS_COMPACTED.format(
                    restored_from=now.restored_from, changelog=was.changelog
                ),
            )
        elif loses_source_topic(c, was, now):
            yield _switched_off(pair, was, now)


def loses_source_topic(c: StreamsComparison, was: StreamsStore, now: StreamsStore) -> bool:
    """Say whether a table's rows were in its source topic, and its new changelog has none."""
    return bool(was.restored_from) and not now.restored_from and now.changelog not in c.internal


def _switched_off(pair: StorePair, was: StreamsStore, now: StreamsStore) -> RuleResult:
    moved = was.subtopology != now.subtopology
    where = (
        f" The store moves from tasks {was.subtopology}_* to tasks {now.subtopology}_*, so the new "
        "tasks don't use the rows on the local disk, either."
        if moved
        else ""
    )
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if moved else Outcome.UNKNOWN,
        state_effect=StateEffect.LOST,
        location=pair.location,
        before=was.restored_from,
        after=now.changelog,
        because=(
            f"The changelog {now.changelog} doesn't exist yet and won't get the existing rows of "
            f"the store {now.name}.{where}"
        ),
        question=None if moved else _DO_ALL_INSTANCES,
        remedy=_LEAVE_THE_OPTIMISATION,
        scenario="from-scratch",
    )


_FOR_EXACTLY_ONCE = "Set isolation.level=read_committed in the consumers of the output topics."
_EXPECT_DUPLICATES_AFTER = "Check that consumers tolerate duplicates, which a crash can cause."


@streams_rule(
    "KST072",
    outcomes=(Outcome.RESUMES,),
    remedies=(_FOR_EXACTLY_ONCE, _EXPECT_DUPLICATES_AFTER),
)
def processing_guarantee_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """at_least_once and exactly_once_v2 use offsets and state in the same way.

    After an unclean stop, exactly_once_v2 wipes local stores and restores them from the changelogs.
    """
    old, new = (_guarantee(a) for a in (c.old, c.new))
    if old != new and new in GUARANTEES:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=old,
            after=new,
            because=f"processing.guarantee changes from {old} to {new}.",
            remedy=_FOR_EXACTLY_ONCE if new == "exactly_once_v2" else _EXPECT_DUPLICATES_AFTER,
        )


def _guarantee(app: StreamsApplication) -> str:
    return app.config.get("processing.guarantee", "at_least_once").lower()


_IF_ALL_CHANGELOGS = (
    "If the changelogs contain all rows of all stores, delete the state directories of all "
    "instances before the start. Kafka Streams restores the stores from their changelogs."
)
_TO_ROLL_BACK = (
    "Before a rollback, delete the state directories. Do this only if the changelogs contain all "
    "rows of all stores."
)


@streams_rule(
    "KST074",
    outcomes=(Outcome.REFUSES, Outcome.RESUMES),
    remedies=(_IF_ALL_CHANGELOGS, _TO_ROLL_BACK),
)
def store_format_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """dsl.store.format=HEADERS uses a newer format of RocksDB files.

    After a switch to HEADERS, Kafka Streams converts stores when it opens them. After a switch
    back, Kafka Streams can't open the converted files. Both formats use the same changelogs.
    """
    old, new = (a.config.get("dsl.store.format", "DEFAULT").upper() for a in (c.old, c.new))
    if old == new:
        return
    back = old == "HEADERS" and any(not s.is_global for s in c.old.stores)
    pair = next((p for p, *_ in kept(c)), None)
    yield RuleResult(
        outcome=Outcome.REFUSES if back else Outcome.RESUMES,
        state_effect=StateEffect.NONE if back else StateEffect.EXACT,
        location=pair.location if pair else Location(),
        before=old,
        after=new,
        because=f"dsl.store.format changes from {old} to {new}.",
        error_class=STATE_EXCEPTION if back else None,
        remedy=_IF_ALL_CHANGELOGS if back else _TO_ROLL_BACK,
        rollback=Rollback.SAFE if back else Rollback.REPAIRABLE,
        scenario="offline-upgrade" if back else None,
    )


_PLAN_TIME_FOR = (
    "Allow time to restore the stores from their changelogs. If a store has no changelog, keep "
    "the setting, or replay the inputs under a new application id."
)


@streams_rule(
    "KST075", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_PLAN_TIME_FOR,)
)
def store_supplier_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """A store that moves between RocksDB and memory is restored from its changelog.

    A store without a changelog starts empty.
    """
    for key in _OF_STORES:
        old, new = c.setting(key)
        if old == new:
            continue
        yield _restored_from_changelog(c, key, remedy=_PLAN_TIME_FOR)


_NAME_THE_SERDES = (
    "Set the old value explicitly in the code (Consumed, Materialized, Grouped). Or replay the "
    "inputs under a new application id."
)
_WHICH_SOURCES_STORES = (
    "Which sources, stores and repartition topics use {key}? Is the new value compatible with the "
    "stored data?"
)


@streams_rule(
    "KST076",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_NAME_THE_SERDES,),
    questions=(_WHICH_SOURCES_STORES,),
)
def default_serdes_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """If the code sets no serde, records, stores and internal topics use the default serde.

    If the length of old data doesn't fit the new serde, Kafka Streams fails (StreamsException,
    cause: SerializationException). If the length fits, Kafka Streams silently reads wrong values.
    With a different timestamp extractor, old and new records are assigned to windows by different
    timestamps.
    """
    for key in _SERDES:
        old, new = (s or _DEFAULTS.get(key) for s in c.setting(key))
        if old != new and c.old.config and c.new.config:
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                state_effect=StateEffect.REINTERPRETED,
                location=Location(),
                before=old,
                after=new,
                because=f"{key} changes from {_short(old)} to {_short(new)}.",
                question=_WHICH_SOURCES_STORES.format(key=key),
                remedy=_NAME_THE_SERDES,
            )


def _short(name: str | None) -> str:
    return (name or "the default").rsplit(".", 1)[-1]


_MOVE_THE_DIRECTORYS = (
    "Move the content of the old state directory to the new path. Or, if all stores have "
    "changelogs, allow time to restore the stores."
)


@streams_rule(
    "KST077", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_MOVE_THE_DIRECTORYS,)
)
def state_directory_moved(c: StreamsComparison) -> Iterator[RuleResult]:
    """If the new state directory is empty, every store is restored from its changelog.

    A store without a changelog starts empty.
    """
    old, new = c.setting("state.dir")
    if old == new:
        return
    yield _restored_from_changelog(
        c,
        "state.dir",
        remedy=_MOVE_THE_DIRECTORYS,
    )


def _restored_from_changelog(c: StreamsComparison, key: str, *, remedy: str) -> RuleResult:
    """Return what a setting does that leaves every store to its changelog."""
    old, new = c.setting(key)
    bare = next((p for p, was, _ in kept(c) if c.unlogged(was)), None)
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if bare else Outcome.RESUMES,
        state_effect=StateEffect.LOST if bare else StateEffect.EXACT,
        location=bare.location if bare else Location(),
        before=old,
        after=new,
        because=f"{key} changed."
        + (f" The store {bare.before.name} has no changelog." if bare and bare.before else ""),
        remedy=remedy,
    )


_CHECK_THE_GROUPS = (
    "Check the group's committed offsets before the start, with kafka-consumer-groups --describe."
)
_DOES_THE_GROUP = (
    "Does the group have committed offsets for every input partition? Offsets are missing for new "
    "partitions and recreated topics, under a new application id, and after a stop longer than "
    "offsets.retention.minutes."
)


@streams_rule(
    "KST078",
    outcomes=(Outcome.UNKNOWN, Outcome.NO_EFFECT),
    remedies=(_CHECK_THE_GROUPS,),
    questions=(_DOES_THE_GROUP,),
)
def reset_policy_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The setting auto.offset.reset applies only to partitions without a committed offset.

    New partitions and recreated topics have no committed offsets. A group also has none after its
    offsets expired, or if the application id is new. With `latest`, Kafka Streams silently skips
    the earlier records of these partitions. With `earliest`, Kafka Streams processes these records,
    even if it has already processed them before. If every partition has a committed offset, nothing
    changes.
    """
    old, new = reset_policy(c.old), reset_policy(c.new)
    if old == new:
        return
    is_committed = _all_committed(c)
    yield RuleResult(
        outcome=Outcome.NO_EFFECT if is_committed else Outcome.UNKNOWN,
        state_effect=StateEffect.EXACT if is_committed else StateEffect.LOST,
        location=Location(),
        before=old,
        after=new,
        because=f"auto.offset.reset changes from {old} to {new}."
        + (" Every input partition has a committed offset." if is_committed else ""),
        question=None if is_committed else _DOES_THE_GROUP,
        remedy=_CHECK_THE_GROUPS,
    )


def _all_committed(c: StreamsComparison) -> bool:
    if c.cluster is None or c.group is None:
        return False
    done = {(o.topic, o.partition) for o in c.group.offsets if o.offset is not None}
    read = {t for s in c.new.sources if not s.is_global for t in s.topics}
    known = [c.cluster.topics.get(t) for t in sorted(read)]
    return bool(known) and all(
        t is not None and all((t.name, p.number) in done for p in t.partitions) for t in known
    )


_IF_THE_SETTING = (
    "If the setting must apply to existing internal topics, change these topics with kafka-configs."
)


@streams_rule("KST079", outcomes=(Outcome.NO_EFFECT,), remedies=(_IF_THE_SETTING,))
def setting_applies_only_to_new_topics(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams applies this setting only to internal topics that it creates.

    Existing topics keep the old value.
    """
    for key in for_new_topics(c):
        old, new = c.setting(key)
        yield RuleResult(
            outcome=Outcome.NO_EFFECT,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=old,
            after=new,
            because=f"{key} changed.",
            remedy=_IF_THE_SETTING,
        )


def for_new_topics(c: StreamsComparison) -> tuple[str, ...]:
    """Return the settings that differ and count only for internal topics that are yet to come."""
    keys = sorted(
        k for k in (c.old.config | c.new.config) if k in _NEW_TOPICS_ONLY or _of_topics(k)
    )
    return tuple(k for k in keys if c.old.config.get(k) != c.new.config.get(k))


def _of_topics(key: str) -> bool:
    return key.startswith("topic.") and not key.startswith("topic.creation")
