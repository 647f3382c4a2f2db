"""The recorded pull requests: their files are whole, both versions of a change run from jars."""

import hashlib
import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"
RECORDER = CASES / "streams_fresh" / "recorder"
GROUPS = {
    "streams_pulls": "PullCases.java",
    "streams_pulls_later": "LaterCases.java",
    "streams_pulls_third": "ThirdCases.java",
    "streams_pulls_fourth": "FourthCases.java",
    "streams_pulls_fifth": "FifthCases.java",
    "streams_pulls_sixth": "SixthCases.java",
}


@pytest.mark.parametrize("group", GROUPS)
def test_each_recorded_file_is_as_its_checksum_says(group):
    pulls = CASES / group
    lines = [line.split("  ") for line in (pulls / "SHA256SUMS").read_text().splitlines()]
    found = {str(p.relative_to(pulls)) for p in pulls.rglob("*") if p.is_file()}
    assert {name for _, name in lines} == found - {"SHA256SUMS"}
    for digest, name in lines:
        assert hashlib.sha256((pulls / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("group", GROUPS)
def test_each_change_has_code_and_each_code_a_recorded_outcome(group):
    defined = re.findall(r'pull\("(\w+)"', (RECORDER / GROUPS[group]).read_text())
    recorded = [file.parent for file in sorted((CASES / group).glob("*/outcome.json"))]
    assert sorted(defined) == [folder.name for folder in recorded]
    for folder in recorded:
        told = json.loads((folder / "outcome.json").read_text())
        assert told["judged_by"] == "outputs" or told["notes"], folder.name
        assert told["outcome"] in ("resumes", "refuses", "silently_wrong"), folder.name


@pytest.fixture(scope="module")
def jars(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jars")
    script = [sys.executable, str(ROOT / "scripts" / "pull_jars.py"), str(folder)]
    subprocess.run([*script, "bank_volumes_put_first"], check=True, stdout=subprocess.DEVNULL)
    return {v: folder / f"bank_volumes_put_first-{v}.jar" for v in ("before", "after")}


@contextmanager
def running(jar, *, broker, state, prefix):
    path = f"{jar}:{streams_class_path()}"
    command = [java(), "-Xmx256m", "-XX:+UseSerialGC", f"-Dprefix={prefix}", "-cp", path]
    command += ["PullApplication", broker, str(state), f"{prefix}app"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def written(broker, topic, number):
    """Return the first rows of a topic once there are so many."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker, "group.id": "readers-of-pulls"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    rows, deadline = [], time.monotonic() + PATIENCE
    while len(rows) < number and time.monotonic() < deadline:
        row = consumer.poll(0.5)
        if row is not None and not row.error():
            rows.append(f"{row.key().decode()}={row.value().decode()}")
    consumer.close()
    return rows


@pytest.mark.kafka
@pytest.mark.long
def test_both_versions_run_and_do_what_was_recorded(jars, broker, kafka_admin, unique, tmp_path):
    from confluent_kafka import Producer
    from confluent_kafka.admin import NewTopic

    prefix = unique("pull") + "_"
    topics = [NewTopic(prefix + n, 1, 1) for n in ("trades", "trade-counts", "volumes")]
    for future in kafka_admin.create_topics(topics).values():
        future.result()
    producer = Producer({"bootstrap.servers": broker})
    application = {"broker": broker, "state": tmp_path, "prefix": prefix}
    counts = prefix + "trade-counts"

    producer.produce(prefix + "trades", "abc,10", "t1")
    producer.produce(prefix + "trades", "xyz,1", "t1")
    assert producer.flush(30) == 0
    with running(jars["before"], **application):
        assert written(broker, counts, 2) == ["t1=1", "t1=2"]
    producer.produce(prefix + "trades", "abc,4", "t1")
    assert producer.flush(30) == 0
    with running(jars["after"], **application):
        assert written(broker, counts, 3)[2:] == ["t1=1"], "the new version's count begins again"
        assert written(broker, prefix + "volumes", 1) == ["abc=4"]
