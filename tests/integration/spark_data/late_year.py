"""A year of orders and records that come a year late, and results of both in plain Python."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scenes.small_spark import small_spark

START = datetime(2025, 4, 1, tzinfo=UTC)
ORDERS, CUSTOMERS, PARTITIONS = 4000, 200, 3
STEP = timedelta(days=365) / ORDERS
TOUCHED = [f"c{n}" for n in (3, 50, 51)] + ["new", None]


def order(number, customer, at, amount):
    return {"id": number, "customer": customer, "amount": amount, "at": at.isoformat()}


def late_orders():
    """Orders of the first days: of three customers, one nobody knows, and one without a name."""
    rnd = random.Random(5)
    return [
        order(1_000_000 + n, rnd.choice(TOUCHED), START + timedelta(hours=rnd.randint(0, 99)), 7)
        for n in range(60)
    ]


def write_year(broker, topic):
    """Write the orders, disordered; a few come twice or are of an aborted transaction.

    The late orders are a second topic, in which some come twice, and some are old ones. A partition
    is empty. `topic` creates a topic. Returns the topics, the orders and the late orders.
    """
    from confluent_kafka import Producer

    names = {n: topic(n, partitions=PARTITIONS, config={"retention.ms": "-1"})
             for n in ("orders", "late", "views")}  # fmt: skip
    rnd = random.Random(11)
    producer = Producer({"bootstrap.servers": broker})
    aborting = Producer({"bootstrap.servers": broker, "transactional.id": names["orders"]})
    aborting.init_transactions()
    kept = []

    def send(name, value, number, at):
        producer.produce(
            names[name], json.dumps(value), key=str(value["customer"]), partition=number % 2,
            timestamp=int(at.timestamp() * 1000),
        )  # fmt: skip

    for number in range(ORDERS):
        at = START + number * STEP - timedelta(minutes=rnd.randint(0, 600))
        who = None if number % 900 == 7 else f"c{rnd.randrange(CUSTOMERS)}"
        made = order(number, who, at, rnd.randint(1, 20))
        for _ in range(2 if number % 50 == 9 else 1):
            send("orders", made, number, START + number * STEP)
            kept.append(made)
        if number % 1000 == 3:
            assert producer.flush(30) == 0
            aborting.begin_transaction()
            aborting.produce(names["orders"], json.dumps(made), partition=0)
            aborting.flush(30)
            aborting.abort_transaction()
        if number % 7 == 0:
            seen = {"customer": who, "page": f"p{number}", "seen": (at).isoformat()}
            send("views", seen, number, at)
    late = late_orders()
    now = START + timedelta(days=366)
    for number, made in enumerate(late):
        for _ in range(2 if number % 10 == 0 else 1):
            send("late", made, number, now)
    for made in kept[:4]:
        send("late", made, 0, now)
    assert producer.flush(30) == 0
    return names, kept, late


def register_function(team, function, *more):
    """Register a function of `late_queries` and store its version; `more` are other tables."""
    shutil.copy(Path(__file__).with_name("late_queries.py"), team.folder)
    team.register(
        f'[[pipeline]]\nname = "{function}"\nengine = "spark"\n'
        f'checkpoint = "checkpoint"\nentry_point = "late_queries:{function}"\n',
        small_spark(),
        *more,
    )
    command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
    command += [f"late_queries:{function}", "--pipeline", function]
    subprocess.run(command, cwd=team.folder, check=True, capture_output=True)


def set_topics(monkeypatch, broker, names):
    """Say to `late_queries` which topics it reads."""
    monkeypatch.setenv("LATE_BROKER", broker)
    monkeypatch.setenv("LATE_ORDERS", names["orders"])
    monkeypatch.setenv("LATE_VIEWS", names["views"])


def by_customer(orders):
    """The rows of `by_customer` in plain Python."""
    groups = defaultdict(list)
    for one in orders:
        groups[one["customer"]].append(one)
    totals = {who: (sum(o["amount"] for o in them), len(them), max(moment(o["at"]) for o in them))
              for who, them in groups.items()}  # fmt: skip
    return {who: total for who, total in totals.items() if total[0] > 100}


def daily(orders):
    """The rows of `daily` in plain Python: total and count by day and customer."""
    totals, counts = Counter(), Counter()
    for one in orders:
        key = (
            moment(one["at"]).replace(hour=0, minute=0, second=0, microsecond=0),
            one["customer"],
        )
        totals[key] += one["amount"]
        counts[key] += 1
    return {key: (totals[key], counts[key]) for key in totals}


def moment(text):
    return datetime.fromisoformat(text)


def sessions(orders, gap=timedelta(days=10)):
    """The rows of `sessions` in plain Python: end, total and count by customer and start."""
    groups = defaultdict(list)
    for one in orders:
        groups[one["customer"]].append(one)
    found = {}
    for who, them in groups.items():
        open_since, until = None, None
        for one in sorted(them, key=lambda o: moment(o["at"])):
            at = moment(one["at"])
            if until is None or at > until:
                open_since = at
                found[who, open_since] = (at + gap, 0, 0)
            until = at + gap
            _, total, count = found[who, open_since]
            found[who, open_since] = (until, total + one["amount"], count + 1)
    return found
