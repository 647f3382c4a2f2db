"""Which topics a twin run of Kafka Streams fills, and with what."""

from __future__ import annotations

import pytest

from headgate.errors import CaptureError
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka_streams.application import EntryPoint
from headgate.model.kafka_streams import (
    StreamsApplication,
    StreamsProcessor,
    StreamsSink,
    StreamsSource,
)
from headgate.usecases.rehearsal.one_version import Side
from headgate.usecases.rehearsal.twin_topics import inputs_of

PREFIX = "org.apache.kafka.common.serialization.Serdes$"
TEXT = {"default.key.serde": f"{PREFIX}StringSerde", "default.value.serde": f"{PREFIX}LongSerde"}


def app(*topics, pattern=None, sinks=(), operator="filter"):
    sources = [StreamsSource(processor=f"s-{t}", topics=(t,)) for t in topics]
    if pattern:
        sources.append(StreamsSource(processor="p", pattern=pattern))
    nodes = [
        StreamsProcessor(name=s.processor, kind="source", operator="source", subtopology=0,
                         successors=("next",))
        for s in sources
    ]  # fmt: skip
    after = StreamsProcessor(name="next", kind="processor", operator=operator, subtopology=0)
    written = tuple(StreamsSink(processor=f"k-{t}", topic=t) for t in sinks)
    return StreamsApplication(
        sources=tuple(sources), processors=(*nodes, after), sinks=written, described=True
    )


def inputs(before, after, *, settings=TEXT, serdes=None, sample=()):
    side = Side(what=EntryPoint("App", "topology"), jars=[], application_id="app",
                settings=settings)  # fmt: skip
    return inputs_of((before, after), (side, side), serdes or {}, sample)


def record(topic, partition=-1):
    return Record(topic, partition, -1, b"k", b"v")


def test_topics_of_both_versions_are_filled_but_not_what_either_writes():
    found = inputs(app("orders", sinks=["out"]), app("orders", "users", "out", sinks=["more"]))
    assert found.names == {"orders", "users"}
    assert found.outputs == {"out", "more"}


def test_the_default_serdes_say_what_to_generate_and_an_option_comes_first():
    found = inputs(app("orders", "users"), app("orders"), serdes={"users": "uuid:string"})
    assert {t.name: (t.key, t.value) for t in found.topics} == {
        "orders": ("string", "long"),
        "users": ("uuid", "string"),
    }


def test_only_topics_of_tables_get_deletions():
    tables, stream = (app("t", operator=word) for word in ("table_source", "filter"))
    assert inputs(tables, tables).topics[0].deletes
    assert not inputs(tables, stream).topics[0].deletes


def test_a_pattern_gets_a_topic_that_it_matches():
    assert inputs(app(pattern="orders-.*"), app(pattern="orders-.*")).names == {"orders-"}
    known = inputs(app("orders-eu"), app(pattern="orders-.*"))
    assert known.names == {"orders-eu"}
    with pytest.raises(CaptureError, match="derive a topic name"):
        inputs(app(pattern=r"\d{4}"), app(pattern=r"\d{4}"))


def test_a_sample_stands_for_serdes_and_partitions():
    one = app("orders", "users")
    found = inputs(one, one, settings={}, sample=[record("orders", 2), record("users")])
    assert [(t.name, t.partitions, t.sample) for t in found.topics] == [
        ("orders", 3, [(b"k", b"v")]),
        ("users", 3, [(b"k", b"v")]),
    ]


def test_without_serdes_or_a_sample_of_a_topic_it_asks():
    one = app("orders")
    with pytest.raises(CaptureError, match=r"type of the keys of topic orders.*--sample"):
        inputs(one, one, settings={})


def test_an_application_without_inputs_has_nothing_to_compare():
    with pytest.raises(CaptureError, match="neither version reads an input topic"):
        inputs(app(), app())
