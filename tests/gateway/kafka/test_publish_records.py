"""Staged records reach a topic once each, also if their writer is killed or cancelled."""

import os
import signal
import subprocess
import sys
import time

import pytest

from headgate.errors import RunCancelledError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import alter_offsets, read_offsets
from headgate.gateway.kafka.publish_records import publish_records
from headgate.gateway.kafka.read_records import each_record

pytestmark = pytest.mark.kafka
RECORDS = 6000
SLOW = """
import sys, time
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.publish_records import publish_records
bootstrap, staged, to, group = sys.argv[1:]

def watch(count):
    print(count, flush=True)
    time.sleep(0.2)

with Kafka(bootstrap) as kafka:
    publish_records(kafka, staged, to, group, pause=lambda _: None, watch=watch)
"""


def read(broker, kafka, name):
    parts = kafka.begin_end([(name, p) for p in (0, 1)])
    found = each_record(broker, {}, parts)
    return [(r.partition, r.key, r.value, r.headers) for r in found]


@pytest.fixture
def staged(broker, topic, unique):
    """A topic of a run with many records, and an existing one that has two."""
    from confluent_kafka import Producer

    names = topic("staged", partitions=2), topic("totals", partitions=2)
    producer = Producer({"bootstrap.servers": broker})
    for n in range(RECORDS):
        value = None if n % 7 == 0 else f"v{n}"
        producer.produce(
            names[0], value, f"k{n % 100}", partition=n % 2, headers=[("headgate.run", b"r1")]
        )
        producer.poll(0)
    producer.produce(names[1], "old", "k0", partition=0)
    producer.produce(names[1], "old", "k1", partition=1)
    assert producer.flush(30) == 0
    group = unique("append")
    with Kafka(broker) as kafka:
        alter_offsets(kafka, group, {(names[0], p): (0, None, None) for p in (0, 1)})
        yield kafka, *names, group


def by_partition(records):
    return [[r for r in records if r[0] == p] for p in (0, 1)]


def test_a_killed_writer_leaves_no_record_out_and_none_twice(broker, staged):
    kafka, source, to, group = staged
    command = [sys.executable, "-c", SLOW, broker, source, to, group]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        assert child.stdout.readline() == "1000\n"
    # Its own pause is over: it dies while it writes the third batch, or after it.
    time.sleep(0.25)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    seen = []
    publish_records(kafka, source, to, group, pause=lambda _: None, watch=seen.append)
    assert 0 < sum(seen) <= RECORDS - 2000
    expected, found = (
        by_partition(read(broker, kafka, source)),
        by_partition([r for r in read(broker, kafka, to) if r[2] != b"old"]),
    )
    # Order, partition, key, value and headers are those of the staged records.
    assert found == expected
    assert sum(map(len, found)) == RECORDS
    at = {part: o.offset for part, o in read_offsets(kafka, group).items()}
    assert at == {(source, 0): RECORDS // 2, (source, 1): RECORDS // 2}
    # Once more does nothing.
    publish_records(kafka, source, to, group, pause=lambda _: None, watch=seen.append)
    assert seen[-1] == 0
    assert len(read(broker, kafka, to)) == RECORDS + 2


def test_a_cancelled_writer_stops_between_two_transactions(broker, staged):
    kafka, source, to, group = staged

    def pause(_seconds):
        raise RunCancelledError("cancelled")

    with pytest.raises(RunCancelledError):
        publish_records(kafka, source, to, group, pause=pause, watch=lambda _: None)
    assert len(read(broker, kafka, to)) == 1000 + 2
    assert sum(o.offset for o in read_offsets(kafka, group).values()) == 1000
