"""Failing records become dead letters once in a run, whatever an earlier try has written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from headgate.errors import StepError
from headgate.gateway.kafka import write_dead_letters as module
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.write_dead_letters import write_dead_letters
from headgate.model.dead_letters import FailedRecord
from headgate.parse.kafka.dead_letters import FAILED_IN, read_dead_letter
from scenes.records import make_topic
from support.waiting import PATIENCE

pytestmark = pytest.mark.kafka


KILLED = """
import os, signal, sys
from headgate.gateway.kafka import write_dead_letters as module
from headgate.gateway.kafka.cluster import Kafka
from gateway.kafka.test_write_dead_letters import failed

broker, orders, letters, left = *sys.argv[1:4], int(sys.argv[4])
produce = module.produce_record

def dying(producer, made, given):
    global left
    if not left:
        producer.flush(30)
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    produce(producer, made, given)

module.produce_record, module._AT_ONCE = dying, 4
with Kafka(broker) as kafka:
    module.write_dead_letters(
        kafka, letters, [failed(orders, n % 2, n // 2) for n in range(10)], run="r9",
        begins={}, pause=lambda _: None,
    )
"""


def failed(topic, partition, offset):
    return FailedRecord(
        pipeline="orders", topic=topic, partition=partition, offset=offset,
        error_class="PythonException", message=f"ValueError: offset {offset}",
    )  # fmt: skip


@pytest.fixture
def topics(broker, unique):
    from confluent_kafka import Producer

    orders, letters = unique("orders"), unique("letters")
    # Their records are years old.
    make_topic(broker, orders, 2, **{"retention.ms": "-1"})
    make_topic(broker, letters, 3, **{"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": broker})
    for number in range(20):
        producer.produce(
            orders, f"value {number}", key=f"k{number}", partition=number % 2,
            timestamp=1_750_000_000_000 + number, headers=[("source", b"shop")],
        )  # fmt: skip
    producer.produce(letters, "of another day", partition=1)
    assert producer.flush(30) == 0
    return orders, letters


def test_each_record_is_written_once_in_a_run(broker, topics, consume):
    orders, letters = topics
    begins = {0: 0, 1: 1, 2: 0}

    def write(records, run="r1"):
        with Kafka(broker) as kafka:
            return write_dead_letters(
                kafka, letters, records, run=run, begins=begins, pause=lambda _: None
            )

    first = [failed(orders, 0, 3), failed(orders, 1, 0)]
    assert write(first) == 2
    # As after a crash in between: the rest is written, and nothing twice.
    assert write([*first, failed(orders, 1, 9)]) == 1
    assert write([*first, failed(orders, 1, 9)]) == 0
    assert write(first, run="r2") == 2, "another run has its own"
    found = [(r, read_dead_letter(tuple(r.headers() or ()))) for r in consume(letters, 6)]
    ours = [(r, letter) for r, letter in found if letter.topic == orders]
    assert len(found) == 6 and len(ours) == 5
    places = sorted((letter.partition, letter.offset) for _, letter in ours)
    assert places == [(0, 3), (0, 3), (1, 0), (1, 0), (1, 9)]
    runs = Counter(dict(record.headers())[FAILED_IN] for record, _ in ours)
    assert runs == {b"r1": 3, b"r2": 2}
    for record, letter in ours:
        number = letter.offset * 2 + letter.partition
        assert (record.key(), record.value()) == (f"k{number}".encode(), f"value {number}".encode())
        assert record.timestamp()[1] == 1_750_000_000_000 + number
        assert letter.headers == (("source", b"shop"),)
        assert (letter.reason, letter.message) == (
            "PythonException",
            f"ValueError: offset {letter.offset}",
        )


@pytest.mark.parametrize("written", [4, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 7))])
def test_a_killed_writer_leaves_nothing_twice(broker, topics, consume, written):
    orders, letters = topics
    command = [sys.executable, "-c", KILLED, broker, orders, letters, str(written)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    killed = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    wanted = [failed(orders, n % 2, n // 2) for n in range(10)]
    with Kafka(broker) as kafka:
        again = write_dead_letters(
            kafka, letters, wanted, run="r9", begins={}, pause=lambda _: None
        )
    # Four records are a transaction: those of a killed one are aborted.
    assert again == 10 - written // 4 * 4
    found = [read_dead_letter(tuple(r.headers() or ())) for r in consume(letters, 12, seconds=10)]
    places = Counter((one.partition, one.offset) for one in found if one.topic)
    assert places == Counter((n % 2, n // 2) for n in range(10))


def test_a_record_of_an_aborted_transaction_is_written_as_spark_saw_it(broker, topics, consume):
    from confluent_kafka import Producer

    orders, letters = topics
    other = Producer({"bootstrap.servers": broker, "transactional.id": f"aborted-{orders}"})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce(orders, "never committed", partition=0, timestamp=1_750_000_000_000)
    assert other.flush(30) == 0
    other.abort_transaction(30)
    with Kafka(broker) as kafka:
        written = write_dead_letters(
            kafka, letters, [failed(orders, 0, 10)], run="r5", begins={}, pause=lambda _: None
        )
    assert written == 1
    assert b"never committed" in [r.value() for r in consume(letters, 2)]


def test_nothing_is_written_twice_behind_the_open_transaction_of_another(
    broker, topics, consume, monkeypatch
):
    from confluent_kafka import Producer

    orders, letters = topics
    wanted = [failed(orders, n, 0) for n in range(2)]
    other = Producer({"bootstrap.servers": broker, "transactional.id": f"open-{orders}"})
    other.init_transactions(30)

    def write(pause):
        with Kafka(broker) as kafka:
            return write_dead_letters(kafka, letters, wanted, run="r6", begins={}, pause=pause)

    other.begin_transaction()
    for number in range(3):
        other.produce(letters, "unfinished", partition=number)
    assert other.flush(30) == 0
    waits = []

    def end(seconds):
        if seconds and not waits:
            other.abort_transaction(30)
        # The abort may take longer to be read than one wait.
        waits.extend([seconds] if seconds else [])
        time.sleep(seconds)

    # What is behind the open transaction can't be read, so nobody knows what is there.
    with monkeypatch.context() as patch:
        patch.setattr(module, "_WAIT_SECONDS", 0)
        with pytest.raises(StepError, match=f"an open transaction in {letters}"):
            write(lambda _: None)
    assert write(end) == 2
    assert waits, "it did not wait for the end of the transaction"
    assert write(end) == 0
    assert len(consume(letters, 4, seconds=5)) == 3


def test_a_record_that_is_gone_is_an_error_and_writes_nothing(broker, topics):
    orders, letters = topics
    with Kafka(broker) as kafka, pytest.raises(StepError, match="no longer exists"):
        write_dead_letters(
            kafka, letters, [failed(orders, 0, 1), failed(orders, 0, 10)], run="r3",
            begins=dict.fromkeys(range(3), 0), pause=lambda _: None,
        )  # fmt: skip
    with Kafka(broker) as kafka:
        ends = [part.end for part in kafka.topics([letters])[letters].partitions]
    # An aborted transaction leaves a marker, and no record of a committed one.
    assert ends[1] >= 1
