"""Stored versions, live checkpoints and a real cluster, in one picture."""

import json
from dataclasses import replace

import pytest

from headgate.landscape.build import NOT_READ
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Source, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.landscape.show_landscape import show_landscape


@pytest.fixture
def checkpoint(tmp_path):
    def write(offsets):
        folder = tmp_path / "ck"
        for name in ("offsets", "commits"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        identity = {"id": "5f3cbb0a-5a1e-4cb8-9d0b-1c2d3e4f5a6b"}
        (folder / "metadata").write_text(json.dumps(identity))
        times = {"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": {}}
        lines = ["v1", json.dumps(times), json.dumps(offsets)]
        (folder / "offsets" / "0").write_text("\n".join(lines))
        (folder / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')
        return str(folder)

    return write


@pytest.fixture
def context(tmp_path):
    def make(*pipelines, kafka=None):
        registry = Registry(bootstrap_servers=kafka, pipelines=pipelines)
        return Context(registry, f"sqlite:///{tmp_path / 'store.db'}", tmp_path)

    return make


def spark(path):
    return Pipeline(name="city", engine=Engine.SPARK, checkpoint=path)


def stored(context, topic):
    nodes = (Node("source-1", NodeKind.SOURCE, "kafka", "orders"),)
    version = Version(
        engine=Engine.SPARK,
        topology=Topology(nodes),
        sources=(
            Source(
                position=0,
                format="kafka",
                topics=(topic,),
                node="source-1",
                offsets={topic: {"0": 0}},
            ),
        ),
    )
    store = open_store(context.store_url)
    store.versions.add("city", version, fingerprint(version))
    store.close()
    return version


def test_a_stored_version_gets_the_checkpoints_offsets_of_now(context, checkpoint):
    inspector = context(spark(checkpoint({"orders": {"0": 7}})))
    stored(inspector, "orders")
    city = show_landscape(inspector, None).pipeline("city")
    assert city.nodes == ("city/source-1",)
    assert [(p.topic, p.partition, p.position) for p in city.positions] == [("orders", 0, 7)]


def test_a_pipeline_without_a_stored_version_is_shown_from_its_checkpoint(context, checkpoint):
    land = show_landscape(context(spark(checkpoint({"orders": {"0": 7}}))), None)
    assert land.pipeline("city").reads == ("orders",)


def test_an_unreadable_checkpoint_leaves_the_lag_unknown_and_says_so(context, tmp_path):
    inspector = context(spark(str(tmp_path / "nowhere")))
    stored(inspector, "orders")
    land = show_landscape(inspector, None)
    assert land.pipeline("city").positions == ()
    assert land.pipeline("city").reads == ("orders",)
    assert any("city" in w and "is unknown, because its checkpoint" in w for w in land.warnings)


def test_it_works_without_kafka_and_says_so(context):
    assert NOT_READ in show_landscape(context(), None).warnings


@pytest.mark.kafka
def test_lag_of_a_checkpoint_against_a_real_topic(context, checkpoint, broker, topic, produce):
    name = topic("orders", partitions=2)
    produce(name, ["a", "b", "c"], partition=0)
    inspector = context(spark(checkpoint({name: {"0": 1, "1": 0}})), kafka=broker)
    inspector = replace(inspector, registry=replace(inspector.registry, bootstrap_servers=broker))
    land = show_landscape(inspector, read_cluster(inspector))
    city = land.pipeline("city")
    assert (city.lag, city.lag_from) == (2, "checkpoint")
    assert land.topic(name).records == 3
    assert land.topic(name).readers == ("city",)
