"""`headgate up --demo` for real: it comes up with live data, goes down whole, and goes on later."""

import json
import signal
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from headgate.gateway.process.child_process import descendants
from headgate.local.demo.pipelines import PIPELINES
from headgate.store import open_store
from headgate.usecases.context import open_context
from support.running_stack import Stack
from support.waiting import PATIENCE

pytestmark = pytest.mark.stack
NAMES = [p.name for p in PIPELINES]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("a home") / "demo"


@pytest.fixture
def started(home):
    stack = Stack(home)
    yield stack
    if stack.process.poll() is None:
        stack.end(signal.SIGTERM)


def orders(kafka: str) -> int:
    """Return how many orders were written."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "counts-only"})
    ends = [consumer.get_watermark_offsets(TopicPartition("orders", n), timeout=10) for n in (0, 1)]
    consumer.close()
    return sum(end for _, end in ends)


def batch(home: Path, name: str) -> int:
    file = home / "pipelines" / name / "evidence" / "progress.json"
    return json.loads(file.read_text())["batchId"] if file.exists() else -1


def is_known(home: Path, name: str) -> bool:
    """Return whether the worker has stored what a pipeline is."""
    with closing(open_store(open_context(str(home / "headgate.toml")).store_url)) as store:
        return store.versions.newest(name) is not None


def topology(home: Path, name: str) -> dict:
    argv = [sys.executable, "-m", "headgate.cli.main", "--config", str(home / "headgate.toml")]
    done = subprocess.run([*argv, "topology", name, "--format", "json"], capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_it_comes_up_lives_and_goes_down_by_ctrl_c(started, home):
    console, kafka = started.address("Console"), started.address("Kafka")
    assert console.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(console, timeout=10) as page:
        assert b"<title>" in page.read()
    started.wait(started.works)
    first = orders(kafka)
    started.wait(lambda: orders(kafka) > first)

    started.wait(lambda: is_known(home, NAMES[0]))
    seen = topology(home, NAMES[0])
    assert {"orders", "payments"} <= set(seen["topics"]["in"])
    assert seen["topics"]["out"] == ["city-revenue"]

    again = subprocess.run(
        [sys.executable, "-m", "headgate.cli.main", "up", "--demo", "--home", str(home)],
        capture_output=True,
        text=True,
    )
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == 1 and "already runs" in again.stderr

    # The first one is stopped and started below.
    for name in NAMES[1:]:
        stops(started, name)
        starts(started, name)
    assert "ended unexpectedly" not in started.output.read_text()
    # A second batch, so that going on differs from beginning anew.
    started.wait(lambda: batch(home, NAMES[0]) > 0)
    assert started.end(signal.SIGINT) == 0
    assert started.control("status", NAMES[0]).returncode == 3
    assert started.control("start", NAMES[0]).returncode == 1


def stops(stack: Stack, name: str) -> None:
    assert stack.control("status", name).returncode == 0
    assert stack.control("stop", name).returncode == 0
    assert stack.control("status", name).returncode == 3


def starts(stack: Stack, name: str) -> None:
    assert stack.control("start", name).returncode == 0
    assert stack.control("status", name).returncode == 0


@pytest.mark.long
def test_it_goes_on_where_it_was_and_a_refused_version_says_why(started, home):
    metadata = (home / "checkpoints" / NAMES[0] / "metadata").read_text()
    before = batch(home, NAMES[0])
    assert before > 0
    started.wait(lambda: batch(home, NAMES[0]) > before)
    assert (home / "checkpoints" / NAMES[0] / "metadata").read_text() == metadata
    started.wait(started.works)

    stops(started, NAMES[0])
    refused = started.control(
        "start", NAMES[0], "--entry-point", "headgate.local.demo.orders_by_city:v2"
    )
    assert refused.returncode == 1
    assert "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" in refused.stderr
    starts(started, NAMES[0])
    started.end(signal.SIGKILL)


@pytest.mark.long
def test_it_comes_up_after_it_was_killed_and_ends_while_it_starts(started, home):
    started.address("Kafka")
    started.wait(lambda: len(descendants(started.process.pid)) > 6)
    assert started.end(signal.SIGTERM) == 0


def test_a_taken_port_is_said(tmp_path):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        stack = Stack(tmp_path / "home", "--port", str(taken.getsockname()[1]))
        assert stack.process.wait(PATIENCE) == 2
    assert "is in use" in stack.output.read_text()
    assert not (tmp_path / "home" / "kafka").exists()
