"""The shop: bounded, skewed, disordered, and the same code for history and live feed."""

from collections import Counter
from datetime import datetime

import pytest

from headgate.local.demo.shop import CITIES, Shop
from headgate.local.demo.topics import CUSTOMERS, ORDERS, PAYMENTS

pytestmark = pytest.mark.slow

BEGIN = 1_700_000_000.0


@pytest.fixture(scope="module")
def hour():
    return Shop(BEGIN, seed=1).advance(BEGIN + 3600)


def of(events, topic):
    return [e for e in events if e.topic == topic.name]


def test_events_come_in_the_order_of_their_time(hour):
    assert [e.at for e in hour] == sorted(e.at for e in hour)
    assert hour[0].at >= BEGIN and hour[-1].at <= BEGIN + 3600


def test_the_rate_is_bounded(hour):
    assert 20 <= len(hour) / 3600 <= 50


def test_steps_of_the_clock_do_not_change_the_rate():
    shop = Shop(BEGIN, seed=2)
    stepped = [e for second in range(600) for e in shop.advance(BEGIN + second)]
    assert 12 <= len(of(stepped, ORDERS)) / 600 <= 18


def test_some_orders_come_late_some_twice_some_are_never_paid(hour):
    orders = of(hour, ORDERS)
    ids = Counter(e.key for e in orders)
    delay = [e.at - datetime.fromisoformat(e.value["ordered_at"]).timestamp() for e in orders]
    assert any(n == 2 for n in ids.values())
    assert 0.005 < sum(d > 60 for d in delay) / len(delay) < 0.05
    times = [e.value["ordered_at"] for e in orders]
    assert times != sorted(times)
    paid = {e.value["order_id"] for e in of(hour, PAYMENTS)}
    assert 0.8 < len(paid & ids.keys()) / len(ids) < 0.97


def test_customers_are_the_same_in_every_run_and_live_mostly_in_the_large_cities():
    first, second = (list(Shop(BEGIN, seed=s).customers()) for s in (1, 2))
    assert [e.value for e in first] == [e.value for e in second]
    assert {e.topic for e in first} == {CUSTOMERS.name}
    cities = Counter(e.value["city"] for e in first)
    assert cities[CITIES[0][0]] > 5 * cities[CITIES[-1][0]]
