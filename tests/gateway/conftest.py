"""A broker with logins and rights, and groups of the types that only Java clients make."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.process.jars import broker_class_path, streams_class_path
from support.waiting import PATIENCE, until

PASSWORDS = {"admin": "admin-secret", "reader": 'a "quoted" secret'}
JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SECURED = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=SASL_PLAINTEXT://127.0.0.1:{port},LOST://127.0.0.1:{lost},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{port},LOST://127.0.0.1:1
inter.broker.listener.name=SASL_PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=SASL_PLAINTEXT:SASL_PLAINTEXT,LOST:PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={login}
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
"""


class Secured(NamedTuple):
    """`lost` is a listener that answers and advertises a closed port."""

    address: str
    lost: str

    def config(self, user: str) -> dict[str, str]:
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": PASSWORDS[user],
        }


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker that asks for a login and lets `reader` do only what an ACL allows."""
    from support.ports import free_port

    folder = tmp_path_factory.mktemp("secured")
    port, lost, controller = free_port(), free_port(), free_port()
    text = SECURED.format(
        port=port, lost=lost, controller=controller, data=folder / "data", login=_login()
    )
    properties = folder / "server.properties"
    properties.write_text(text)
    java = [*JAVA, "-cp", broker_class_path()]
    tool = ["kafka.tools.StorageTool", "format", "-t", "secured-secured-secure", "-c"]
    subprocess.run([*java, *tool, str(properties)], check=True, capture_output=True)
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
    found = Secured(f"127.0.0.1:{port}", f"127.0.0.1:{lost}")
    try:
        _wait(found)
        yield found
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _login() -> str:
    users = {f"user_{name}": word for name, word in PASSWORDS.items()}
    words = {"username": "admin", "password": PASSWORDS["admin"], **users}
    escaped = {k: v.replace('"', '\\\\"') for k, v in words.items()}
    options = " ".join(f'{k}="{v}"' for k, v in escaped.items())
    return f"org.apache.kafka.common.security.plain.PlainLoginModule required {options};"


def _wait(found: Secured) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    config = {**found.config("admin"), "bootstrap.servers": found.address, "log_level": 0}

    def answers() -> bool:
        with suppress(KafkaException):
            return bool(AdminClient(config).list_topics(timeout=10))
        return False

    until(answers, "the broker with logins does not answer")


@pytest.fixture(scope="session")
def java_admin(broker: str) -> Iterator[JavaAdmin]:
    """Kafka's Java client for the shared broker."""
    admin = JavaAdmin(broker, class_path=broker_class_path())
    yield admin
    admin.close()


@pytest.fixture
def member(broker: str) -> Any:
    """Keep one member in a group, `with member(group, topic, **config)`; it has its partitions."""
    from confluent_kafka import Consumer

    @contextmanager
    def join(group: str, topic: str, **config: Any) -> Iterator[Consumer]:
        settings = {"bootstrap.servers": broker, "group.id": group, "client.id": "me"}
        consumer = Consumer({**settings, "auto.offset.reset": "earliest", **config})
        consumer.subscribe([topic])
        deadline = time.monotonic() + PATIENCE
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.1)
        try:
            yield consumer
        finally:
            consumer.close()

    return join


@pytest.fixture
def java_groups(broker: str, tmp_path: Path) -> Any:
    """Run a streams-protocol group and a share group in a `with` block: `(topic, ids...)`."""

    @contextmanager
    def run(topic: str, streams_id: str, share_id: str) -> Iterator[None]:
        path = f"{streams_class_path()}:{broker_class_path()}"
        program = str(Path(__file__).with_name("StreamsAndShare.java"))
        words = [broker, topic, streams_id, share_id, str(tmp_path)]
        process = subprocess.Popen(
            [*JAVA, "-cp", path, program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin and process.stdout
        try:
            assert process.stdout.readline().strip() == "READY"
            yield
        finally:
            process.stdin.close()
            process.wait(PATIENCE)

    return run
