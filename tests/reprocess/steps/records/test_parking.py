"""Records backed up and put back on a real broker: exact, also when killed, or what can't be."""

import itertools
import time
from dataclasses import asdict

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headgate.errors import RefusedError, StepError
from headgate.gateway.kafka import copy_records, topic_changes
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka.topic_changes import delete_records
from headgate.gateway.kafka.write_records import write_in_order
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.records.back_up_records import BackUpRecords, backup_topic_name
from headgate.reprocess.steps.topics.delete_records import DeleteRecords
from headgate.reprocess.steps.topics.delete_topics import DeleteTopics, topic_shapes
from headgate.store.step_records import step_records

pytestmark = pytest.mark.kafka
# An hour ago: records that are much older are deleted by a topic's own retention.
OLD = int(time.time() - 3600) * 1000


@pytest.fixture
def kafka_lab(lab, broker):
    here = lab()
    here.registry = Registry(path=here.registry.path, bootstrap_servers=broker)
    return here


@pytest.fixture
def write(broker):
    """Write (partition, key, value, headers, timestamp); with `commit` in a transaction."""

    def write(topic, records, *, commit=None, **settings):
        transactional = {} if commit is None else {"transactional.id": f"to-{topic}"}
        producer = Producer({"bootstrap.servers": broker, **transactional, **settings})
        if transactional:
            producer.init_transactions(30)
            producer.begin_transaction()
        failed = []
        for partition, key, value, headers, at in records:
            producer.produce(
                topic,
                key=key,
                value=value,
                partition=partition,
                headers=headers,
                timestamp=at,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        if not transactional:
            assert producer.flush(30) == 0
        elif commit:
            producer.commit_transaction(30)
        else:
            producer.flush(30)
            producer.abort_transaction(30)
        assert not failed

    return write


@pytest.fixture
def read(broker):
    """All records by partition, each as (key, value, headers, timestamp), with a plain consumer."""

    def read(topic):
        consumer = Consumer(
            {"bootstrap.servers": broker, "group.id": "reader", "enable.partition.eof": True}
        )
        parts = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        found = {number: [] for number in parts}
        consumer.assign(
            [
                TopicPartition(
                    topic, n, consumer.get_watermark_offsets(TopicPartition(topic, n))[0]
                )
                for n in parts
            ]
        )
        ended = set()
        while ended != set(parts):
            message = consumer.poll(10)
            assert message is not None
            if message.error():
                ended.add(message.partition())
            else:
                row = (message.key(), message.value(), message.headers(), message.timestamp()[1])
                found[message.partition()].append(row)
        consumer.close()
        return found

    return read


def odd(partition, offset=0):
    """Records that a careless copy changes."""
    return [
        (partition, b"k", b"v", [], OLD + 5 + offset),
        (partition, None, None, [], OLD + 4),
        (partition, b"", b"", [("h", b""), ("h", None), ("z", b"\xff"), ("h", b"1")], OLD + 9),
        (partition, b"tombstone", None, [("é", b"")], OLD + 1),
        (partition, b"\xff\x00", bytes(range(256)) * 20, [], OLD),
        (partition, b"no time", b"v", [], -1),
    ]


def plan_of(lab, *topics, kind=DeleteTopics):
    inspector = lab.applier()
    facts = topic_shapes(inspector.kafka.shapes(topics))
    steps = (BackUpRecords(topics=facts), kind(topics=facts, backed_up=True))
    return Plan(
        scenario="decommission",
        pipeline=None,
        steps=steps,
        preconditions={"cluster_id": inspector.kafka.cluster_id()},
    )


def undo_of(lab, run, plan):
    undo = lab.undo(run, plan)
    assert undo.can_apply, undo.blockers
    return undo


def undo(lab, run, plan):
    made = undo_of(lab, run, plan)
    lab.execute(lab.enqueue(made, undo_of=run), made, undo_of=run)
    return made


CONFIGS = (
    {},
    {"cleanup.policy": "compact", "segment.bytes": "1048576"},
    {"message.timestamp.type": "LogAppendTime", "compression.type": "zstd"},
    {"retention.ms": "86400000", "message.timestamp.before.max.ms": "1000000"},
)


@pytest.mark.parametrize("configs", CONFIGS, ids=lambda c: "-".join(c) or "plain")
def test_a_deleted_topic_comes_back_record_by_record(kafka_lab, topic, write, read, configs):
    name = topic("orders", partitions=3)
    write(name, [*odd(0), *odd(2), *odd(0, 7)], **{"compression.type": "zstd"})
    kafka_lab.applier().kafka.configure_topic(name, configs)
    if "message.timestamp.type" in configs:
        write(name, odd(1))
    before, shape = read(name), kafka_lab.applier().kafka.shapes([name])[name]
    plan = plan_of(kafka_lab, name)
    run = kafka_lab.enqueue(plan)
    kafka_lab.execute(run, plan)
    assert not kafka_lab.applier().kafka.shapes([name])
    backed_up = read(backup_topic_name(run, name))
    assert {n: [(k, v, t) for k, v, _, t in rows] for n, rows in backed_up.items()} == {
        n: [(k, v, t) for k, v, _, t in rows] for n, rows in before.items()
    }
    made = undo(kafka_lab, run, plan)
    assert any("get new offsets" in risk for risk in made.risks)
    now = kafka_lab.applier().kafka.shapes([name])[name]
    assert (now.partitions, now.configs) == (shape.partitions, shape.configs)
    assert now.configs == configs
    assert read(name) == before
    assert not kafka_lab.applier().kafka.shapes([backup_topic_name(run, name)])


def test_only_what_is_committed_is_backed_up(kafka_lab, topic, write, read):
    name = topic("paid", partitions=1)
    write(name, odd(0), commit=True)
    write(name, [(0, b"aborted", b"x", [], OLD)], commit=False)
    write(name, [(0, b"last", b"x", [], OLD)], commit=True)
    before = read(name)
    assert len(before[0]) == len(odd(0)) + 1
    plan = plan_of(kafka_lab, name)
    run = kafka_lab.enqueue(plan)
    kafka_lab.execute(run, plan)
    undo(kafka_lab, run, plan)
    assert read(name) == before


def test_an_open_transaction_is_waited_for(kafka_lab, broker, topic, write):
    name = topic("open", partitions=1)
    write(name, odd(0))
    producer = Producer({"bootstrap.servers": broker, "transactional.id": f"open-{name}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"pending")
    producer.flush(30)
    plan = plan_of(kafka_lab, name)
    with pytest.raises(RefusedError, match=f"a transaction is open on {name}"):
        kafka_lab.execute(kafka_lab.enqueue(plan), plan)
    producer.abort_transaction(30)
    kafka_lab.execute(kafka_lab.enqueue(plan), plan)


def test_what_producers_go_on_writing_is_no_open_transaction(kafka_lab, topic, write, monkeypatch):
    name = topic("busy", partitions=1)
    write(name, odd(0))
    asked = topic_changes._ends

    def ends_while_records_come(*args):
        found = asked(*args)
        write(name, odd(0))
        return found

    monkeypatch.setattr(topic_changes, "_ends", ends_while_records_come)
    assert kafka_lab.applier().kafka.topics_in_transaction([name]) == ()


def test_a_record_larger_than_the_usual_limit_is_backed_up_and_restored(
    kafka_lab, topic, write, read
):
    name = topic("large", partitions=1, config={"max.message.bytes": "9000000"})
    # One that fits only compressed, and one that does not fit the cluster's usual limit.
    write(
        name,
        [(0, b"a", b"x" * 20_000_000, [], OLD), (0, b"b", bytes(range(256)) * 9000, [], OLD)],
        **{"compression.type": "zstd", "message.max.bytes": 30_000_000},
    )
    before = read(name)
    plan = plan_of(kafka_lab, name)
    run = kafka_lab.enqueue(plan)
    kafka_lab.execute(run, plan)
    undo(kafka_lab, run, plan)
    assert read(name) == before


def test_an_emptied_topic_is_refilled_in_place_of_what_was_written_since(
    kafka_lab, topic, write, read
):
    name = topic("out", partitions=2, config={"retention.ms": "-1"})
    write(name, [*odd(0), *odd(1), *odd(0)])
    before, shape = read(name), kafka_lab.applier().kafka.shapes([name])
    plan = plan_of(kafka_lab, name, kind=DeleteRecords)
    run = kafka_lab.enqueue(plan)
    kafka_lab.execute(run, plan)
    assert read(name) == {0: [], 1: []}
    write(name, odd(1))
    made = undo(kafka_lab, run, plan)
    assert f"the undo deletes up to 6 records of {name} written after the run" in made.risks
    assert read(name) == before and kafka_lab.applier().kafka.shapes([name]) == shape


def test_what_was_not_backed_up_is_not_undoable_and_says_so(kafka_lab, topic, write):
    name = topic("gone", partitions=1)
    write(name, odd(0))
    facts = topic_shapes(kafka_lab.applier().kafka.shapes([name]))
    plan = Plan(scenario="from-scratch", pipeline=None, steps=(DeleteRecords(topics=facts),))
    assert not plan.steps[0].undoable
    run = kafka_lab.enqueue(plan)
    kafka_lab.execute(run, plan)
    records = {
        p: r.as_record() for p, r in step_records(kafka_lab.store.journal.entries(run)).items()
    }
    refused = build_undo(Past(run=run, plan=plan, records=records), kafka_lab.applier())
    assert not refused.can_apply


def test_what_comes_after_the_backup_is_not_deleted(kafka_lab, topic, write, read):
    name = topic("live", partitions=2)
    write(name, odd(0))
    plan = plan_of(kafka_lab, name)
    run = kafka_lab.enqueue(plan)
    with pytest.raises(RefusedError, match=rf"arrived after the backup: {name}\[1\]"):
        writes = kafka_lab.applier(run)
        for step in plan.steps:
            was = step.bind(writes)
            step.check(writes)
            step.apply(writes, was)
            step.verify(writes, was)
            write(name, odd(1))
    assert len(read(name)[0]) == 6 and len(read(name)[1]) == 6


@pytest.mark.long
@pytest.mark.parametrize("kind", [DeleteRecords, DeleteTopics])
def test_back_up_and_restore_survive_a_crash_at_every_point(kafka_lab, topic, write, read, kind):
    name = topic("crash", partitions=2, config={"retention.ms": "-1"})
    write(name, [*odd(0), *odd(1)])
    before = read(name)
    crashed = True
    # Every third point: a kill at every step is for `make faults`.
    for at in itertools.count(1, 3):
        if not crashed:
            break
        plan = plan_of(kafka_lab, name, kind=kind)
        run = kafka_lab.enqueue(plan)
        crashed = kafka_lab.crash(run, plan, at)
        kafka_lab.execute(run, plan)
        assert record_counts(read(backup_topic_name(run, name))) == record_counts(before)
        made = undo_of(kafka_lab, run, plan)
        back = kafka_lab.enqueue(made, undo_of=run)
        crashed |= kafka_lab.crash(back, made, at, undo_of=run)
        kafka_lab.execute(back, made, undo_of=run)
        assert read(name) == before
    assert at > 12


@pytest.mark.long
@pytest.mark.slow
def test_what_a_crash_left_half_deleted_comes_back_and_the_rest_stays(
    kafka_lab, topic, write, read
):
    names = sorted(topic(word, partitions=1) for word in ("first", "second"))
    for name in names:
        write(name, odd(0))
    half = 0
    for at in itertools.count(0, 3):
        before = {name: read(name) for name in names}
        shapes, logs = (
            kafka_lab.applier().kafka.shapes(names),
            kafka_lab.applier().kafka.topics(names),
        )
        plan = plan_of(kafka_lab, *names)
        run = kafka_lab.enqueue(plan)
        if not kafka_lab.crash(run, plan, at):
            break
        kept = [
            n for n, s in kafka_lab.applier().kafka.shapes(names).items() if s.id == shapes[n].id
        ]
        half += len(kept) == 1
        made = kafka_lab.undo(run, plan)
        if made.steps:
            assert made.can_apply, made.blockers
            kafka_lab.execute(kafka_lab.enqueue(made, undo_of=run), made, undo_of=run)
        now = kafka_lab.applier().kafka.shapes(names)
        assert {n: s.configs for n, s in now.items()} == {n: s.configs for n, s in shapes.items()}
        assert {name: read(name) for name in names} == before
        # One that was never deleted is the same topic, with the same offsets.
        assert {n: now[n].id for n in kept} == {n: shapes[n].id for n in kept}
        again = kafka_lab.applier().kafka.topics(kept)
        assert {n: again[n].partitions for n in kept} == {n: logs[n].partitions for n in kept}
    assert half and at > 8


def record_counts(found):
    return {n: len(rows) for n, rows in found.items()}


@pytest.fixture
def half(kafka_lab, topic, write, broker):
    """A topic of 30 records, and a backup topic that has the first eleven of them."""
    name = topic("half", partitions=1)
    write(name, [(0, str(n).encode(), b"v", [], OLD + n) for n in range(30)])
    to = topic("backup", partitions=1)
    with Kafka(broker) as kafka:
        copy_records.back_up_records(kafka, [Span(topic=name, partition=0, begin=0, end=11)], to)
        yield kafka, Span(topic=name, partition=0, begin=0, end=30), to


def test_a_copy_goes_on_behind_what_is_backed_up(half):
    kafka, span, to = half
    with pytest.raises(StepError, match=r"record 11 .* is missing in the copy"):
        copy_records.verify_backup(kafka, [span], to)
    copy_records.back_up_records(kafka, [span], to)
    copy_records.back_up_records(kafka, [span], to)
    assert copy_records.verify_backup(kafka, [span], to)[0].records == 30


def test_what_was_compacted_meanwhile_is_no_gap(half):
    kafka, span, to = half
    delete_records(kafka, {(span.topic, 0): 20})
    copy_records.back_up_records(kafka, [span], to)
    # 0 to 10 from the first try, and 20 to 29: what went in between nobody can back up.
    assert copy_records.verify_backup(kafka, [span], to)[0].records == 21


def test_a_copy_that_is_not_exact_is_found(half, write):
    kafka, span, to = half
    copy_records.back_up_records(kafka, [Span(**{**asdict(span), "begin": 11, "end": 20})], to)
    location = f"{span.topic} 0 20".encode()
    write(to, [(0, b"20", b"other", [(copy_records.WHERE, location)], OLD + 20)])
    with pytest.raises(StepError, match=r"the copy of record 20 .* differs"):
        copy_records.verify_backup(kafka, [Span(**{**asdict(span), "end": 21})], to)


def test_a_record_that_was_copied_twice_is_found(half, write):
    kafka, span, to = half
    location = f"{span.topic} 0 10".encode()
    write(to, [(0, b"10", b"v", [(copy_records.WHERE, location)], OLD + 10)])
    with pytest.raises(StepError, match="copied twice"):
        copy_records.verify_backup(kafka, [Span(**{**asdict(span), "end": 11})], to)


def test_a_strange_record_in_the_backup_topic_is_found(half, write):
    kafka, span, to = half
    write(to, [(0, b"k", b"v", [], OLD)])
    with pytest.raises(StepError, match="isn't a backed-up record"):
        copy_records.back_up_records(kafka, [span], to)


def test_a_time_that_the_client_cannot_write_is_refused_not_changed(half):
    kafka, _, to = half
    zero = Record(topic=to, partition=0, offset=7, key=None, value=b"v", timestamp=0)
    with pytest.raises(StepError, match=r"record 7 .* has timestamp 0"):
        write_in_order(kafka, [zero], lambda _: None)


def test_steps_read_back_as_they_were_written(kafka_lab, topic):
    name = topic("one")
    for step in plan_of(kafka_lab, name).steps:
        assert load_step(step.action, step.details()) == step
    span = Span(topic=name, partition=0, begin=3, end=4)
    step = BackUpRecords(topics=plan_of(kafka_lab, name).steps[0].topics, only=(span,))
    assert load_step(step.action, step.details()) == step
    assert f"{name}[0] offset 3" in step.describe()
