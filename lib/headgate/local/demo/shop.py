"""The shop itself: what happens when, as a simulation that runs in the past as well as live.

Cities and amounts are skewed; orders arrive out of order, some of them late and some twice; most
are paid within a minute. `advance` is the only clock, so that history and live feed are one code.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headgate.local.demo.topics import CUSTOMERS, ORDERS, PAYMENTS

# City, country, share of the customers.
CITIES = (
    ("London", "UK", 21),
    ("Paris", "France", 17),
    ("Berlin", "Germany", 12),
    ("Madrid", "Spain", 10),
    ("Rome", "Italy", 8),
    ("Hamburg", "Germany", 7),
    ("Vienna", "Austria", 6),
    ("Lyon", "France", 5),
    ("Lisbon", "Portugal", 4),
    ("Prague", "Czechia", 4),
    ("Porto", "Portugal", 3),
    ("Oslo", "Norway", 2),
    ("Graz", "Austria", 1),
)
_CUSTOMERS = 400
_CANCELLED, _LATE, _TWICE, _UNPAID = 0.05, 0.02, 0.015, 0.06
_MOVES_PER_SECOND = 0.05


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A record to be written at `at` (seconds since 1970); `value` is to become JSON."""

    at: float
    number: int
    topic: str = field(compare=False)
    key: str = field(compare=False)
    value: dict[str, Any] = field(compare=False)


class Shop:
    """Customers who order and pay; `rate` is the mean number of orders per second."""

    def __init__(self, now: float, *, rate: float = 15.0, seed: int | None = None) -> None:
        self.now = now
        self.rate = rate
        self._chance = random.Random(seed)
        self._due: list[Event] = []
        self._number = 0

    def customers(self) -> Iterator[Event]:
        """Yield every customer as known at the beginning; the same ones in every run."""
        fixed = random.Random(7)
        for number in range(_CUSTOMERS):
            yield self._event(self.now, CUSTOMERS.name, f"c{number:04}", _customer(fixed, number))

    def advance(self, to: float) -> list[Event]:
        """Let time pass and return what is to be written until `to`, in that order."""
        while (gap := self._chance.expovariate(self.rate)) + self.now < to:
            self.now += gap
            self._order()
            if self._chance.random() < _MOVES_PER_SECOND / self.rate:
                self._move()
        # The gap that reaches beyond `to` is thrown away: exponential gaps have no memory.
        self.now = to
        events = []
        while self._due and self._due[0].at <= to:
            events.append(heapq.heappop(self._due))
        return events

    def _order(self) -> None:
        chance, order_id = self._chance, f"o{self._chance.getrandbits(48):012x}"
        late = chance.uniform(60, 600) if chance.random() < _LATE else chance.expovariate(1 / 2)
        amount = max(100, int(chance.lognormvariate(7.9, 0.8)))
        value = {
            "order_id": order_id,
            "customer_id": f"c{int(_CUSTOMERS * chance.betavariate(1, 2.5)):04}",
            "amount_cents": amount,
            "status": "cancelled" if chance.random() < _CANCELLED else "placed",
            "ordered_at": _iso(self.now),
        }
        self._later(self.now + late, ORDERS.name, order_id, value)
        if chance.random() < _TWICE:
            self._later(self.now + late + chance.uniform(0.5, 5), ORDERS.name, order_id, value)
        if value["status"] == "placed" and chance.random() > _UNPAID:
            self._pay(order_id, amount)

    def _pay(self, order_id: str, amount: int) -> None:
        paid = self.now + min(110.0, self._chance.lognormvariate(2.3, 0.8))
        value = {
            "payment_id": f"p{self._chance.getrandbits(48):012x}",
            "order_id": order_id,
            "amount_cents": amount,
            "method": self._chance.choices(("card", "wallet", "transfer"), (70, 25, 5))[0],
            "paid_at": _iso(paid),
        }
        self._later(paid + self._chance.expovariate(1), PAYMENTS.name, order_id, value)

    def _move(self) -> None:
        number = self._chance.randrange(_CUSTOMERS)
        value = _customer(self._chance, number)
        self._later(self.now, CUSTOMERS.name, value["customer_id"], value)

    def _later(self, at: float, topic: str, key: str, value: dict[str, Any]) -> None:
        heapq.heappush(self._due, self._event(at, topic, key, value))

    def _event(self, at: float, topic: str, key: str, value: dict[str, Any]) -> Event:
        self._number += 1
        return Event(at, self._number, topic, key, value)


def _customer(chance: random.Random, number: int) -> dict[str, Any]:
    city, country, _ = chance.choices(CITIES, [share for _, _, share in CITIES])[0]
    tier = chance.choices(("basic", "silver", "gold"), (70, 22, 8))[0]
    return {"customer_id": f"c{number:04}", "city": city, "country": country, "tier": tier}


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
