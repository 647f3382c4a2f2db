"""Readiness against a real broker: retention, history, positions and what expires."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import OffsetSpec

from headgate.cli.main import headgate
from headgate.gateway.kafka.cluster import Kafka
from support.waiting import until

pytestmark = pytest.mark.kafka

DESCRIBED = """\
Topologies:
   Sub-topology: 0
    Source: in (topics: [{orders}])
      --> agg
    Processor: agg (stores: [counts])
      --> out
      <-- in
    Sink: out (topic: {totals})
      <-- agg
"""


def check(registry, *arguments):
    result = CliRunner().invoke(
        headgate, [f"--config={registry}", "check", *arguments, "--format=json"]
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def commit(broker, group, topic, offset):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def cut(admin, topic, offset):
    """Delete what is below an offset, as retention would, and wait until it is gone."""
    part = TopicPartition(topic, 0, offset)
    admin.delete_records([part])[part].result()

    def begin() -> int:
        found = admin.list_offsets({TopicPartition(topic, 0): OffsetSpec.earliest()})
        return next(iter(found.values())).result().offset

    until(lambda: begin() == offset, "the log's start did not move")


@pytest.fixture
def shop(broker, topic, produce, unique, tmp_path):
    """A registered application whose input is kept for a week, and its topics' names."""
    orders = topic("orders", config={"retention.ms": "604800000"})
    totals, group = topic("totals"), unique("shop")
    produce(orders, [str(n) for n in range(20)])
    (tmp_path / "describe.txt").write_text(DESCRIBED.format(orders=orders, totals=totals))
    (tmp_path / "config.json").write_text(json.dumps({"application.id": group}))
    registry = tmp_path / "headgate.toml"
    registry.write_text(
        f'[kafka]\nbootstrap_servers = "{broker}"\n[[pipeline]]\nname = "shop"\n'
        f'engine = "kafka-streams"\ngroup = "{group}"\nevidence = ["{tmp_path}/describe.txt", '
        f'"{tmp_path}/config.json"]\n[[pipeline]]\nname = "reader"\n'
        f'engine = "consumer-group"\ngroup = "{group}"\n'
    )
    return registry, group, orders, totals


def test_the_broker_tells_for_how_long_offsets_are_kept(broker):
    with Kafka(broker, timeout=60) as kafka:
        kept = kafka.snapshot().broker_settings["offsets.retention.minutes"]
    # Kafka's default, which the test's broker does not change.
    assert kept == "10080"


def test_history_positions_and_outputs_are_read_from_kafka(shop, broker, kafka_admin):
    registry, group, orders, totals = shop
    commit(broker, group, orders, 3)
    cut(kafka_admin, orders, 5)
    found = {f["rule"]: f["before"] for f in check(registry, "shop")["findings"]}
    assert "Kafka has deleted the records at 5 of 20 offsets (25 %)." in found["RDY100"]
    assert "7 days" in found["RDY100"]
    # Committed at 3, and the log begins at 5: two records were never read.
    lost = f"In {orders}[0], the earliest offset is after the pipeline's offset."
    assert f"Kafka deleted records at 2 unread offsets. {lost}" in found["RDY110"]
    assert totals in found["RDY054"]
    assert f"The group {group} has no members. Its offsets expire 7 days" in found["RDY112"]
    # A plain reader has no topology, and the same positions.
    plain = check(registry, "reader")
    assert plain["engine"] == "consumer-group"
    assert {f["rule"] for f in plain["findings"]} == {"RDY110", "RDY112"}


def test_without_a_look_at_kafka_it_is_said(shop):
    registry, *_ = shop
    report = check(registry, "shop", "--no-cluster")
    assert any("Not checked: Kafka" in w for w in report["warnings"])
    assert not {f["rule"] for f in report["findings"]} & {"RDY100", "RDY110", "RDY112"}


def test_a_cluster_that_does_not_answer_is_a_warning_unless_asked_for(shop):
    registry, *_ = shop
    text = registry.read_text()
    address = text.split('bootstrap_servers = "')[1].split('"')[0]
    registry.write_text(text.replace(address, "127.0.0.1:1"))
    report = check(registry, "shop")
    assert any(
        w.startswith("Headgate could not read the Kafka cluster state:") for w in report["warnings"]
    )
    asked = CliRunner().invoke(headgate, [f"--config={registry}", "check", "shop", "--cluster"])
    assert asked.exit_code == 4
