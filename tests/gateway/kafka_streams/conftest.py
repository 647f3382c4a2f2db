"""A jar of the applications here, and an application that has run on the shared broker."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from support.rehearsed import build_jar
from support.waiting import PATIENCE, until


@pytest.fixture(scope="session")
def rehearsed_jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The jar of `Rehearsed`."""
    return build_jar(tmp_path_factory.mktemp("rehearsed"))


class Ran(NamedTuple):
    """What the old version left: its state directory, its id, the cluster's address."""

    state: Path
    application_id: str
    address: str


@pytest.fixture(scope="session")
def old_run(
    broker: str, kafka_admin: Any, rehearsed_jar: Path, tmp_path_factory: pytest.TempPathFactory
) -> Ran:
    """The old version has counted `a` twice and `b` once, stopped, and three records are new."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import NewTopic

    from headgate.gateway.kafka.cluster import Kafka
    from headgate.gateway.kafka.committed_offsets import read_offsets

    names = [NewTopic(f"rehearsed-{end}", 1, 1) for end in ("in", "out")]
    for future in kafka_admin.create_topics(names).values():
        future.result()
    producer = Producer({"bootstrap.servers": broker})

    def write(keys: str) -> None:
        for key in keys:
            producer.produce("rehearsed-in", key=key, value="v", partition=0)
        assert producer.flush(30) == 0

    write("aab")
    state = tmp_path_factory.mktemp("state")
    path = f"{streams_class_path()}:{rehearsed_jar}"
    argv = [java(), "-Xmx256m", "-XX:+UseSerialGC", "-cp", path, "Rehearsed", broker]
    process = subprocess.Popen([*argv, "rehearsed", str(state)], stderr=subprocess.DEVNULL)
    with Kafka(broker, timeout=60.0) as kafka:
        try:
            until(lambda: _offset(read_offsets(kafka, "rehearsed")) == 3)
        finally:
            process.terminate()
            process.wait(PATIENCE)
        # A member that is missed leaves a record behind, which no rehearsal writes.
        until(lambda: not kafka.describe_group("rehearsed").members)
    write("acb")
    return Ran(state, "rehearsed", broker)


def _offset(committed: Any) -> int | None:
    found = committed.get(("rehearsed-in", 0))
    return found.offset if found else None
