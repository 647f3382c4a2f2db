"""Topics made, deleted, emptied and given other settings, each answer of Kafka read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from headgate.errors import RefusedError, StepError
from headgate.gateway.kafka import java_delete_topic
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import MISSING, gather, translate
from headgate.gateway.kafka.topics import OF_THE_TOPIC, TopicPart, begin_end
from headgate.model.cluster import Topic
from headgate.reprocess.ports.kafka import TopicShape

# How long Kafka may take until all brokers know of a topic's beginning or end.
KNOWN_SECONDS = 30.0
_PAUSE = 0.1


def read_shapes(kafka: Kafka, names: Iterable[str]) -> dict[str, TopicShape]:
    """Return the shapes of those of the topics that exist, by name.

    RefusedError if a topic's id or settings may not be read: it could not be recreated.
    """
    described = _described(kafka, sorted(set(names)))
    if not described:
        return {}
    deadline = kafka.deadline()
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in described]
    futures = kafka.admin.describe_configs(resources, request_timeout=deadline.left)
    configs, failed = gather({r.name: f for r, f in futures.items()}, deadline)
    for error in failed.values():
        if error.code() not in MISSING:
            raise translate(error, kafka.bootstrap)
    return {name: _shape(described[name], configs[name]) for name in described if name in configs}


def _described(kafka: Kafka, names: list[str]) -> dict[str, Any]:
    if not names:
        return {}
    deadline = kafka.deadline()
    futures = kafka.admin.describe_topics(TopicCollection(names), request_timeout=deadline.left)
    found, failed = gather(futures, deadline)
    for error in failed.values():
        if error.code() not in MISSING:
            raise translate(error, kafka.bootstrap)
    return found


def _shape(description: Any, config: Mapping[str, Any]) -> TopicShape:
    parts = description.partitions
    return TopicShape(
        name=description.name,
        id=str(description.topic_id),
        partitions=len(parts),
        replication=max(len(p.replicas) for p in parts),
        configs={
            key: str(entry.value)
            for key, entry in sorted(config.items())
            if entry.source == OF_THE_TOPIC and entry.value is not None
        },
    )


def topics_in_transaction(kafka: Kafka, topics: Mapping[str, Topic]) -> tuple[str, ...]:
    """Return the topics whose last offsets wait for a transaction's end, sorted."""
    parts = [TopicPartition(t.name, p.number) for t in topics.values() for p in t.partitions]
    if not parts:
        return ()
    # In this order: what producers write in between is no open transaction.
    ends = _ends(kafka, parts, IsolationLevel.READ_UNCOMMITTED)
    stable = _ends(kafka, parts, IsolationLevel.READ_COMMITTED)
    return tuple(sorted({topic for (topic, n), end in ends.items() if stable[topic, n] < end}))


def _ends(kafka: Kafka, parts: list[Any], level: Any) -> dict[TopicPart, int]:
    deadline = kafka.deadline()
    request = {part: OffsetSpec.latest() for part in parts}
    futures = kafka.admin.list_offsets(
        request, isolation_level=level, request_timeout=deadline.left
    )
    found, failed = gather({(k.topic, k.partition): f for k, f in futures.items()}, deadline)
    for error in failed.values():
        raise translate(error, kafka.bootstrap)
    return {part: result.offset for part, result in found.items()}


def create_topic(kafka: Kafka, shape: TopicShape) -> None:
    """Make the topic and wait until it can be written; StepError with Kafka's reason where not."""
    for error in _created(kafka, [shape], validate_only=False).values():
        raise StepError(f"topic {shape.name} could not be created: {error.str()}")
    _wait(
        kafka,
        shape.name,
        lambda found: found is not None,
        "is still missing in the cluster metadata",
    )
    _wait_for_logs(kafka, shape)


