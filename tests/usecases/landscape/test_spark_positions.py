"""Where a Spark query stands in a real cluster: data that retention took, a topic made anew."""

import json
import time

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewTopic

from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.landscape.show_landscape import show_landscape
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture
def query(tmp_path, broker):
    """Return a function that gives the positions of a query with these offsets."""

    def positions(offsets):
        folder = tmp_path / "ck"
        for log in ("offsets", "commits"):
            (folder / log).mkdir(parents=True, exist_ok=True)
        (folder / "metadata").write_text('{"id":"5f3cbb0a-5a1e-4cb8-9d0b-1c2d3e4f5a6b"}')
        # Older than clocks may differ: Kafka's reading then decides.
        logged = int(time.time() * 1000) - 120_000
        times = {"batchWatermarkMs": 0, "batchTimestampMs": logged}
        lines = ("v1", json.dumps({**times, "conf": {}}), json.dumps(offsets))
        (folder / "offsets/0").write_text("\n".join(lines))
        (folder / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":0}')
        pipeline = Pipeline(name="city", engine=Engine.SPARK, checkpoint=str(folder))
        registry = Registry(bootstrap_servers=broker, pipelines=(pipeline,))
        context = Context(registry, f"sqlite:///{tmp_path / 'store.db'}", tmp_path)
        landscape = show_landscape(context, read_cluster(context))
        return landscape.pipeline("city"), landscape.warnings

    return positions


def test_a_partition_that_was_added_has_no_offset_yet(query, topic, produce):
    orders = topic("orders", partitions=2)
    produce(orders, ["a", "b"], partition=0)
    produce(orders, ["c"], partition=1)
    city, warnings = query({orders: {"0": 1}})
    assert [(p.position, p.lag, p.state.value) for p in city.positions] == [
        (1, 1, "ok"),
        (None, None, "no_offset"),
    ]
    assert (city.lag, city.lag_from) == (1, "checkpoint")
    assert city.lag_at is not None
    assert not [w for w in warnings if "city" in w]


def test_records_that_went_before_they_were_read(query, topic, produce, kafka_admin):
    orders = topic("orders")
    produce(orders, ["a", "b", "c", "d"], partition=0)
    for future in kafka_admin.delete_records([TopicPartition(orders, 0, 3)]).values():
        future.result()
    city, warnings = query({orders: {"0": 1}})
    (found,) = city.positions
    assert (found.state.value, found.begin, found.lost) == ("data_lost", 3, 2)
    assert any(
        w.startswith(f"Pipeline city missed records at 2 offsets in partition 0 of topic {orders}")
        for w in warnings
    )


def test_a_topic_that_was_made_anew(query, topic, produce, kafka_admin):
    orders = topic("orders")
    produce(orders, ["a", "b", "c"], partition=0)
    kafka_admin.delete_topics([orders])[orders].result()
    until(lambda: orders not in kafka_admin.list_topics(timeout=10).topics)
    kafka_admin.create_topics([NewTopic(orders, 1, 1)])[orders].result()
    produce(orders, ["x"], partition=0)
    city, warnings = query({orders: {"0": 3}})
    (found,) = city.positions
    assert (found.state.value, found.lag, found.end) == ("beyond_end", None, 1)
    assert any("the topic was probably recreated or truncated" in w for w in warnings)
