"""Committed offsets of a group: read, set, deleted, each partition's own answer read.

Setting the offsets of a group with members succeeds as a call and fails per partition, and known
and unknown partitions in one call are partly applied: so every partition's error is read, and
unknown partitions raise an error before anything is sent.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition

from headgate.errors import RefusedError, SetupError, StepError
from headgate.gateway.kafka import consumer_groups
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import COORDINATOR_TIME, TRANSIENT, Deadline, gather, translate
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.process.jars import install_step
from headgate.model.cluster import GroupOffset

Target = tuple[int, int | None, str | None]
MEMBERS = "the group has active members: stop the members first"
REASONS = {
    KafkaError.UNKNOWN_MEMBER_ID: MEMBERS,
    KafkaError.REBALANCE_IN_PROGRESS: MEMBERS,
    KafkaError.NON_EMPTY_GROUP: MEMBERS,
    KafkaError.GROUP_SUBSCRIBED_TO_TOPIC: (
        "members of the group read this topic: stop the members first"
    ),
}
PAUSE = 0.2


def read_offsets(kafka: Kafka, group: str) -> dict[TopicPart, GroupOffset]:
    """Return every committed offset of the group with leader epoch and metadata.

    Empty where the group does not exist or has committed nothing. Works for streams groups, too;
    a share group has none of this kind.
    """
    deadline = kafka.deadline()
    if error := consumer_groups.wait_for_coordinator(kafka.admin, group, deadline):
        raise translate(error, kafka.bootstrap)
    found, failed = consumer_groups.committed(kafka.admin, [group], deadline)
    for error in failed.values():
        raise translate(error, kafka.bootstrap)
    return {(o.topic, o.partition): o for o in found[group] if o.offset is not None}


def alter_offsets(kafka: Kafka, group: str, targets: Mapping[TopicPart, Target]) -> None:
    """Commit (offset, leader epoch or None, metadata or None) to each partition.

    Creates the group where there is none. Raises RefusedError, with nothing changed, where a
    partition does not exist, and StepError naming each partition that Kafka did not accept; the
    others are then changed. An offset outside the log is accepted by Kafka, and so here.
    """
    if not targets:
        return
    _refuse_unknown(kafka, targets)
    deadline = kafka.deadline()
    left = dict(targets)
    while left:
        failed = _alter(kafka, group, left, deadline)
        left = _to_try_again(left, failed, deadline)
        if not left and failed:
            raise StepError(_sentence("set", group, failed))


def delete_offsets(kafka: Kafka, group: str, parts: Iterable[TopicPart]) -> None:
    """Delete the group's committed offsets of these partitions; fine if a partition has none.

    librdkafka has no such call, Kafka's Java client has: SetupError if its jars are missing.
    Raises StepError naming each partition that Kafka refused.
    """
    wanted = list(parts)
    if not wanted:
        return
    if kafka.java is None:
        raise SetupError(
            f"Headgate needs the jars of Kafka's Java client to delete offsets: {install_step()}"
        )
    refused = kafka.java.delete_offsets(group, wanted)
    if refused:
        why = "; ".join(f"{topic}[{number}]: {text}" for (topic, number), text in refused.items())
        raise StepError(f"Offsets of group {group} could not be deleted: {why}")


def delete_group(kafka: Kafka, group: str) -> None:
    """Delete the group with all its committed offsets; fine if it does not exist.

    Raises StepError if it has members or is of a type that this call does not delete.
    """
    deadline = kafka.deadline()
    while True:
        futures = kafka.admin.delete_consumer_groups([group], request_timeout=COORDINATOR_TIME)
        _, failed = gather(futures, deadline)
        error = failed.get(group)
        if error is None or error.code() == KafkaError.GROUP_ID_NOT_FOUND:
            return
        if error.code() not in TRANSIENT or deadline.left <= PAUSE:
            raise StepError(f"Group {group} could not be deleted: {_reason(error)}")
        time.sleep(PAUSE)


def _refuse_unknown(kafka: Kafka, parts: Iterable[TopicPart]) -> None:
    wanted = list(parts)
    known = kafka.identities({topic for topic, _ in wanted})
    unknown = sorted((t, p) for t, p in wanted if t not in known or not 0 <= p < known[t][1])
    if unknown:
        raise RefusedError(
            f"Partitions not found: {_names(unknown)}. No offset was changed. Check the topic, "
            "then run `headgate plan` again"
        )


def _alter(
    kafka: Kafka, group: str, targets: Mapping[TopicPart, Target], deadline: Deadline
) -> dict[TopicPart, Any]:
    """Send one request; return the error of each partition that was not accepted."""
    request = ConsumerGroupTopicPartitions(group, [_partition(p, t) for p, t in targets.items()])
    futures = kafka.admin.alter_consumer_group_offsets([request], request_timeout=COORDINATOR_TIME)
    done, failed = gather(futures, deadline)
    for error in failed.values():
        return dict.fromkeys(targets, error)
    answers = done[group].topic_partitions
    return {(tp.topic, tp.partition): tp.error for tp in answers if tp.error is not None}


def _partition(part: TopicPart, target: Target) -> TopicPartition:
    offset, epoch, metadata = target
    given: dict[str, Any] = {"metadata": metadata or ""}
    if epoch is not None:
        given["leader_epoch"] = epoch
    return TopicPartition(*part, offset, **given)


def _to_try_again(
    targets: Mapping[TopicPart, Target], failed: Mapping[TopicPart, Any], deadline: Deadline
) -> dict[TopicPart, Target]:
    """A coordinator that is just being found answers with an error that passes by itself."""
    passing = all(error.code() in TRANSIENT for error in failed.values())
    if not failed or not passing or deadline.left <= PAUSE:
        return {}
    time.sleep(PAUSE)
    return {part: targets[part] for part in failed}


def _sentence(verb: str, group: str, failed: Mapping[TopicPart, Any]) -> str:
    reasons = {part: _reason(error) for part, error in failed.items()}
    by_reason = "; ".join(
        f"{_names(sorted(p for p, r in reasons.items() if r == reason))}: {reason}"
        for reason in dict.fromkeys(reasons.values())
    )
    return f"Offsets of group {group} could not be {verb}: {by_reason}"


def _reason(error: Any) -> str:
    return REASONS.get(error.code(), f"{error.name()} ({error.str()})")


def _names(parts: Iterable[TopicPart]) -> str:
    return ", ".join(f"{topic}[{partition}]" for topic, partition in parts)
