"""The landscape in a real browser: links, selectors, ways, downloads; and over a real broker."""

from __future__ import annotations

import json
import re
import time
from xml.etree import ElementTree

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from browser.conftest import _serve
from browser.test_console import node, ready
from console_seed import seed, write_checkpoint
from many_pipelines import write

pytestmark = pytest.mark.browser
LARGE, SMALL = (1680, 920), (1280, 800)
LOOKS = [("light", LARGE), ("dark", LARGE), ("light", SMALL), ("dark", SMALL)]
BOTH = pytest.mark.parametrize(("scheme", "size"), LOOKS, ids=lambda v: str(v[0]))


def lit(page):
    """The ids of the nodes that are not dimmed."""
    found = page.locator(".graph .node").evaluate_all(
        "nodes => nodes.filter((n) => getComputedStyle(n).opacity === '1').map((n) => n.dataset.id)"
    )
    return set(found)


def test_a_selector_narrows_the_map_and_stands_in_the_address(visit):
    page = visit("?level=pipelines")
    ready(page)
    box = page.get_by_placeholder("orders+, owner:payments")
    box.fill("+pipeline:orders-by-city")
    box.press("Enter")
    page.wait_for_url(re.compile("select="))
    node(page, "topic:city-alerts").wait_for(state="detached")
    assert node(page, "topic:payments").count() == 1
    page.reload()
    ready(page)
    assert node(page, "topic:city-alerts").count() == 0
    box = page.get_by_placeholder("orders+, owner:payments")
    box.fill("ownr:sales")
    box.press("Enter")
    page.get_by_text("near: owner").wait_for()
    graph = page.locator(".graph").bounding_box()
    assert graph["y"] + graph["height"] <= page.viewport_size["height"]


@BOTH
def test_a_way_is_lit_and_the_rest_dimmed(scheme, size, visit, shoot):
    page = visit(
        "?level=pipelines&node=topic:orders&trace=path&to=topic:city-revenue-v2",
        scheme=scheme, size=size,
    )  # fmt: skip
    ready(page)
    page.get_by_text("The only way.").wait_for()
    page.wait_for_timeout(400)
    assert lit(page) == {"topic:orders", "pipeline:orders-by-city", "topic:city-revenue-v2"}
    shoot(page, f"landscape-way-{scheme}-{size[0]}")


def test_what_lies_downstream_is_lit_and_owners_are_named(visit, shoot):
    page = visit("?level=internals")
    ready(page)
    node(page, "topic:city-revenue").click()
    page.get_by_role("radio", name="Down").or_(
        page.get_by_role("button", name="Down", exact=True)
    ).first.click()
    page.get_by_text("A change here reaches").wait_for()
    page.wait_for_url(re.compile("trace=downstream"))
    page.wait_for_timeout(500)
    assert "topic:city-alerts" in lit(page)
    assert "topic:orders" not in lit(page)
    page.get_by_text("growth").first.wait_for()
    shoot(page, "landscape-downstream")


def test_downloads_are_made_when_they_are_asked_for(visit):
    page = visit("?level=pipelines", accept_downloads=True)
    ready(page)
    page.locator(".st-key-landscape_export_menu button").first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG").click()
    drawn = ElementTree.parse(waiting.value.path()).getroot()
    assert drawn.tag.endswith("svg")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON").click()
    with waiting.value.path().open() as file:
        assert json.load(file)["schema"] == 1


@pytest.fixture(scope="module")
def live(broker, kafka_admin, tmp_path_factory):
    """A console over a broker with a group that lags, one nobody declared, and unused topics."""
    folder = tmp_path_factory.mktemp("live")
    file = seed(folder, bootstrap=broker)
    topics = ("orders", "payments", "city-revenue", "city-revenue-v2", "city-alerts",
              "old-imports", "shop-7-counts-store-changelog")  # fmt: skip
    made = kafka_admin.create_topics(
        [NewTopic(t, num_partitions=3, replication_factor=1) for t in topics]
    )
    for done in made.values():
        done.result(30)
    producer = Producer({"bootstrap.servers": broker})
    for n in range(900):
        producer.produce(topics[n % 5], key=str(n), value=b"x" * 50, partition=n % 3)
    for n in range(50):
        producer.produce("shop-7-counts-store-changelog", value=b"y" * 500, partition=n % 3)
    producer.flush(30)
    for group, committed in (("billing", 12), ("nightly-export", 3)):
        member = Consumer({"bootstrap.servers": broker, "group.id": group})
        parts = [TopicPartition("city-revenue", p, committed * (p + 1)) for p in range(3)]
        commit(member, parts)
        member.close()
    write_offsets(
        folder / "ck" / "orders-by-city",
        {"orders": {"0": 20, "1": 45, "2": 60}},
        {"payments": {"0": 5, "1": 40, "2": 55}},
    )
    lost = [TopicPartition("payments", 0, 30)]
    for done in kafka_admin.delete_records(lost).values():
        done.result(30)
    yield from _serve(file)


