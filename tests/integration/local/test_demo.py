"""The demo's queries on real Kafka and Spark: they write, and their next versions do as told."""

import json
import shutil
import time

import pytest
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.local.demo import orders_by_city, revenue_alerts
from headgate.local.demo.feed import has_orders, write
from headgate.local.demo.run_query import cause
from headgate.local.demo.shop import CITIES, Shop
from headgate.local.demo.topics import CITY_REVENUE, KAFKA, REVENUE_ALERTS, create_topics

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
MODULES = (orders_by_city, revenue_alerts)
VERSIONS = [(module, version) for module in MODULES for version in ("v2_safe", "v2_silent")]
VERSIONS += [(orders_by_city, "v2_faster")]


def run(function, spark, checkpoint) -> None:
    """Run a query over all that is there."""
    writer = function(spark).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """A broker of its own: the demo's topics have names that other tests use, too."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="module")
def shop(broker):
    """Half an hour of history in the topics, and a function that adds some minutes more."""
    create_topics(broker)
    create_topics(broker)  # The second start finds them.
    producer = Producer({"bootstrap.servers": broker})
    begin = time.time() - 3600
    past = Shop(begin, rate=3, seed=1)
    assert not has_orders(broker)

    def go_on(minutes: float) -> None:
        write(producer, past.advance(past.now + 60 * minutes))
        assert producer.flush(10) == 0

    write(producer, past.customers())
    go_on(30)
    assert has_orders(broker)
    return go_on


@pytest.fixture(scope="module")
def checkpoints(shop, broker, spark, tmp_path_factory):
    """The checkpoints of both queries at v1, by module, after which new orders came in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KAFKA, broker)
        folders = {}
        for module in MODULES:
            folders[module] = tmp_path_factory.mktemp("checkpoint")
            run(module.v1, spark, folders[module])
        shop(10)
        # What the second query is to find new.
        run(orders_by_city.v1, spark, folders[orders_by_city])
        shop(10)
        yield folders


@pytest.mark.long
def test_the_first_query_writes_windows_of_cities(checkpoints, consume):
    rows = [json.loads(m.value()) for m in consume(CITY_REVENUE.name, 60)]
    assert len(rows) == 60
    assert {r["city"] for r in rows} <= {city for city, _, _ in CITIES}
    assert len({(r["city"], r["window_start"]) for r in rows}) == len(rows)
    assert all(r["orders"] > 0 and r["revenue_cents"] >= 100 * r["orders"] for r in rows)


@pytest.mark.long
def test_the_second_query_reads_the_first_ones_topic(checkpoints, consume):
    alerts = [json.loads(m.value()) for m in consume(REVENUE_ALERTS.name, 3)]
    assert len(alerts) == 3
    assert all(a["revenue_cents"] > 50_000 for a in alerts)


@pytest.mark.long
@pytest.mark.parametrize(("module", "version"), VERSIONS)
def test_these_versions_start_on_the_old_checkpoint(checkpoints, spark, tmp_path, module, version):
    copy = shutil.copytree(checkpoints[module], tmp_path / "checkpoint")
    run(getattr(module, version), spark, copy)


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "condition"),
    [
        (orders_by_city, "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"),
        (revenue_alerts, "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"),
    ],
)
def test_the_whole_next_version_is_refused(checkpoints, spark, tmp_path, module, condition):
    copy = shutil.copytree(checkpoints[module], tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException) as refusal:
        run(module.v2, spark, copy)
    assert condition in cause(refusal.value)


@pytest.mark.parametrize("module", MODULES)
def test_no_version_needs_kafka_to_be_planned(spark, monkeypatch, module):
    monkeypatch.setenv(KAFKA, "127.0.0.1:1")
    for version in ("v1", "v2", "v2_safe", "v2_silent"):
        getattr(module, version)(spark)
