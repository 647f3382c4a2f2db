"""`headgate.watch` in a real session: topics, places that are away, Spark Connect, the end."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import HERE, environment, running

import headgate
from headgate.usecases.activity.check_pipelines import check_pipelines
from headgate.usecases.context import open_context
from headgate.usecases.evidence.query_rows import queries_of
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_version import gather, read_version
from support.ports import free_port
from support.waiting import PATIENCE, until


def start(spark, folder: Path, name: str):
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "1.json").write_text('{"k": "a"}\n')
    rows = spark.readStream.schema("k string").json(str(folder / "in"))
    writer = rows.groupBy("k").count().writeStream.format("noop").outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / name)).queryName(name)
    return writer.trigger(processingTime="1 second").start()


@pytest.fixture
def stopped(spark):
    yield
    for query in spark.streams.active:
        query.stop()


def records(folder: Path) -> list[dict]:
    return [json.loads(x) for f in sorted(folder.glob("*.jsonl")) for x in f.open()]


@pytest.mark.spark
@pytest.mark.kafka
def test_a_topic_tells_the_same_and_feeds_the_console(spark, broker, topic, tmp_path, stopped):
    name = topic("watch", partitions=2)
    with headgate.watch(spark, f"kafka:{name}", bootstrap_servers=broker) as watch:
        assert watch.problem is None
        query = start(spark, tmp_path, "to-topic")
        query.processAllAvailable()
        config = tmp_path / "headgate.toml"
        config.write_text(
            f'[kafka]\nbootstrap_servers = "{broker}"\n[[pipeline]]\nname = "p"\n'
            f'engine = "spark"\nwatch = "kafka:{name}"\nquery = "to-topic"\n'
            f'checkpoint = "to-topic"\n'
        )
        context = open_context(str(config))
        place = f"kafka:{name}"
        until(lambda: read_progress([place], context=context, query="to-topic"))
        assert check_pipelines(context)["p"].state == "running"
        query.stop()
    until(lambda: queries_of(gather([place], context=context))[0].state == "stopped")
    version = read_version([place], context=context, query="to-topic")
    assert version.query_id == query.id and version.sources[0].format == "json"
    assert check_pipelines(context)["p"].state == "stopped"


@pytest.mark.spark
def test_a_query_goes_on_while_kafka_is_away(spark, tmp_path, stopped, caplog):
    away = f"127.0.0.1:{free_port()}"
    with caplog.at_level(logging.WARNING, logger="headgate.watch"):
        watch = headgate.watch(spark, "kafka:nowhere", bootstrap_servers=away)
        query = start(spark, tmp_path, "kafka-away")
        query.processAllAvailable()
        until(lambda: caplog.records)
        begun = time.monotonic()
        watch.close()
        assert time.monotonic() - begun < 20
    assert query.isActive and query.exception() is None
    assert len({r.getMessage() for r in caplog.records}) == len(caplog.records)


@pytest.mark.spark
@pytest.mark.long
def test_a_query_goes_on_while_the_folder_is_a_file_and_is_told_once_it_is_none(
    spark, tmp_path, stopped
):
    place = tmp_path / "watch"
    place.write_text("in the way")
    with headgate.watch(spark, place, most_waiting=5):
        query = start(spark, tmp_path, "in-the-way")
        query.processAllAvailable()
        for number in range(2, 6):
            (tmp_path / "in" / f"{number}.json").write_text('{"k": "b"}\n')
            query.processAllAvailable()
        place.unlink()
        until(lambda: place.is_dir() and records(place))
        query.stop()
        until(lambda: records(place)[-1]["event"] == "terminated")
    assert sum(r.get("dropped", 0) for r in records(place)) > 0


@pytest.mark.spark
@pytest.mark.parametrize(
    ("to", "says"),
    [("kafka:t", "bootstrap_servers"), ("kafka:", "pass kafka:TOPIC and bootstrap_servers")],
)
def test_a_wrong_place_is_a_sentence_and_no_exception(spark, to, says):
    assert says in headgate.watch(spark, to).problem


@pytest.mark.spark
def test_a_watch_is_one_listener_and_ends(spark, tmp_path, stopped):
    first = headgate.watch(spark, tmp_path / "watch")
    assert headgate.watch(spark, str(tmp_path / "watch")) is first
    query = start(spark, tmp_path, "once")
    query.processAllAvailable()
    until(lambda: any(r["event"] == "progress" for r in records(tmp_path / "watch")))
    first.close()
    first.close()
    told = records(tmp_path / "watch")
    assert [r["event"] for r in told].count("started") == 1
    assert told[-1] == {**told[-1], "event": "closed", "reason": "the watch was closed"}
    (tmp_path / "in" / "2.json").write_text('{"k": "b"}\n')
    query.processAllAvailable()
    assert records(tmp_path / "watch") == told
    again = headgate.watch(spark, tmp_path / "watch")
    assert again is not first
    until(lambda: any(r.get("joined") for r in records(tmp_path / "watch")))
    again.close()


@pytest.mark.spark
def test_a_connect_client_is_watched_and_ends_at_once(tmp_path):
    port = free_port()
    with running("connect_server.py", port, tmp_path, log=tmp_path / "server.out") as (_, said):
        assert said == "ready"
        argv = [sys.executable, str(HERE / "connect_client.py"), str(port), str(tmp_path)]
        client = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert client.stdout.readline() == b"ends\n", client.communicate()[1].decode()[-3000:]
        # The interpreter's own end takes a moment on a busy machine; a hang takes for ever.
        assert client.wait(PATIENCE) == 0
        client.communicate()
    told = records(tmp_path / "watch")
    assert {"started", "progress", "plan", "terminated"} <= {r["event"] for r in told}
    assert {r.get("session") for r in told if r["event"] == "started"} == {"connect"}
    version = read_version([str(tmp_path / "watch")])
    assert version.name == "remote" and [o.name for o in version.stateful] == ["stateStoreSave"]
