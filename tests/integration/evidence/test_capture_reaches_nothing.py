"""A capture beside a socket that would notice it, and an address that nobody answers at."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from headgate.errors import CaptureError
from headgate.gateway.spark.capture import capture_query
from headgate.usecases.evidence.read_version import read_version
from support.waiting import until

pytestmark = pytest.mark.spark

MODULE = """
HERE = "127.0.0.1:{port}"
# Reserved for documentation: packets to it are lost, a connection waits for minutes.
AWAY = "192.0.2.1:9092"


def kafka(reader, servers, topic):
    reader = reader.format("kafka").option("kafka.bootstrap.servers", servers)
    return reader.option("subscribe", topic).load().selectExpr("cast(value as string) v")


def everything(spark):
    first = kafka(spark.readStream, HERE, "orders")
    second = kafka(spark.readStream, AWAY, "payments")
    lines = spark.readStream.format("socket").option("host", "127.0.0.1")
    lines = lines.option("port", {port}).load().selectExpr("value as v")
    table = kafka(spark.read, HERE, "customers")
    rows = first.union(second).union(lines).join(table, "v")

    def keep(batch, number):
        kafka(spark.read, HERE, "inside").write.format("noop").save()

    rows.groupBy("v").count().writeStream.foreachBatch(keep).outputMode("update").start()
    spark.streams.awaitAnyTermination()


def named(spark):
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    orders = kafka(spark.readStream.name("orders"), HERE, "orders")
    paid = kafka(spark.readStream.name("paid"), AWAY, "payments")
    writer = orders.union(paid).writeStream.option("checkpointLocation", "s3a://bucket/ck")
    return writer.queryName("to a table").toTable("shop.paid")


def catalog(spark):
    return spark.readStream.table("shop.orders").writeStream


def topic(spark):
    writer = kafka(spark.readStream, AWAY, "orders").selectExpr("v as value").writeStream
    return writer.format("kafka").option("kafka.bootstrap.servers", HERE).option("topic", "out")
"""


@pytest.fixture
def noticed() -> Iterator[tuple[int, list[object]]]:
    """A listening port, and everybody who ever connected to it."""
    seen: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, who = server.accept()
                except OSError:
                    return
                seen.append(who)
                connection.close()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], seen


def captured(function: str, tmp_path, port: int):
    (tmp_path / "blocked.py").write_text(MODULE.replace("{port}", str(port)))
    into = tmp_path / "into"
    into.mkdir()
    begun = time.monotonic()
    capture_query(f"blocked:{function}", into, importable=(tmp_path,))
    assert time.monotonic() - begun < 120, "something was waited for"
    return read_version([str(into)])


def test_the_socket_notices_whoever_connects(noticed):
    port, seen = noticed
    socket.create_connection(("127.0.0.1", port)).close()
    until(lambda: seen)


def test_every_source_and_a_foreach_batch(noticed, tmp_path):
    port, seen = noticed
    version = captured("everything", tmp_path, port)
    assert seen == []
    assert [(s.format, s.topics) for s in version.sources] == [
        ("kafka", ("orders",)),
        ("kafka", ("payments",)),
        ("socket", ()),
    ]
    assert version.sink.format == "foreachBatch" and version.output_mode == "Update"
    assert [o.name for o in version.stateful] == ["stateStoreSave"]


@pytest.mark.long
def test_named_sources_into_a_table(noticed, tmp_path):
    port, seen = noticed
    version = captured("named", tmp_path, port)
    assert seen == []
    assert [(s.name, s.topics) for s in version.sources] == [
        ("orders", ("orders",)),
        ("paid", ("payments",)),
    ]
    assert version.sink.target == "shop.paid" and version.name == "to a table"


@pytest.mark.long
def test_a_topic_as_sink(noticed, tmp_path):
    port, seen = noticed
    version = captured("topic", tmp_path, port)
    assert seen == [] and (version.sink.format, version.sink.target) == ("kafka", "out")


@pytest.mark.long
def test_a_table_of_a_catalog_is_asked_for_in_a_sentence(noticed, tmp_path):
    port, seen = noticed
    with pytest.raises(CaptureError, match="twin runs have no access to a catalog"):
        captured("catalog", tmp_path, port)
    assert seen == []
