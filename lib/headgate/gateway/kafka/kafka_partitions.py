"""Topics get more partitions, each answer of Kafka read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka.admin import NewPartitions

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import gather
from headgate.gateway.kafka.topic_changes import KNOWN_SECONDS
from headgate.gateway.kafka.topics import begin_end

_PAUSE = 0.1


def unraisable(kafka: Kafka, wanted: Mapping[str, int]) -> dict[str, str]:
    """Return by topic the broker's reason against so many partitions; nothing is changed.

    The broker itself checks the request (`validate_only`): permission, policy, replicas, number.
    """
    failed = _asked(kafka, wanted, validate_only=True)
    return {n: f"{n} can't get {wanted[n]} partitions: {e.str()}" for n, e in failed.items()}


def raise_partitions(kafka: Kafka, name: str, to: int) -> None:
    """Give the topic so many partitions in all; StepError with Kafka's reason where it refuses.

    Fine where it has them. Returns when each has a leader, so that it can be read and written.
    """
    if kafka.identities([name]).get(name, ("", 0))[1] != to:
        for error in _asked(kafka, {name: to}, validate_only=False).values():
            raise StepError(f"{name} did not get {to} partitions: {error.str()}")
    deadline = time.monotonic() + KNOWN_SECONDS
    while not _are_led(kafka, name, to):
        if time.monotonic() > deadline:
            raise StepError(
                f"not all {to} partitions of {name} have a leader {KNOWN_SECONDS:.0f} s later"
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
