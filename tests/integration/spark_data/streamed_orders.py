"""Orders of three days in a topic, and the results of a function with state in plain Python."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from scenes.records import Seen

START = datetime(2026, 4, 1, tzinfo=UTC)
COUNT, STEP = 400, timedelta(minutes=10)
HOUR = timedelta(hours=1)


def write_orders(bootstrap, topic, latest=1500):
    """Write orders of about three days to four partitions; the last one stays empty.

    Partition 1 has a tenth of the records. Every ninth is out of order, by up to `latest` minutes;
    some come twice. Partition 2 has only transactions that were aborted, whose markers have the
    time of now. A city has one partition.
    Returns those that are not aborted, as records and orders.
    """
    from confluent_kafka import Producer

    written = []

    def keep(order):
        def acknowledged(error, message):
            assert error is None, error
            at = message.timestamp()[1]
            record = Seen(topic, message.partition(), message.offset(), at, None, message.value())
            written.append((record, order))

        return acknowledged

    rnd = random.Random(11)
    producer = Producer({"bootstrap.servers": bootstrap})
    aborting = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"abort-{topic}"})
    aborting.init_transactions()
    for n in range(COUNT):
        part = 1 if n % 10 == 3 else 0
        arrives = START + n * STEP
        late = timedelta(minutes=rnd.randint(1, latest)) if n % 9 == 8 else timedelta()
        order = {"id": n, "city": f"{'ab'[part]}{n % 3}", "amount": rnd.randint(1, 99),
                 "at": (arrives - late).isoformat()}  # fmt: skip
        at = int(arrives.timestamp() * 1000)
        for _ in range(2 if n % 50 == 20 else 1):
            producer.produce(
                topic, json.dumps(order), partition=part, timestamp=at, on_delivery=keep(order)
            )  # fmt: skip
        if n % 100 == 50:
            assert producer.flush(60) == 0
            aborting.begin_transaction()
            aborting.produce(topic, json.dumps(order), partition=2, timestamp=at)
            aborting.flush(60)
            aborting.abort_transaction()
    assert producer.flush(60) == 0
    return written


def moment(text):
    return datetime.fromisoformat(text)


def numbers(orders, since="2026-01-01T00:00:00Z", until="2027-01-01T00:00:00Z"):
    """Number each order in its city, in the order of offsets."""
    seen, found = Counter(), Counter()
    for _record, order in sorted(orders, key=lambda one: (one[0].partition, one[0].offset)):
        seen[order["city"]] += 1
        if moment(since) <= moment(order["at"]) < moment(until):
            found[order["id"], order["city"], seen[order["city"]]] += 1
    return found
