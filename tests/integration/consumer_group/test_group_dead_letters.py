"""Dead letters are redriven on a real broker, compared record by record."""

import json
import time
import uuid

import pytest

from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.topic_changes import read_shapes
from scenes.records import make_topic
from support import dead_letter_topics as dead

pytestmark = pytest.mark.kafka


class Shop:
    """A registered group over `orders`, and its dead letter topic."""

    def __init__(self, team):
        self.team, self.broker = team, team.bootstrap
        name = uuid.uuid4().hex[:8]
        self.orders, self.dead, self.retry = f"orders-{name}", f"dead-{name}", f"retry-{name}"
        self.group = f"billing-{name}"
        make_topic(self.broker, self.orders, 2)
        # Letters of 30 days ago stay until a test has read them.
        make_topic(self.broker, self.dead, 3, **{"retention.ms": "-1"})
        team.register(
            f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{self.group}"\n'
            f'topics = ["{self.orders}"]\n'
        )

    def plan(self, *options, code=0):
        return self.team.plan(
            "billing", f"--topic={self.dead}", *options, scenario="dead-letters", code=code
        )

    def redrive(self, *options):
        file, plan = self.plan(*options)
        assert plan["can_apply"], plan["blockers"]
        done = self.team.run("apply", str(file))
        assert done["state"] == "done", done
        return plan, done["run"]

    def ids(self, topic=None):
        return [json.loads(m.value())["id"] for m in dead.read(self.broker, topic or self.orders)]


@pytest.fixture
def shop(team):
    return Shop(team)


def expected(shop, source, run, attempts=1):
    """What a dead letter must have become, as plain values."""
    own = [h for h in source.headers() if not h[0].startswith(("__connect.", "__streams."))]
    said = dict(source.headers())
    prefix = "__connect.errors." if "__connect.errors.topic" in said else "__streams.errors."
    where = [said[f"{prefix}{k}"].decode() for k in ("topic", "partition", "offset")]
    added = {
        "attempts": str(attempts),
        "key": "-".join(where),
        "from": f"{shop.dead}-{source.partition()}-{source.offset()}",
        "run": run,
    }
    headers = [*own, *((f"headgate.redrive.{k}", v.encode()) for k, v in added.items())]
    return (int(where[1]), source.key(), source.value(), source.timestamp(), headers)


def found(topic_messages):
    return [(m.partition(), m.key(), m.value(), m.timestamp(), m.headers()) for m in topic_messages]


@pytest.mark.parametrize("kind", [dead.connect, pytest.param(dead.streams, marks=pytest.mark.long)])
def test_each_record_goes_back_once_as_it_was(shop, kind):
    dead.fail_records(shop.broker, shop.orders, shop.dead, 700, kind=kind, parts=[0, 2])
    plan, run = shop.redrive("--rate=100000")
    letters = dead.read(shop.broker, shop.dead)
    right = [expected(shop, m, run) for m in letters]
    redriven = found(dead.read(shop.broker, shop.orders))
    assert sorted(map(str, redriven)) == sorted(map(str, right)) and len(redriven) == 700
    # Within a dead letter partition the order is kept.
    assert [r for r in redriven if r[0] == 0] == [r for r in right if r[0] == 0]
    said = plan["impact"]["dead_letters"]
    assert (said["read"], said["to_redrive"], said["is_sample"]) == (700, 700, False)
    assert plan["impact"]["records"] == {shop.orders: 700}
    assert len(dead.read(shop.broker, shop.dead)) == 700
    # A second run has nothing to do, unless asked.
    blocked = shop.plan(code=3)[1]
    assert "700 records" in blocked["blockers"][0] and "--again" in blocked["blockers"][0]
    assert blocked["impact"]["dead_letters"]["already_redriven"] == 700
    shop.redrive("--again", "--rate=100000")
    assert len(dead.read(shop.broker, shop.orders)) == 1400


@pytest.mark.long
def test_a_new_retry_topic_keeps_a_record_of_30_days_ago_and_the_undo_deletes_it(shop):
    then = int(time.time() * 1000) - 30 * 86_400_000
    letter = {"topic": shop.dead, "value": b'{"id": 7}', "timestamp": then}
    dead.write(shop.broker, [{**letter, "headers": dead.connect(shop.orders, 0, 7)}])
    options = (f"--to={shop.retry}", "--create-topic")
    plan, run = shop.redrive(*options)
    assert any("retention.ms=-1" in risk for risk in plan["risks"])
    (found,) = dead.read(shop.broker, shop.retry)
    assert found.timestamp()[1] == then
    with Kafka(shop.broker) as kafka:
        configs = read_shapes(kafka, [shop.retry])[shop.retry].configs
    assert (configs["retention.ms"], configs["retention.bytes"]) == ("-1", "-1")
    assert shop.team.run("undo", run)["state"] == "done"
    with Kafka(shop.broker) as kafka:
        assert read_shapes(kafka, [shop.retry]) == {}
    again = shop.plan(*options)[1]
    assert again["impact"]["dead_letters"]["to_redrive"] == 1


@pytest.mark.long
def test_a_retry_topic_that_has_records_of_another_dead_letter_topic_is_not_deleted(shop):
    other = f"{shop.dead}-eu"
    make_topic(shop.broker, other, 1)
    dead.fail_records(shop.broker, shop.orders, shop.dead, 4)
    dead.fail_records(shop.broker, shop.orders, other, 3, parts=[0], start=10)
    _, run = shop.redrive(f"--to={shop.retry}", "--create-topic")
    shop.redrive(f"--topic={other}", f"--to={shop.retry}")
    said = shop.team.run("undo", run, code=3)["error"]
    assert f"also has redriven records of {other}" in said and "yourself" in said
    assert sorted(shop.ids(shop.retry)) == [0, 1, 2, 3, 10, 11, 12]