def uncreatable(kafka: Kafka, shapes: Iterable[TopicShape]) -> dict[str, str]:
    """Return by topic the broker's reason against its creation; nothing is changed.

    The broker itself checks the request (`validate_only`): permission, policy, replicas, settings.
    A topic that exists is left out.
    """
    found = {}
    for name, error in _created(kafka, shapes, validate_only=True).items():
        if error.code() < 0:
            raise translate(error, kafka.bootstrap)
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            # Kafka looks at the right first, and at the name only then.
            if name not in kafka.partitions():
                found[name] = (
                    f"Kafka's ACLs don't allow Headgate to create topic {name}. Grant the "
                    "operation Create"
                )
        elif error.code() != KafkaError.TOPIC_ALREADY_EXISTS:
            found[name] = f"topic {name} can't be created: {error.str()}"
    return found


def _created(kafka: Kafka, shapes: Iterable[TopicShape], *, validate_only: bool) -> dict[str, Any]:
    """Return by topic the error with which the broker answered."""
    new = [
        NewTopic(
            shape.name,
            num_partitions=shape.partitions,
            replication_factor=shape.replication,
            config=shape.configs,
        )
        for shape in shapes
    ]
    if not new:
        return {}
    deadline = kafka.deadline()
    futures = kafka.admin.create_topics(
        new, validate_only=validate_only, request_timeout=deadline.left
    )
    return gather(futures, deadline)[1]


def _wait_for_logs(kafka: Kafka, shape: TopicShape) -> None:
    """A busy broker lists a topic a while before its partitions have leaders."""
    parts = [(shape.name, n) for n in range(shape.partitions)]
    deadline = time.monotonic() + KNOWN_SECONDS
    while any(None in ends for ends in begin_end(kafka.admin, parts, kafka.deadline())[0].values()):
        if time.monotonic() > deadline:
            raise StepError(
                f"topic {shape.name} still has partitions without a leader after "
                f"{KNOWN_SECONDS:.0f} s. Check the brokers, then resume the run"
            )
        time.sleep(_PAUSE)


def delete_topic(kafka: Kafka, name: str, topic_id: str) -> None:
    """Delete the topic of that name and id, and wait until it is gone; fine if it is.

    By its id if Kafka's Java client is there, so that one recreated in the same moment stays;
    else by its name, right after a check of its id. RefusedError if another topic has the name,
    StepError if Kafka refuses.
    """
    now = _described(kafka, [name]).get(name)
    if now is not None and str(now.topic_id) != topic_id:
        raise RefusedError(
            f"topic {name} was recreated with another id, so Headgate doesn't delete the "
            "topic. Check who uses the topic, then run `headgate plan` again"
        )
    # Asked for by its id even where it is not seen: a busy broker may not tell of it for a moment.
    by_id = kafka.java is not None and java_delete_topic.delete_topic(kafka.java, topic_id)
    if not by_id and now is not None:
        _delete_by_name(kafka, name)
    _wait(
        kafka, name, lambda found: found is None or str(found.topic_id) != topic_id, "still exists"
    )


def _delete_by_name(kafka: Kafka, name: str) -> None:
    deadline = kafka.deadline()
    futures = kafka.admin.delete_topics([name], request_timeout=deadline.left)
    _, failed = gather(futures, deadline)
    for error in failed.values():
        if error.code() not in MISSING:
            raise StepError(f"topic {name} could not be deleted: {error.str()}")


def _wait(kafka: Kafka, name: str, is_so: Any, otherwise: str) -> None:
    deadline = time.monotonic() + KNOWN_SECONDS
    while not is_so(_described(kafka, [name]).get(name)):
        if time.monotonic() > deadline:
            raise StepError(
                f"topic {name} {otherwise} after {KNOWN_SECONDS:.0f} s. Check the brokers, then "
                "resume the run"
            )
        time.sleep(_PAUSE)


