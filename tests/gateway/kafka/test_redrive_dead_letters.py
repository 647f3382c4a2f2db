"""Dead letters on a real broker: counted, redriven exactly once, whatever comes between."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import replace

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource

from headgate.errors import HeadgateError, RefusedError, StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.forget_redrives import forget, redriven_topics
from headgate.gateway.kafka.inspect_dead_letters import may_write, stable_spans, summarise
from headgate.gateway.kafka.redrive_ledger import Marks, progress_row, read_marks
from headgate.gateway.kafka.redrive_records import Work, read_progress, redrive, transactional
from headgate.model.dead_letters import Decision, Selection
from headgate.reprocess.steps.records.redrive_records import ledger_of
from scenes.lab import Kafka as OwnBroker
from scenes.records import make_topic
from support import dead_letter_topics as dead
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka


class Letters:
    """A source topic of two partitions, its dead letter topic of three, and a ledger."""

    def __init__(self, broker):
        name = uuid.uuid4().hex[:8]
        self.broker = broker
        self.orders, self.dead, self.retry = f"orders-{name}", f"dead-{name}", f"retry-{name}"
        self.ledger = ledger_of(self.dead, "id")
        make_topic(broker, self.orders, 2)
        make_topic(broker, self.dead, 3)
        make_topic(broker, self.ledger.topic, 1, **{"cleanup.policy": "compact"})
        self.chosen = Selection(topic=self.dead, targets={self.orders: 2})

    def redrive(self, run="r1", *, rate=None, pause=lambda _: None, **changes):
        with Kafka(self.broker) as kafka:
            work = Work(
                run=run, chosen=replace(self.chosen, **changes), ledger=self.ledger, rate=rate
            )
            redrive(kafka, work, stable_spans(kafka, self.dead, ()), pause)
            done = read_progress(kafka, self.ledger, run)
        return {
            d.value: n for d in Decision if (n := sum(p.counts.get(d, 0) for p in done.values()))
        }

    def summary(self, most=None, **changes):
        with Kafka(self.broker) as kafka:
            chosen = replace(self.chosen, targets=None, **changes)
            return summarise(kafka, chosen, self.ledger, most)

    def ids(self, topic=None):
        return [json.loads(m.value())["id"] for m in dead.read(self.broker, topic or self.orders)]

    def fail(self, count, **given):
        dead.fail_records(self.broker, self.orders, self.dead, count, **given)


@pytest.fixture
def letters(broker):
    return Letters(broker)


def test_markers_and_aborted_transactions_are_no_records(letters):
    dead.in_transactions(letters.broker, letters.orders, letters.dead)
    found = letters.summary()
    assert (found.read, found.count(Decision.REDRIVE)) == (10, 10) and found.offsets > 15
    assert letters.redrive() == {"to_redrive": 10}
    assert sorted(letters.ids()) == list(range(10))
    with Kafka(letters.broker) as kafka:
        ends = {s.partition: s.end for s in stable_spans(kafka, letters.dead, ())}
        at = read_progress(kafka, letters.ledger, "r1")
    assert {p: done.offset for p, done in at.items()} == ends


def test_what_an_open_transaction_hides_is_left_for_another_run(letters):
    from confluent_kafka import Producer

    letters.fail(4, parts=[0])
    producer = Producer({"bootstrap.servers": letters.broker, "transactional.id": letters.dead})
    producer.init_transactions(30)
    producer.begin_transaction()
    headers = dead.connect(letters.orders, 0, 9)
    producer.produce(letters.dead, b'{"id": 9}', partition=0, headers=headers)
    producer.flush(30)
    letters.fail(2, parts=[0], start=50)
    assert letters.redrive() == {"to_redrive": 4}
    producer.commit_transaction(30)
    assert letters.redrive("r2") == {"to_redrive": 3, "already_redriven": 4}
    assert sorted(letters.ids()) == [0, 1, 2, 3, 9, 50, 51]


def test_one_reason_first_and_the_others_later(letters):
    letters.fail(6)
    letters.fail(5, start=10, kind=dead.streams)
    assert letters.redrive(reasons=("IllegalState",)) == {"to_redrive": 5, "not_selected": 6}
    assert letters.redrive("r2") == {"to_redrive": 6, "already_redriven": 5}
    assert sorted(letters.ids()) == [*range(6), *range(10, 15)]


def test_the_loop_guard_counts_in_the_record_and_the_key_stays(letters):
    letters.fail(1)
    for attempt in (1, 2, 3):
        assert letters.redrive(f"r{attempt}", max_attempts=3)["to_redrive"] == 1
        last = dead.read(letters.broker, letters.orders)
        newest = max(last, key=lambda m: int(dead.own_headers(m)["attempts"]))
        said = dead.own_headers(newest)
        assert said["attempts"] == str(attempt) and said["run"] == f"r{attempt}"
        assert said["key"] == f"{letters.orders}-0-0"
        own = list(newest.headers())
        headers = dead.connect(letters.orders, newest.partition(), newest.offset(), own=own)
        dead.write(
            letters.broker,
            [{"topic": letters.dead, "value": newest.value(), "partition": 0, "headers": headers}],
        )
    assert letters.summary(max_attempts=3).attempts == {0: 1, 1: 1, 2: 1, 3: 1}
    done = letters.redrive("r4", max_attempts=3)
    assert done == {"already_redriven": 3, "at_max_attempts": 1}
    assert letters.redrive("r5", max_attempts=4)["to_redrive"] == 1


def test_the_rate_is_kept(letters):
    letters.fail(150)
    began = time.monotonic()
    waits = []

    def pause(seconds):
        waits.append(seconds)
        time.sleep(seconds)

    letters.redrive(rate=50, pause=pause)
    # After each of the three batches of 50 it waits until a second is over.
    assert len(waits) >= 3 and time.monotonic() - began >= 2.9
    assert sorted(letters.ids()) == list(range(150))


def test_a_limit_ends_a_run_and_the_next_one_takes_the_rest(letters):
    letters.fail(20)
    assert letters.redrive(most=7) == {"to_redrive": 7}
    assert letters.redrive(most=7) == {"to_redrive": 7}, "the same run took more"
    assert letters.redrive("r2") == {"to_redrive": 13, "already_redriven": 7}
    assert sorted(letters.ids()) == list(range(20))


def test_records_past_retention_are_no_longer_there(letters):
    letters.fail(10, parts=[0])
    with Kafka(letters.broker) as kafka:
        part = TopicPartition(letters.dead, 0, 4)
        for future in kafka.admin.delete_records([part]).values():
            future.result()
    assert letters.redrive() == {"to_redrive": 6}
    assert sorted(letters.ids()) == list(range(4, 10))


def test_a_source_with_fewer_partitions_gets_its_records_by_key(letters):
    make_topic(letters.broker, letters.retry, 1)
    headers = dead.connect(letters.retry, 5, 0)
    record = {"topic": letters.dead, "key": b"a", "value": b'{"id": 1}', "headers": headers}
    dead.write(letters.broker, [record])
    assert letters.redrive(targets={letters.retry: 1}) == {"to_redrive": 1}
    assert [m.partition() for m in dead.read(letters.broker, letters.retry)] == [0]


def test_spring_s_record_gets_its_own_time_back_and_tombstones_stay_tombstones(letters):
    headers = dead.spring(letters.orders, 1, 7, at=1_600_000_000_000)
    record = {"topic": letters.dead, "key": b"a", "value": None, "partition": 2, "headers": headers}
    dead.write(letters.broker, [record])
    letters.redrive()
    (found,) = dead.read(letters.broker, letters.orders)
    assert (found.value(), found.partition()) == (None, 1)
    assert found.timestamp()[1] == 1_600_000_000_000
    assert found.headers()[:2] == dead.OWN


def test_a_backup_topic_of_skip_records_is_redriven(letters):
    headers = [*dead.OWN, ("headgate.backup.from", f"{letters.orders} 1 17".encode())]
    record = {"topic": letters.dead, "value": b'{"id": 17}', "partition": 1, "headers": headers}
    dead.write(letters.broker, [record])
    assert letters.redrive() == {"to_redrive": 1}
    (found,) = dead.read(letters.broker, letters.orders)
    assert found.headers()[:-4] == dead.OWN and found.partition() == 1
    assert dead.own_headers(found)["key"] == f"{letters.orders}-1-17"


def test_a_record_without_headers_needs_a_target(letters):
    make_topic(letters.broker, letters.retry, 1)
    dead.write(letters.broker, [{"topic": letters.dead, "value": b'{"id": 1}', "partition": 0}])
    assert letters.redrive() == {"without_target": 1}
    assert letters.redrive("r2", to=letters.retry, targets={letters.retry: 1}) == {"to_redrive": 1}
    (found,) = dead.read(letters.broker, letters.retry)
    assert dead.own_headers(found)["key"] == f"{letters.dead}-0-0"


def test_it_returns_once_a_reader_of_the_ledger_sees_what_it_did(letters):
    # Another transaction that is open stands for a marker that is late.
    producer = Producer({"bootstrap.servers": letters.broker, "transactional.id": letters.dead})
    producer.init_transactions(60)
    producer.begin_transaction()
    key, value = progress_row("r0", 2, 0, {})
    producer.produce(letters.ledger.topic, key=key, value=value, partition=0)
    assert producer.flush(30) == 0
    letters.fail(3, parts=[0])
    done = []
    thread = threading.Thread(target=lambda: done.append(letters.redrive()))
    thread.start()
    while len(letters.ids()) < 3:
        assert thread.is_alive()
    thread.join(1)
    assert thread.is_alive()
    producer.commit_transaction(60)
    thread.join(PATIENCE)
    assert done == [{"to_redrive": 3}]


def test_a_record_that_kafka_refuses_stops_the_run_and_the_next_try_goes_on(letters):
    letters.fail(3, parts=[0])
    headers = dead.connect(letters.orders, 0, 99)
    value = json.dumps({"id": 99, "text": os.urandom(6_000).hex()}).encode()
    record = {"topic": letters.dead, "value": value, "partition": 0, "headers": headers}
    dead.write(letters.broker, [record])
    _configure(letters.broker, letters.orders, "max.message.bytes", "4000")
    with pytest.raises(StepError, match=rf"record 3 of {letters.dead}\[0\] could not be written"):
        letters.redrive()
    assert letters.ids() == []
    _configure(letters.broker, letters.orders, "max.message.bytes", "1000000")
    assert letters.redrive() == {"to_redrive": 4}
    assert sorted(letters.ids()) == [0, 1, 2, 99]


def _configure(broker, topic, name, value):
    resource = ConfigResource(
        ConfigResource.Type.TOPIC, topic, incremental_configs=[_entry(name, value)]
    )
    admin = AdminClient({"bootstrap.servers": broker})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()
    # A broker takes a setting over a moment after it has said so.
    asked = ConfigResource(ConfigResource.Type.TOPIC, topic)
    until(lambda: admin.describe_configs([asked])[asked].result()[name].value == value, name)


def _entry(name, value):
    from confluent_kafka.admin import AlterConfigOpType

    return ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)


_PROGRAM = """
import sys, time
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.inspect_dead_letters import stable_spans
from headgate.gateway.kafka.redrive_records import Work, redrive
from headgate.model.dead_letters import Selection
from headgate.reprocess.steps.records.redrive_records import ledger_of
broker, dead, orders = sys.argv[1:]
chosen = Selection(topic=dead, targets={orders: 2})
with Kafka(broker) as kafka:
    work = Work(run="r1", chosen=chosen, ledger=ledger_of(dead, "id"), rate=int(20))
    redrive(kafka, work, stable_spans(kafka, dead, ()), time.sleep)
