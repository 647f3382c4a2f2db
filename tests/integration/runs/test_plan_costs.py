"""What a plan costs, measured on a real broker: bytes of records, and who reads what it writes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.record_sizes import record_sizes, sampled
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.plan import Plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.estimate_cost import with_costs
from support.console_seed import orders_v1, seed

pytestmark = pytest.mark.kafka


@pytest.fixture
def sized(topic, produce):
    """400 records of 10 + 90 bytes in two partitions."""
    name = topic("sized", partitions=2)
    for partition in (0, 1):
        produce(name, [("k" * 10, "v" * 90)] * 200, partition=partition)
    return name


def test_a_sample_gives_the_average_of_key_and_value(broker, sized, topic):
    empty = topic("empty")
    with closing(Kafka(broker)) as kafka:
        averages, count = sampled(kafka, kafka.topics([sized, empty]))
        assert averages == {sized: 100.0}
        assert count == 50
        found, how = record_sizes(kafka, [sized, empty])
    assert found == {sized: 100.0}
    assert how == "average of 50 sampled records: key and value, uncompressed"


def test_bytes_and_readers_of_a_plan(broker, sized, tmp_path):
    context = open_context(str(seed(tmp_path, bootstrap=broker)))
    with closing(open_store(context.store_url)) as store:
        # The first version's sink is what the others read.
        store.versions.add("orders-by-city", orders_v1(), fingerprint(orders_v1()))
    plan = Plan(
        scenario="from-scratch",
        pipeline="orders-by-city",
        steps=(RecordOffsets(group="g"),),
        impact={"records": {sized: 300}, "total": 300, "to_read": {sized: 400}},
    )
    found = with_costs(context, plan)
    assert found.hash == plan.hash
    # On disk a batch has a head of its own, so that it is not exactly 100 bytes a record.
    assert 25_000 < found.impact["bytes_total"] < 60_000
    assert "size of the log on disk" in found.impact["bytes_how"]
    reach = found.impact["downstream"]
    assert reach["known"]
    assert {"city-alerts", "billing"} <= set(reach["pipelines"])
    assert reach["owners"]["growth"] == ["city-alerts"]
    assert found.impact["seconds"] is None
    assert "unknown" in found.impact["seconds_how"]
    assert with_costs(context, replace(plan, steps=())) == replace(plan, steps=())


def test_a_broker_that_is_gone_makes_costs_unknown_and_no_error(tmp_path):
    context = open_context(str(seed(tmp_path, bootstrap="127.0.0.1:1")))
    plan = Plan(
        scenario="from-scratch",
        pipeline="billing",
        steps=(RecordOffsets(group="g"),),
        impact={"records": {"city-revenue": 3}, "total": 3, "to_read": {}},
    )
    found = with_costs(context, plan).impact
    assert found["bytes_total"] is None
    assert found["bytes_how"].startswith("unknown: ")
    assert found["downstream"]["known"] is False
