"""The embedded broker: it answers, keeps its data, and goes when asked."""

import subprocess

import pytest

from headgate.errors import SetupError
from headgate.gateway.kafka_broker import local_broker
from headgate.gateway.kafka_broker.local_broker import NAME, running_broker, start_broker
from headgate.gateway.process import free_ports
from headgate.gateway.process.supervise import Supervisor

pytestmark = pytest.mark.kafka


def test_records_come_back(topic, produce, consume):
    name = topic(partitions=2)
    produce(name, ["a", ("k", "b")])
    assert {m.value() for m in consume(name, 2)} == {b"a", b"b"}


def test_a_second_start_has_the_same_data(tmp_path):
    from confluent_kafka.admin import AdminClient, NewTopic

    with running_broker(tmp_path) as address:
        admin = AdminClient({"bootstrap.servers": address})
        admin.create_topics([NewTopic("kept", 1, 1)])["kept"].result()
        cluster = admin.list_topics(timeout=10).cluster_id
    (tmp_path / "data.partial").mkdir()  # as a start leaves it that was cut off in formatting
    with running_broker(tmp_path) as address:
        seen = AdminClient({"bootstrap.servers": address}).list_topics(timeout=10)
    assert seen.cluster_id == cluster
    assert "kept" in seen.topics


def test_a_broker_that_cannot_start_says_why(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=2\n")
    with Supervisor() as supervisor, pytest.raises(SetupError, match=r"failed to start: .{20,}"):
        start_broker(supervisor, tmp_path)


def test_nothing_is_left_behind(tmp_path):
    with Supervisor() as supervisor:
        start_broker(supervisor, tmp_path)
        child = supervisor.child(NAME)
        assert child and child.running
    found = subprocess.run(["ps", "-o", "pid=", "-g", str(child.process.pid)], capture_output=True)
    assert not found.stdout.strip()


def test_a_port_that_another_broker_took_meanwhile_is_left_to_it(broker, tmp_path, monkeypatch):
    """Two that start at once may find the same port free; only one of them can have it."""
    taken, asked = int(broker.rpartition(":")[2]), []

    def free_port(preferred: int = 0) -> int:
        asked.append(preferred)
        return taken if len(asked) == 1 else free_ports.free_port(preferred)

    monkeypatch.setattr(local_broker, "free_port", free_port)
    with Supervisor() as supervisor:
        address = start_broker(supervisor, tmp_path, port=taken)
        assert address != broker
        assert supervisor.child(NAME).running