def alter_configs(kafka: Kafka, name: str, configs: Mapping[str, str | None]) -> None:
    """Set the topic's own settings; None takes one away, so that the cluster's default holds."""
    if not configs:
        return
    entries = [_entry(key, value) for key, value in sorted(configs.items())]
    resource = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=entries)
    deadline = kafka.deadline()
    futures = kafka.admin.incremental_alter_configs([resource], request_timeout=deadline.left)
    _, failed = gather({r.name: f for r, f in futures.items()}, deadline)
    for error in failed.values():
        raise StepError(f"settings of topic {name} could not be changed: {error.str()}")


def wait_for_configs(kafka: Kafka, name: str, configs: Mapping[str, str]) -> None:
    """Return once the brokers report these settings of the topic's own; StepError after a while."""
    deadline = time.monotonic() + KNOWN_SECONDS
    while read_shapes(kafka, [name])[name].configs != configs:
        if time.monotonic() > deadline:
            raise StepError(
                f"settings of topic {name} are still not applied after {KNOWN_SECONDS:.0f} s. "
                "Check the brokers, then resume the run"
            )
        time.sleep(_PAUSE)


def _entry(key: str, value: str | None) -> ConfigEntry:
    kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(key, value or "", incremental_operation=kind)


def delete_records(kafka: Kafka, before: Mapping[TopicPart, int]) -> None:
    """Delete the records before an offset of each partition; StepError names what Kafka refused."""
    if not before:
        return
    deadline = kafka.deadline()
    parts = [TopicPartition(*part, offset) for part, offset in before.items()]
    futures = kafka.admin.delete_records(parts, request_timeout=deadline.left)
    _, failed = gather({(p.topic, p.partition): f for p, f in futures.items()}, deadline)
    if failed:
        why = "; ".join(f"{t}[{p}]: {_why(error)}" for (t, p), error in sorted(failed.items())[:5])
        raise StepError(f"records could not be deleted: {why}")


def _why(error: Any) -> str:
    if error.code() == KafkaError.POLICY_VIOLATION:
        return "records of a topic with cleanup.policy=compact can't be deleted"
    return str(error.str())


def unraisable(kafka: Kafka, wanted: Mapping[str, int]) -> dict[str, str]:
    """Return by topic the broker's reason against so many partitions; nothing is changed.

    The broker itself checks the request (`validate_only`): permission, policy, replicas, number.
    """
    failed = _asked(kafka, wanted, validate_only=True)
    return {
        n: f"the partitions of topic {n} can't be increased to {wanted[n]}: {e.str()}"
        for n, e in failed.items()
    }


def add_partitions(kafka: Kafka, name: str, to: int) -> None:
    """Give the topic so many partitions in all; StepError with Kafka's reason where it refuses.

    Fine where it has them. Returns when each has a leader, so that it can be read and written.
    """
    if kafka.identities([name]).get(name, ("", 0))[1] != to:
        for error in _asked(kafka, {name: to}, validate_only=False).values():
            raise StepError(
                f"the partitions of topic {name} could not be increased to {to}: {error.str()}"
            )
    deadline = time.monotonic() + KNOWN_SECONDS
    while not _are_led(kafka, name, to):
        if time.monotonic() > deadline:
            raise StepError(
                f"topic {name} still lacks leaders or partitions after {KNOWN_SECONDS:.0f} s. "
                "Check the brokers, then resume the run"
            )
        time.sleep(_PAUSE)


def _are_led(kafka: Kafka, name: str, to: int) -> bool:
    # Asks anew: librdkafka would go on for minutes with the partitions that it knows.
    if len(kafka.partitions().get(name, ())) != to:
        return False
    parts = [(name, number) for number in range(to)]
    return all(None not in e for e in begin_end(kafka.admin, parts, kafka.deadline())[0].values())


def _asked(kafka: Kafka, wanted: Mapping[str, int], *, validate_only: bool) -> dict[str, Any]:
    """Return by topic the error with which the broker answered."""
    if not wanted:
        return {}
    deadline = kafka.deadline()
    futures = kafka.admin.create_partitions(
        [NewPartitions(name, to) for name, to in sorted(wanted.items())],
        validate_only=validate_only,
        request_timeout=deadline.left,
    )
    return gather(futures, deadline)[1]
