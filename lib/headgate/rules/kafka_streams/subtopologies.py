"""Sub-topologies: a task is called after its sub-topology's number, and so is its directory."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import (
    STREAMS_EXCEPTION,
    StreamsComparison,
    streams_rule,
)
from headgate.rules.kafka_streams.library_versions import release
from headgate.rules.kafka_streams.state_config import loses_source_topic
from headgate.rules.kafka_streams.store_keys import kept

_PLAN_TIME_FOR = "Allow time to restore the stores from their changelogs."


@streams_rule("KST050", outcomes=(Outcome.RESUMES,), remedies=(_PLAN_TIME_FOR,))
def subtopology_number_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams numbers sub-topologies in the order of the code, and a task's directory has its
    sub-topology's number.

    If a store's sub-topology gets a different number, the store is restored from its changelog. A
    long changelog takes longer to restore. The old directory remains on the disk.
    """
    for pair, was, now in kept(c):
        if loses_source_topic(c, was, now):
            continue
        if was.subtopology != now.subtopology and not c.unlogged(was):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                location=pair.location,
                before=was.subtopology,
                after=now.subtopology,
                because=(
                    f"The store {now.name} moves from tasks {was.subtopology}_* to tasks "
                    f"{now.subtopology}_*."
                ),
                remedy=_PLAN_TIME_FOR,
                scenario="offline-upgrade",
            )


_KEEP_THE_ORDER = (
    "Keep the order of sub-topologies (declare new ones last). Or enable changelog logging "
    "and replay the inputs under a new application id."
)


@streams_rule("KST051", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_ORDER,))
def unlogged_store_moved(c: StreamsComparison) -> Iterator[RuleResult]:
    """The store has no changelog: it exists only on the local disk, in the directory of its task.

    Its sub-topology got a different number, so the new task reads a different directory and the
    store starts empty. Setting the store's name or keeping the disk doesn't prevent this.
    """
    for pair, was, now in kept(c):
        if was.subtopology != now.subtopology and c.unlogged(was) and not now.restored_from:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                location=pair.location,
                before=was.subtopology,
                after=now.subtopology,
                because=(
                    f"The topic {was.changelog} doesn't exist, so the store {was.name} has no "
                    "changelog."
                ),
                remedy=_KEEP_THE_ORDER,
                scenario="from-scratch",
            )


_DECLARE_THE_GLOBAL = (
    "Declare the global store last, so that the other sub-topologies keep their numbers. Or, if "
    "the changelogs contain all rows of all stores, delete the state directories of all instances "
    "before the start. Kafka Streams restores the stores from their changelogs."
)


@streams_rule(
    "KST052",
    "measured on Kafka Streams 4.3.1; source code of StateDirectory and GlobalStreamThread",
    outcomes=(Outcome.REFUSES,),
    remedies=(_DECLARE_THE_GLOBAL,),
)
def global_store_reuses_task_directory(c: StreamsComparison) -> Iterator[RuleResult]:
    """Global stores get sub-topology numbers, although they have no tasks.

    At startup, Kafka Streams opens the stores of every task directory that it finds. If a stateful
    sub-topology left a directory with the global store's number, the global store is opened for
    that task. The global thread then fails ("Metrics recorder is re-initialised with different
    task"). With task directories of several partitions, the start itself fails. Instances with an
    empty disk or with in-memory stores start.
    """
    now = release(c.after.engine_version)
    if (now is not None and now < _OPENS_AT_START) or _in_memory(c):
        return
    left = {s.subtopology: s for s in c.old.stores if not s.is_global}
    for store in c.new.stores:
        old = left.get(store.subtopology) if store.is_global else None
        if old is not None:
            yield RuleResult(
                outcome=Outcome.REFUSES,
                state_effect=StateEffect.NONE,
                location=Location(old.node, store.node),
                before=old.name,
                after=store.name,
                because=(
                    f"The global store {store.name} gets sub-topology number {store.subtopology}. "
                    f"In the old version, the sub-topology of the store {old.name} had this "
                    "number. An instance that still has task directories of that sub-topology "
                    "opens the global store for an old task and fails."
                ),
                error_class=_SECOND_TASK if _has_several_tasks(c, old) else STREAMS_EXCEPTION,
                remedy=_DECLARE_THE_GLOBAL,
                rollback=Rollback.SAFE,
                scenario="offline-upgrade",
            )


_OPENS_AT_START = (4, 0)
_SECOND_TASK = "java.lang.IllegalStateException"


def _has_several_tasks(c: StreamsComparison, store: StreamsStore) -> bool:
    """Say whether a store's changelog, or the topic that replaces it, has several partitions."""
    topic = store.changelog or store.restored_from
    return {**c.inputs, **c.existing}.get(topic or "", 1) > 1


def _in_memory(c: StreamsComparison) -> bool:
    """Say whether the new version's stores are in memory, unless the code says otherwise."""
    said = (c.new.config.get(k, "") for k in ("default.dsl.store", "dsl.store.suppliers.class"))
    return any("memory" in value.lower() for value in said)
