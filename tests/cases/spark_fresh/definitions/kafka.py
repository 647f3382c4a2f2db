"""Kafka sources with a real broker, and the demo's own pipelines."""

from __future__ import annotations

from typing import Any

from recorder.case import FIRST, THEN, Place, Version, at, case
from recorder.shapes import grouped

from headgate.local.demo import orders_by_city, revenue_alerts
from headgate.local.demo.sources import CITY_WINDOW

A, B = FIRST["src"], THEN["src"]
ASIDE = [[("a", 30, "p", at(2)), ("q", 50, "q", at(5))]]
ASIDE_THEN = [[("q", 2, "q", at(20))]]


def read(measure: str = "sum(v) s", **options: Any) -> Any:
    return lambda p: grouped(p.kafka(**options), "k", measure)


def topics(name: str, *more: str) -> dict[str, Any]:
    """Return what a case with the topics NAME-one, NAME-two needs."""
    one, two = f"{name}-one", f"{name}-two"
    return {
        "topics": (one, two),
        "keys": ("k",),
        "first": {f"kafka:{one}": A, f"kafka:{two}": ASIDE},
        "then": {f"kafka:{one}": B, f"kafka:{two}": ASIDE_THEN},
    }


case(
    "kafka_subscribe_to_assign",
    "subscribe one -> assign one:0",
    read(subscribe="f1-one"),
    read(assign='{"f1-one":[0]}'),
    **topics("f1"),
)
case(
    "kafka_pattern_narrower",
    "subscribePattern f2-.* -> f2-one",
    read(subscribePattern="f2-.*"),
    read(subscribePattern="f2-one"),
    **topics("f2"),
)
case(
    "kafka_topic_replaced_leniently",
    "subscribe one -> two, failOnDataLoss false",
    read(subscribe="f3-one"),
    read(subscribe="f3-two", failOnDataLoss="false"),
    **topics("f3"),
)
case(
    "kafka_starting_and_function",
    "earliest -> latest, and sum -> max",
    read(subscribe="f4-one"),
    read("cast(max(v) as bigint) s", subscribe="f4-one", startingOffsets="latest"),
    **topics("f4"),
)


def union(*names: str, **options: str) -> Any:
    def build(p: Place) -> Any:
        first, second = (p.kafka(subscribe=n, **options) for n in names)
        return grouped(first.union(second), "k", "sum(v) s")

    return build


case(
    "kafka_union_swapped_leniently",
    "one union two -> two union one, failOnDataLoss false",
    union("f5-one", "f5-two", failOnDataLoss="false"),
    union("f5-two", "f5-one", failOnDataLoss="false"),
    **topics("f5"),
)
case(
    "kafka_group_by_topic",
    "groupBy(k) -> groupBy(topic)",
    read(subscribe="f6-one,f6-two"),
    lambda p: grouped(p.kafka(subscribe="f6-one,f6-two"), "topic k", "sum(v) s"),
    **topics("f6"),
)
case(
    "kafka_to_file",
    "topic -> files",
    read(subscribe="f7-one"),
    lambda p: grouped(p.read(), "k", "sum(v) s"),
    **{**topics("f7"), "first": {**topics("f7")["first"], "src": A}},
)


ORDER_KEYS = ("order_id", "customer_id", "amount_cents", "status", "ordered_at")
DEMO_TOPICS = ("orders", "payments", "customers", "city-revenue", "revenue-alerts")


def order(number: int, customer: str, cents: int, second: int) -> dict[str, Any]:
    return dict(zip(ORDER_KEYS, (f"o{number}", customer, cents, "placed", at(second)), strict=True))


def payment(number: int, cents: int, second: int) -> dict[str, Any]:
    return {
        "order_id": f"o{number}",
        "amount_cents": cents,
        "method": "card",
        "paid_at": at(second),
    }


CUSTOMERS = [
    {"customer_id": "c1", "city": "Ulm", "country": "Germany", "tier": "gold"},
    {"customer_id": "c2", "city": "Lyon", "country": "France", "tier": "none"},
]
ORDERS_FIRST = {
    "kafka:customers": [CUSTOMERS],
    "kafka:orders": [[order(1, "c1", 900, 5), order(2, "c2", 300, 10), order(3, "c1", 700, 70)]],
    "kafka:payments": [[payment(1, 900, 20), payment(3, 700, 80)]],
}
ORDERS_THEN = {
    "kafka:orders": [
        [order(4, "c2", 5000, 90), order(5, "c1", 650, 200), order(6, "c1", 900, 700)]
    ],
    "kafka:payments": [
        [payment(2, 300, 30), payment(4, 5000, 100), payment(5, 650, 210), payment(6, 900, 710)]
    ],
}


def window(city: str, minute: int, cents: int, orders: int = 1) -> dict[str, Any]:
    return {
        "city": city,
        "country": "Germany" if city == "Ulm" else "France",
        "window_start": at(60 * minute),
        "window_end": at(60 * minute + 60),
        "orders": orders,
        "revenue_cents": cents,
    }


ALERTS_FIRST = {
    "kafka:city-revenue": [
        [window("Ulm", 1, 60_000), window("Ulm", 2, 30_000), window("Lyon", 3, 70_000)]
    ]
}
ALERTS_THEN = {
    "kafka:city-revenue": [
        [window("Ulm", 4, 55_000), window("Ulm", 2, 30_000), window("Lyon", 5, 90_000)]
    ]
}


def values(topic: str) -> Any:
    """Read a topic of one partition; its last row of a city and window counts."""

    def rows(p: Place) -> Any:
        reader = p.spark.read.format("kafka").option("kafka.bootstrap.servers", p.broker)
        value = f"from_json(cast(value as string), '{CITY_WINDOW}') AS v"
        return reader.option("subscribe", topic).load().selectExpr(value).select("v.*")

    return rows


def demo(
    name: str, change: str, module: Any, new: Any, first: Any, then: Any, topic: str, mode: str
) -> None:
    case(
        name,
        change,
        Version(lambda p: module.v1(p.spark), mode),
        Version(lambda p: new(p.spark), mode),
        first=first,
        then=then,
        topics=DEMO_TOPICS,
        keys=("city", "window_start"),
        reader=values(topic),
    )


for kind, by_city, alerts in (
    ("safe", orders_by_city.v2_safe, revenue_alerts.v2_safe),
    ("silent", orders_by_city.v2_silent, revenue_alerts.v2_silent),
    ("both", orders_by_city.v2, revenue_alerts.v2),
):
    demo(
        f"demo_orders_by_city_{kind}",
        f"v1 -> v2 ({kind})",
        orders_by_city,
        by_city,
        ORDERS_FIRST,
        ORDERS_THEN,
        "city-revenue",
        "append",
    )
    demo(
        f"demo_revenue_alerts_{kind}",
        f"v1 -> v2 ({kind})",
        revenue_alerts,
        alerts,
        ALERTS_FIRST,
        ALERTS_THEN,
        "revenue-alerts",
        "update",
    )
