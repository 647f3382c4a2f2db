"""A real Kafka broker of one node, on loopback: KRaft, broker and controller in one process."""

from __future__ import annotations

import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headgate.errors import SetupError, UnreachableError
from headgate.gateway.process.child_process import Child, Program
from headgate.gateway.process.free_ports import LOOPBACK, free_port
from headgate.gateway.process.jars import broker_class_path
from headgate.gateway.process.java import java
from headgate.gateway.process.supervise import Supervisor

NAME = "broker"
NONE: Mapping[str, str] = MappingProxyType({})
# It serves few records a second, and Java's second compiler takes a third of its start [run].
_MEMORY = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1")
_OTHER_PORTS = 3
_IN_USE, _LAST_ERROR, _LOG_END = "Address already in use", "Exiting Kafka", 20_000
_CLUSTER = "cluster.id="
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def start_broker(
    supervisor: Supervisor, folder: Path, *, port: int = 0, settings: Mapping[str, str] = NONE
) -> str:
    """Start a broker whose data lives in `folder`, wait for it, return its `host:port`.

    The first start formats the folder. `port` is used where it is free; `settings` are added to
    the broker's properties. UnreachableError when the broker has not answered within two minutes,
    SetupError when it ended.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for wished in (port, *[0] * _OTHER_PORTS):
        address = f"{LOOPBACK}:{free_port(wished)}"
        _write_properties(folder, folder / "data", int(address.rpartition(":")[2]), settings)
        cluster = _format(folder)
        if wait_until_it_answers(address, supervisor.start(_program(folder)), cluster):
            return address
        # A port that was free a moment ago is another one's now.
        supervisor.stop(NAME)
    raise SetupError(
        f"no free port for the local Kafka broker on {LOOPBACK}. Stop other programs on this "
        "machine, then try again"
    )


@contextmanager
def running_broker(folder: Path, *, settings: Mapping[str, str] = NONE) -> Iterator[str]:
    """Run a broker for the time of a `with` block; yields its `host:port`."""
    with Supervisor() as supervisor:
        yield start_broker(supervisor, folder, settings=settings)


def wait_until_it_answers(
    address: str, child: Child, cluster: str, *, seconds: float = 120.0
) -> bool:
    """Return True once the broker at `address` lists its topics, False where it is another one's.

    `cluster` is the id of ours: two that start at the same moment may find the same port free.
    """
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not child.running and _is_taken(child.program.log):
            return False
        if not child.running:
            raise SetupError(
                f"the Kafka broker failed to start: {child.last_words() or 'no error was printed'}"
                f". See the broker's log {child.program.log}"
            )
        try:
            return bool(admin.list_topics(timeout=1).cluster_id == cluster)
        except KafkaException:
            time.sleep(0.05)
    raise UnreachableError(
        f"the local Kafka broker at {address} did not respond within {seconds:.0f} s. See "
        f"the broker's log {child.program.log}"
    )


def _is_taken(log: Path) -> bool:
    """Whether a broker's last error is that somebody else has its port."""
    text = log.read_text(errors="replace")[-_LOG_END:]
    return _IN_USE in text.rpartition(_LAST_ERROR)[2]


def _program(folder: Path) -> Program:
    argv = (java(), *_MEMORY, "-cp", broker_class_path(), "kafka.Kafka", _properties(folder))
    return Program(name=NAME, argv=argv, log=folder / "broker.log", grace=15.0)


def _properties(folder: Path) -> str:
    return str(folder / "server.properties")


def _write_properties(folder: Path, data: Path, port: int, settings: Mapping[str, str]) -> None:
    controller = free_port()
    text = _PROPERTIES.format(host=LOOPBACK, port=port, controller=controller, data=data)
    added = "".join(f"{key}={value}\n" for key, value in settings.items())
    Path(_properties(folder)).write_text(text + added)


def _format(folder: Path) -> str:
    """Format the data folder once, and return its cluster's id.

    It is done under another name, then renamed, so never half of it is there.
    """
    data, partial = folder / "data", folder / "data.partial"
    if data.exists():
        return _cluster_of(data)
    shutil.rmtree(partial, ignore_errors=True)
    properties = folder / "format.properties"
    text = Path(_properties(folder)).read_text()
    properties.write_text(text.replace(f"log.dirs={data}", f"log.dirs={partial}"))
    cluster = uuid.uuid4().hex[:22]
    tool = ("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties))
    argv = [java(), *_MEMORY, "-cp", broker_class_path(), *tool]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(
            f"Kafka could not format the data folder {partial}: {done.stderr.strip()}. Check "
            "disk space and permissions"
        )
    partial.rename(data)
    return cluster


def _cluster_of(data: Path) -> str:
    try:
        lines = (data / "meta.properties").read_text().splitlines()
    except OSError as error:
        raise SetupError(
            f"{data} isn't the data folder of a Kafka broker: {error.strerror}. Move the "
            "folder elsewhere, then try again"
        ) from error
    found = next((line for line in lines if line.startswith(_CLUSTER)), _CLUSTER)
    return found.removeprefix(_CLUSTER).replace("\\", "")
