"""Commands of the docs for consumer groups and Kafka Streams, run on a real broker."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import pytest
import test_commands_run as seeded
import test_documents as docs
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition

from headgate.cli.main import headgate
from support import dead_letter_topics

pytestmark = pytest.mark.kafka

LINES = [line for line in seeded.lines() if seeded.is_run_on_a_broker(line)]
# What a command exits with, if not with 0, and what it prints then.
EXPECTED = {
    # Its topology has no repartition topic: more partitions would give wrong results.
    "headgate plan repartition shop ": (3, "Add a repartition() before the state"),
}
TOML = """\
[kafka]
bootstrap_servers = "BROKER"
[[pipeline]]
name = "billing"
engine = "consumer-group"
group = "billing-ID"
topics = ["orders-ID"]
[pipeline.commands]
stop = "rm running"
start = "touch running"
status = "test -e running || exit 3"
[[pipeline]]
name = "billing-v2"
engine = "consumer-group"
group = "billing-v2-ID"
topics = ["orders-ID"]
[pipeline.commands]
stop = "true billing-v2"
start = 'true "$HEADGATE_OUTPUT_TOPIC"'
status = "exit 3"
[[pipeline]]
name = "shop"
engine = "kafka-streams"
group = "shop-ID"
topics = ["orders-ID", "clicks-ID"]
evidence = ["described.txt"]
[pipeline.commands]
stop = "true"
start = "true"
status = "exit 3"
clean = "true"
"""
DESCRIBED = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders-ID, clicks-ID])
      --> count
    Processor: count (stores: [totals])
      --> KTABLE-TOSTREAM-0000000003
      <-- KSTREAM-SOURCE-0000000000
    Processor: KTABLE-TOSTREAM-0000000003 (stores: [])
      --> KSTREAM-SINK-0000000004
      <-- count
    Sink: KSTREAM-SINK-0000000004 (topic: totals-ID)
      <-- KTABLE-TOSTREAM-0000000003
"""
# Topics and groups of the docs, whose names other tests on the broker may use, too.
NAMES = re.compile(
    r"(?<=-topics )orders(?:,clicks)?|orders-dlq|(?<=-topic )bills|(?<=application-id )shop"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory, broker, kafka_admin, produce) -> Path:
    """Two groups and a stopped Kafka Streams application, each with committed offsets."""
    from confluent_kafka.admin import NewTopic

    folder, unique = tmp_path_factory.mktemp("docs"), uuid.uuid4().hex[:8]
    names = ("orders", "clicks", "orders-dlq", "bills", "totals")
    topics = [*(f"{name}-{unique}" for name in names), f"shop-{unique}-totals-changelog"]
    made = kafka_admin.create_topics([NewTopic(t, num_partitions=2) for t in topics])
    for done in made.values():
        done.result()
    for name, text in (("headgate.toml", TOML), ("described.txt", DESCRIBED)):
        (folder / name).write_text(text.replace("BROKER", broker).replace("ID", unique))
    orders, clicks, dead, *others = topics
    for topic in (orders, clicks, *others):
        produce(topic, [("k", "v"), ("l", "w")])
    (folder / "id").write_text(unique)
    dead_letter_topics.fail_records(broker, orders, dead, 3)
    for group, read in (
        (f"billing-{unique}", (orders,)),
        (f"billing-v2-{unique}", (orders,)),
        (f"shop-{unique}", (orders, clicks)),
    ):
        member = Consumer({"bootstrap.servers": broker, "group.id": group})
        offsets = [TopicPartition(t, p, 0) for t in read for p in (0, 1)]
        member.commit(offsets=offsets, asynchronous=False)
        member.close()
    return folder


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_docs_runs_on_a_broker(home, broker, monkeypatch, line):
    monkeypatch.chdir(home)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    unique = (home / "id").read_text()
    code, said = next((e for start, e in EXPECTED.items() if line.startswith(start)), (0, ""))
    run = NAMES.sub(lambda name: ",".join(f"{n}-{unique}" for n in name[0].split(",")), line)
    # Only a running group is upgraded online.
    running = home / "running"
    running.touch() if " online-upgrade " in run else running.unlink(missing_ok=True)
    run = run.replace("localhost:9092", broker).replace("/etc/headgate/", "")
    if "--restore-point " in run:
        made = CliRunner().invoke(headgate, ["restore-points", "billing", "--create"])
        point = re.search(r"\d{8}-\d{6}-\w{6}", made.output)
        assert point, made.output
        run = run.replace("20261125-190500-a1b2c3", point[0])
    ended = CliRunner().invoke(headgate, docs.words(run))
    assert (ended.exit_code, said in ended.output) == (code, True), ended.output
