"""What happens to a Kafka Streams application when an instance, a disk or a broker goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import size, span
from headgate.rules.readiness.facts.subject import Subject

RESTORED_A_SECOND = 20_000_000
"""Assumed restore rate in bytes per second, shown with every estimate: one thread, brokers nearby.
"""
NOTICED_MS = 60_000
LONG_MS = 900_000
_STANDBYS = "num.standby.replicas"
_GUARANTEE = "processing.guarantee"
_STATE_DIR = "state.dir"
_TEMPORARY = re.compile(r"^(/private)?(/var)?/tmp(/|$)")
_GUIDE = "Kafka documentation: Configuring a Streams Application"


_SET_AND_RUN = (
    f"Set {_STANDBYS}=1 in a rolling restart, which keeps the state. Run one more instance than "
    "the load needs, and keep the local disks when instances restart."
)


@rule(
    "RDY080",
    f"{_GUIDE}, num.standby.replicas",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH, Severity.MEDIUM),
    remedies=(_SET_AND_RUN,),
)
def no_standby(s: Subject) -> Iterator[Problem]:
    """The application has no standby replicas: no other instance has a copy of the state.

    If an instance stops, its tasks wait until their stores are restored from the whole changelog.
    The same happens if a disk is lost or an upgrade moves tasks.
    """
    if s.config(_STANDBYS, "0") != "0":
        return
    sizes = {store: held for store in s.app.stores if (held := _bytes(store, s))}
    total = sum(sizes.values())
    takes = total * 1000 / RESTORED_A_SECOND
    if takes >= NOTICED_MS:
        largest = max(sizes, key=lambda store: sizes[store])
        yield Problem(
            severity=Severity.HIGH if takes >= LONG_MS else Severity.MEDIUM,
            location=largest.node,
            what=(
                f"The changelogs total {size(total)}, and no store has a standby replica. "
                f"Restoring all stores takes about {span(takes)}, if Kafka Streams restores "
                f"{size(RESTORED_A_SECOND)} per second (assumption: one thread, brokers nearby)."
            ),
            remedy=_SET_AND_RUN,
            keeps_state=True,
        )


def _bytes(store: StreamsStore, s: Subject) -> int | None:
    topic = s.topic(store.changelog or store.restored_from)
    return topic.bytes if topic else None


_SET_TO_A_FOLDER = (
    f"Set {_STATE_DIR} to a folder on a persistent disk (on Kubernetes, a StatefulSet with a "
    "volume). Stop the instance and move the old folder there, so that no store needs to be "
    "restored."
)
_ARE_ALL_STORES = "Are all stores in memory? If so, this folder contains no state."


@rule(
    "RDY081",
    f"{_GUIDE}, state.dir",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_TO_A_FOLDER,),
    questions=(_ARE_ALL_STORES,),
)
def state_in_tmp(s: Subject) -> Iterator[Problem]:
    """The state directory is in a folder for temporary files. Restarts and clean-up jobs delete its
    files.

    Kafka Streams then restores all state from the changelogs.
    """
    directory = s.config(_STATE_DIR, "/tmp/kafka-streams")
    if directory and s.app.stores and _TEMPORARY.match(directory):
        set_ = _STATE_DIR in s.app.config
        yield Problem(
            severity=Severity.MEDIUM,
            location=s.app.stores[0].node,
            what=f"{_STATE_DIR} is {directory}" + ("." if set_ else ", the default."),
            remedy=_SET_TO_A_FOLDER,
            keeps_state=True,
            question=None if set_ else _ARE_ALL_STORES,
        )


_SET_REPLICATION_FACTOR = (
    "Set replication.factor=-1 (the brokers' default) or 3. The setting applies only to new "
    "topics: add replicas to existing ones with kafka-reassign-partitions."
)


@rule(
    "RDY082",
    f"{_GUIDE}, replication.factor",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH,),
    remedies=(_SET_REPLICATION_FACTOR,),
)
def single_replica(s: Subject) -> Iterator[Problem]:
    """Changelogs and repartition topics have only one replica.

    If a topic's broker restarts, tasks stop. If the broker's disk is lost, the state is lost, too.
    """
    if s.config("replication.factor") == "1":
        yield Problem(
            severity=Severity.HIGH,
            what="Internal topics are created with replication.factor=1.",
            remedy=_SET_REPLICATION_FACTOR,
            keeps_state=True,
        )


_SET_EXACTLY_ONCE = (
    f"Set {_GUARANTEE}=exactly_once_v2 in a rolling restart, which keeps the state (measured "
    "on Kafka Streams 4.3.1). Set isolation.level=read_committed in the consumers of the output "
    "topics. After an unclean stop, Kafka Streams restores the stores from their changelogs."
)
_DOES_A_RECORD = "Do consumers tolerate duplicates and results that count some records twice?"


@rule(
    "RDY083",
    f"{_GUIDE}, processing.guarantee",
    Engine.KAFKA_STREAMS,
    severities=(Severity.LOW,),
    remedies=(_SET_EXACTLY_ONCE,),
    questions=(_DOES_A_RECORD,),
)
def records_counted_twice(s: Subject) -> Iterator[Problem]:
    """After a crash, the application reprocesses the records since its last commit. The state may
    already include these records.

    Sums and counts then include the records twice, and outputs get duplicates.
    """
    if s.app.stores and s.config(_GUARANTEE, "at_least_once") == "at_least_once":
        yield Problem(
            severity=Severity.LOW,
            location=s.app.stores[0].node,
            what=f"{_GUARANTEE} is at_least_once, and the application keeps state.",
            remedy=_SET_EXACTLY_ONCE,
            keeps_state=True,
            question=_DOES_A_RECORD,
        )


_BEFORE_THE_UPGRADE = (
    f"Before you upgrade to 4.x, set {_GUARANTEE}=exactly_once_v2 in a separate rolling "
    "restart (needs brokers 2.5 or newer)."
)


@rule(
    "RDY084",
    "Kafka documentation: Streams upgrade guide, 4.0; proposal: KIP-732",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH,),
    remedies=(_BEFORE_THE_UPGRADE,),
)
def removed_processing_guarantee(s: Subject) -> Iterator[Problem]:
    """Kafka Streams 4.0 and newer don't accept this processing guarantee.

    After an upgrade, the application fails to start.
    """
    value = s.config(_GUARANTEE)
    if value in ("exactly_once", "exactly_once_beta"):
        yield Problem(
            severity=Severity.HIGH,
            what=f"{_GUARANTEE} is {value}, which Kafka Streams 4.0 removed.",
            remedy=_BEFORE_THE_UPGRADE,
            keeps_state=True,
        )


_ONCE_ALL_INSTANCES = (
    "Once all instances run the new release, remove upgrade.from in a second rolling restart."
)
_IS_AN_UPGRADE = "Is an upgrade in progress?"


@rule(
    "RDY085",
    "Kafka documentation: Streams upgrade guide",
    Engine.KAFKA_STREAMS,
    severities=(Severity.LOW,),
    remedies=(_ONCE_ALL_INSTANCES,),
    questions=(_IS_AN_UPGRADE,),
)
def leftover_upgrade_from(s: Subject) -> Iterator[Problem]:
    """While upgrade.from is set, Kafka Streams writes the old release's formats.

    If you don't remove the setting, the last upgrade isn't complete when the next upgrade starts.
    """
    value = s.config("upgrade.from")
    if value and value != "null":
        yield Problem(
            severity=Severity.LOW,
            what=f"upgrade.from is still {value}.",
            remedy=_ONCE_ALL_INSTANCES,
            keeps_state=True,
            question=_IS_AN_UPGRADE,
        )


_FOR_SUCH_A_RELEASE = (
    "If a new version changes the topology, stop all instances. Start the new version once with "
    "group.protocol=classic, then switch back to streams. Or, instead of the start with classic, "
    "save the offsets of the empty group, delete the group and restore the offsets. `headgate "
    "diff` shows which versions need this."
)


@rule(
    "RDY086",
    "measured on Kafka Streams 4.3.1; proposal: KIP-1071",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_FOR_SUCH_A_RELEASE,),
)
def topology_stored_by_the_broker(s: Subject) -> Iterator[Problem]:
    """With the streams protocol, the broker stores a group's topology and rejects any other.

    A new version fails to start if it changes the input topics, or the name, partition count or
    settings of an internal topic. Stopping all instances first doesn't help.
    """
    if s.app.protocol == "streams":
        yield Problem(
            severity=Severity.MEDIUM,
            what="The application uses group.protocol=streams: the broker rejects a new version "
            "with a changed topology.",
            remedy=_FOR_SUCH_A_RELEASE,
            keeps_state=True,
        )


_SET_IT_TO_EARLIEST = (
    "Set auto.offset.reset to earliest, the default of Kafka Streams. Partitions with a committed "
    "offset aren't affected. If one source must start at the latest offset, set latest only for "
    "that source (Consumed.withOffsetResetPolicy)."
)


@rule(
    "RDY087",
    f"{_GUIDE}; measured on Kafka Streams 4.3.1",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_IT_TO_EARLIEST,),
)
def starts_at_latest_offset(s: Subject) -> Iterator[Problem]:
    """The application reads partitions without a committed offset from the latest offset.

    Partitions have no committed offset if they are new, after offsets expired, and under a new
    application id. Kafka Streams silently skips the earlier records of these partitions.
    """
    keys = ("main.consumer.auto.offset.reset", "consumer.auto.offset.reset", "auto.offset.reset")
    found = next(((k, v) for k in keys if (v := s.config(k))), None)
    if found and found[1].lower() == "latest":
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"{found[0]} is latest.",
            remedy=_SET_IT_TO_EARLIEST,
            keeps_state=True,
        )