"""


def test_a_killed_process_leaves_nothing_twice_and_nothing_out(letters):
    letters.fail(200)
    for wanted in (20, 60, 120):
        argv = [sys.executable, "-c", _PROGRAM, letters.broker, letters.dead, letters.orders]
        process = subprocess.Popen(argv)
        deadline = time.monotonic() + PATIENCE
        # Uncommitted records count, too: some kills come in the middle of a transaction.
        while len(dead.read(letters.broker, letters.orders, "read_uncommitted")) < wanted:
            assert process.poll() is None and time.monotonic() < deadline
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    assert letters.redrive() == {"to_redrive": 200}
    assert sorted(letters.ids()) == list(range(200))
    assert sorted(_in_order(letters)) == sorted(_in_order(letters, letters.dead))


def _in_order(letters, topic=None):
    return [m.value() for m in dead.read(letters.broker, topic or letters.orders)]


@pytest.mark.long
def test_a_broker_that_restarts_in_the_middle(tmp_path):
    kafka = OwnBroker(tmp_path)
    try:
        letters = Letters(kafka.address)
        letters.fail(120)
        said = []

        def run():
            try:
                said.append(letters.redrive(rate=20, pause=time.sleep))
            except HeadgateError as error:
                said.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: len(dead.read(letters.broker, letters.orders)) >= 20)
        kafka.stop()
        # As long as the broker is away.
        time.sleep(2)
        kafka.start()
        thread.join(PATIENCE)
        assert said, "it hangs"
        # If it gave up, the next try goes on where it was.
        assert letters.redrive() == {"to_redrive": 120}
        assert sorted(letters.ids()) == list(range(120))
    finally:
        kafka.close()


def test_a_second_redrive_of_the_topic_ends_the_first_one(letters):
    letters.fail(100)
    first, second = threading.Event(), threading.Event()
    failed = []

    def pause(_seconds):
        first.set()
        assert second.wait(PATIENCE)

    def run():
        try:
            letters.redrive("r1", rate=20, pause=pause)
        except StepError as error:
            failed.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert first.wait(PATIENCE)
    done = letters.redrive("r2")
    second.set()
    thread.join(PATIENCE)
    assert failed and ("fenced" in failed[0] or "another run writes" in failed[0]), failed
    assert done == {"to_redrive": 80, "already_redriven": 20}
    assert sorted(letters.ids()) == list(range(100))


def test_a_large_topic_is_sampled_at_both_ends(letters):
    letters.fail(300, parts=[0, 2])
    found = letters.summary(40)
    assert (found.is_sample, found.read, found.offsets) == (True, 40, 300)
    assert letters.summary(300).read == 300
    assert not letters.summary().is_sample


def test_a_summary_groups_and_shows_no_content(letters):
    letters.fail(4)
    letters.fail(3, start=10, kind=dead.streams)
    dead.write(letters.broker, [{"topic": letters.dead, "value": b"Jane 42", "partition": 0}])
    found = letters.summary()
    assert found.reasons == {dead.CLASS: 4, "java.lang.IllegalStateException": 3, "unknown": 1}
    assert found.sources == {letters.orders: 7, "unknown": 1}
    assert found.targets == {letters.orders: 7}
    by_reason = {s.reason: s for s in found.samples}
    assert by_reason["unknown"].value == "xxxx 00"
    assert by_reason[dead.CLASS].value == '{"id": "0"}'


def test_the_undo_of_a_retry_topic_marks_its_records_as_not_redriven(letters):
    make_topic(letters.broker, letters.retry, 2)
    letters.fail(10)
    letters.redrive(reasons=("nothing",))
    letters.redrive("r2", to=letters.retry, targets={letters.retry: 2}, partitions=(0,))
    assert len(letters.ids(letters.retry)) == 5
    with Kafka(letters.broker) as kafka:
        forget(kafka, letters.dead, letters.ledger, letters.retry)
    assert letters.redrive("r3") == {"to_redrive": 10}


def test_the_undo_of_a_retry_topic_keeps_what_earlier_runs_have_redriven(letters):
    make_topic(letters.broker, letters.retry, 2)
    letters.fail(10)
    assert letters.redrive(partitions=(0,)) == {"to_redrive": 5, "not_selected": 5}
    again = letters.redrive("r2", to=letters.retry, targets={letters.retry: 2}, again=True)
    assert again == {"to_redrive": 10}
    marked = [m for m in dead.read(letters.broker, letters.retry) if "again" in dead.own_headers(m)]
    assert len(marked) == 5
    with Kafka(letters.broker) as kafka:
        for _ in range(2):
            forget(kafka, letters.dead, letters.ledger, letters.retry)
    assert letters.redrive("r3") == {"to_redrive": 5, "already_redriven": 5}
    assert sorted(letters.ids()) == list(range(10))


def test_a_retry_topic_with_records_of_another_dead_letter_topic_is_not_forgotten(letters):
    make_topic(letters.broker, letters.retry, 1)
    letters.fail(4)
    letters.redrive(to=letters.retry, targets={letters.retry: 1})
    with Kafka(letters.broker) as kafka:
        assert redriven_topics(kafka, letters.retry) == {letters.dead}
    strange = [f"{letters.dead}-eu-0-15", "no place", f"{letters.dead}-x-y"]
    headers = [[("headgate.redrive.from", place.encode())] for place in strange]
    dead.write(letters.broker, [{"topic": letters.retry, "headers": h} for h in headers])
    with Kafka(letters.broker) as kafka:
        assert redriven_topics(kafka, letters.retry) == {letters.dead, f"{letters.dead}-eu"}
        with pytest.raises(
            RefusedError, match=rf"also has records from dead letter topic {letters.dead}-eu"
        ):
            forget(kafka, letters.dead, letters.ledger, letters.retry)
        assert redriven_topics(kafka, "no-such-topic") == frozenset()
    assert letters.redrive("r2") == {"already_redriven": 4}


def test_without_an_authorizer_everybody_may_write(letters):
    with Kafka(letters.broker) as kafka:
        assert may_write(kafka, [letters.orders, "no-such-topic"]) == {
            letters.orders: True,
            "no-such-topic": None,
        }


def test_a_ledger_of_something_else_is_refused(letters):
    dead.write(letters.broker, [{"topic": letters.ledger.topic, "key": b"x", "value": b"y"}])
    with pytest.raises(StepError, match=r"record with the key b.x. was not written by Headgate"):
        letters.redrive()


def test_marks_are_kept_by_block():
    marks = Marks()
    for offset in (0, 7, 8, 4_095, 4_096, 2**40):
        marks.put(1, offset)
    assert all(marks.has(1, o) for o in (0, 7, 8, 4_095, 4_096, 2**40))
    assert not marks.has(1, 1) and not marks.has(0, 0)
    rows = dict(marks.rows())
    assert set(rows) == {b"1:0", b"1:1", f"1:{2**28}".encode()} and not marks.changed
    again = Marks()
    for key, value in rows.items():
        again.load(key, value)
    assert again.has(1, 4_095) and not again.has(1, 4_094)
    again.put(1, 4_095, redriven=False)
    assert not again.has(1, 4_095) and again.has(1, 8)


def test_an_empty_topic_is_done_at_once(letters):
    assert letters.redrive() == {}
    assert letters.ids() == []
    with Kafka(letters.broker) as kafka:
        assert sorted(read_progress(kafka, letters.ledger, "r1")) == [0, 1, 2]
        assert read_marks(kafka, "no-such-ledger").has(0, 0) is False
        transactional(kafka, letters.ledger)