def commit(member, parts):
    """Commit as soon as the group's coordinator has loaded."""
    deadline = time.monotonic() + 60
    while True:
        try:
            member.commit(offsets=parts, asynchronous=False)
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def write_offsets(folder, *sources):
    """Write what a Spark query leaves behind after one batch."""
    write_checkpoint(folder, batches=1)
    conf = {"spark.sql.shuffle.partitions": "1"}
    head = {"batchWatermarkMs": 0, "batchTimestampMs": 1795250729015, "conf": conf}
    lines = ["v1", *map(json.dumps, (head, *sources))]
    (folder / "offsets" / "0").write_text("\n".join(lines))


@pytest.mark.kafka
@BOTH
def test_consumers_stand_side_by_side(scheme, size, live, visit, shoot):
    page = visit("?view=consumers&reader=billing%20city-revenue", at=live, scheme=scheme, size=size)
    page.get_by_text("Position from").wait_for()
    page.locator(".js-plotly-plot .bars path").first.wait_for()
    page.get_by_text("its group's commits").first.wait_for()
    page.locator(".st-key-consumers canvas").first.wait_for()
    shoot(page, f"landscape-consumers-{scheme}-{size[0]}")


@pytest.mark.kafka
def test_a_spark_query_that_lost_records_says_so(live, visit, shoot):
    page = visit("?view=consumers&reader=orders-by-city%20payments", at=live)
    page.get_by_text("25 offsets were deleted before they were read").first.wait_for(timeout=90_000)
    page.get_by_text("its checkpoint").wait_for()
    page.locator(".js-plotly-plot .legendtext").first.wait_for()
    page.locator(".st-key-consumers canvas").first.wait_for()
    shoot(page, "landscape-consumers-lost")


@pytest.mark.kafka
def test_who_is_furthest_behind(live, visit, shoot):
    page = visit("?view=consumers", at=live)
    page.locator(".js-plotly-plot .bars path").first.wait_for()
    shoot(page, "landscape-consumers-overview")


@pytest.mark.kafka
@BOTH
def test_loose_ends_are_shown_with_their_size(scheme, size, live, visit, shoot):
    page = visit("?view=loose%20ends", at=live, scheme=scheme, size=size)
    page.get_by_text("Groups that no pipeline declares").wait_for()
    page.get_by_text("They take").wait_for()
    page.locator(".st-key-loose_groups canvas").first.wait_for()
    shoot(page, f"landscape-loose-{scheme}-{size[0]}")


@pytest.mark.kafka
def test_the_map_over_a_live_cluster(live, visit, shoot):
    page = visit("?level=pipelines&all_topics=true", at=live)
    ready(page)
    assert node(page, "group:nightly-export").count() == 1
    page.get_by_text("records").first.wait_for()
    shoot(page, "landscape-live")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A console over 300 pipelines."""
    yield from _serve(write(tmp_path_factory.mktemp("crowd"), pipelines=300, topics=2000))


def test_a_crowded_map_opens_closed_and_a_selector_narrows_it(crowded, visit, shoot):
    page = visit("?level=pipelines&all_topics=true", at=crowded)
    ready(page)
    assert page.locator(".graph .node").count() <= 150
    shoot(page, "landscape-crowded")
    page.goto(f"{crowded}/?level=pipelines&select=%2Bpipeline-101")
    ready(page)
    node(page, "pipeline:pipeline-101").wait_for()
    assert page.locator(".graph .node").count() < 30
