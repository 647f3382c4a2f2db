"""What tests share: one real broker, one real Spark session, Kafka's clients, the browser."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.waiting import PATIENCE, until

# How long one example takes says more about the machine than about the code. One commit draws the
# same examples each time, so that its tests pass always or never; `make test-long` draws others.
settings.register_profile("headgate", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("headgate")

# A test's Java lives for seconds: the second compiler would cost more than it gives back.
JVM = "-XX:+UseSerialGC -XX:-UsePerfData -XX:TieredStopAtLevel=1"
CHROMIUM = "HEADGATE_CHROMIUM"
_BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)

# Members of streams groups hear of their tasks by heartbeats, every 5 s unless configured, and one
# that is killed in the midst of a rebalance counts as a member for 45 s.
_BROKER = {
    "group.streams.min.session.timeout.ms": "10000",
    "group.streams.session.timeout.ms": "10000",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.min.heartbeat.interval.ms": "200",
    "group.streams.heartbeat.interval.ms": "200",
    # Topics are compacted at once where a test asks for it, not after a quarter of a minute.
    "log.cleaner.backoff.ms": "500",
}

# Modules that are mostly one long journey. Where modules are spread over processes, these go first:
# the short ones fill what is left. Tests of one module stay in their order.
_LONG = (
    "integration/spark/test_restore_points",
    "integration/rehearsal/test_twin_spark",
    "integration/spark_data/test_late_batch_table",
    "integration/spark_data/test_compare_output_process",
    "integration/spark_data/test_compare_output",
    "spark_jobs/data/late/test_late_batch_keys",
    "integration/spark_data/test_historical_range",
    "integration/spark_data/test_late_batch",
    "integration/spark_data/test_stream_range",
    "integration/spark_data/test_ab",
    "gateway/kafka_streams/test_rehearse_streams",
    "gateway/kafka_streams/test_twin_streams",
    "browser/test_whole_job",
    "integration/local/test_stack",
    "integration/spark/test_offline_upgrade",
    "integration/spark/test_spark_skip",
    "reprocess/steps/records/test_parking",
    "integration/runs/test_worker",
    "integration/spark/test_open_state",
    "integration/spark/test_state_moves",
    "gateway/remote/test_remote_spark",
    "integration/kafka_streams/test_reset_streams",
    "integration/kafka_streams/test_streams_scenarios",
    "integration/spark/test_spark_rewind",
    "spark_driver/test_live_control",
    "integration/evidence/test_capture",
    "integration/rehearsal/test_rehearse",
    "integration/spark/test_spark_reset",
    "integration/evidence/test_capture_reaches_nothing",
    "spark_driver/test_live_driver",
    "browser/test_console",
    "reprocess/scenarios/decommission/test_decommission",
    "trial/test_trial",
)


# What a run's files may need of memory at the most, in bytes; elsewhere the disk has them.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 6 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the process before anything is collected."""
    _pass_on_ctrl_c()
    _keep_files_in_memory()
    # Nothing of what is collected is garbage: looking for some takes a seventh of the time.
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for garbage again, but not among the tests themselves."""
    gc.freeze()
    gc.enable()


def _pass_on_ctrl_c() -> None:
    """Hear Ctrl-C also in the background: what a shell starts there ignores it, with all below."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_files_in_memory() -> None:
    """Keep the tests' files in memory where it has room.

    Runs are safe because they wait for the disk at each step, and there the tests of crashes spend
    most of their time. In memory the calls are the same.
    """
    if "PYTEST_DEBUG_TEMPROOT" in os.environ or not os.access(_IN_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_IN_MEMORY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long modules before all others, and let tests marked long take an hour each."""
    ranks = {f"tests/{name}.py": rank for rank, name in enumerate(_LONG)}
    items.sort(key=lambda item: ranks.get(item.nodeid.partition("::")[0], len(ranks)))
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(3600))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once what failed: a long run need not be awaited to look into it."""
    if report.failed:
        _note_failed([report.nodeid])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Add what could not even be collected: `make test` shows all that failed at its end."""
    _note_failed(report.nodeid for report in terminalreporter.getreports("error"))


def _note_failed(names: Iterable[str]) -> None:
    """Add tests to the file TEST_FAILURES, each once."""
    place = os.environ.get("TEST_FAILURES")
    # Each of several processes would say what the one that started them says, too.
    if not place or "PYTEST_XDIST_WORKER" in os.environ:
        return
    with Path(place).open("a+") as file:
        file.seek(0)
        known = set(file.read().splitlines())
        file.writelines(f"{name}\n" for name in dict.fromkeys(names) if name not in known)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Kafka broker on loopback; its `host:port`."""
    from headgate.gateway.kafka_broker.local_broker import running_broker

    with running_broker(tmp_path_factory.mktemp("kafka"), settings=_BROKER) as address:
        _wait_for_groups(address)
        yield address


def _wait_for_groups(address: str) -> None:
    """Return once groups are served: their topic is made when somebody asks for the first."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({"bootstrap.servers": address, "group.id": "none"})

    def answers() -> bool:
        with suppress(KafkaException):
            return bool(consumer.committed([TopicPartition("none", 0)], timeout=5))
        return False

    until(answers, "the broker has no coordinator for groups")
    consumer.close()


@pytest.fixture(scope="session")
def kafka_admin(broker: str) -> Any:
    """An `AdminClient` of the broker."""
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": broker})


@pytest.fixture(scope="session")
def unique() -> Callable[[str], str]:
    """Make names of topics and groups that no other test uses."""
    return lambda word="t": f"{word}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def topic(kafka_admin: Any, unique: Callable[[str], str]) -> Callable[..., str]:
    """Create a topic with a unique name: `topic("orders", partitions=2, config={...})`."""
    from confluent_kafka.admin import NewTopic

    def create(
        word: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str:
        name = unique(word)
        new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config or {})
        kafka_admin.create_topics([new])[name].result()
        # A busy broker has made it a moment before it tells of it.
        until(
            lambda: name in kafka_admin.list_topics(timeout=10).topics,
            f"the broker never told of {name}",
        )
        return name

    return create


@pytest.fixture(scope="session")
def produce(broker: str) -> Iterator[Callable[..., None]]:
    """Write records and wait for the broker: `produce(topic, [value, (key, value)], partition=0)`.

    A value or key is text, bytes or None.
    """
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker, "linger.ms": 5})

    def write(topic: str, records: Iterable[Any], *, partition: int = -1) -> None:
        for record in records:
            key, value = record if isinstance(record, tuple) else (None, record)
            producer.produce(topic, value=value, key=key, partition=partition)
            producer.poll(0)
        assert producer.flush(20) == 0

    yield write
    # It would look for its broker to the end, and complain.
    producer.close()


@pytest.fixture
def consume(broker: str, unique: Callable[[str], str]) -> Callable[..., list[Any]]:
    """Read `count` records of a topic from its beginning, or fewer if none follows in `seconds`."""
    from confluent_kafka import Consumer

    def read(topic: str, count: int, *, seconds: float = PATIENCE, group: str = "") -> list[Any]:
        config = {
            "bootstrap.servers": broker,
            "group.id": group or unique("reader"),
            "auto.offset.reset": "earliest",
            "enable.auto.commit": bool(group),
        }
        consumer, found, deadline = Consumer(config), [], time.monotonic() + PATIENCE
        consumer.subscribe([topic])
        try:
            while len(found) < count and time.monotonic() < deadline:
                message = consumer.poll(0.5)
                # A message is as long as its value: a tombstone counts as false.
                if message is not None and message.error() is None:
                    found.append(message)
                    deadline = time.monotonic() + seconds
        finally:
            consumer.close()
        return found

    return read


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One real Spark session for all tests: `local[2]`, Kafka's connector, two partitions."""
    from pyspark.sql import SparkSession

    from headgate.local.demo.run_query import spark_jars

    # Python's processes beside Spark's need what this one has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.jars": ",".join(map(str, spark_jars())),
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": JVM,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("headgate-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The machine's own browser: HEADGATE_CHROMIUM, else the first that is on PATH."""
    given = os.environ.get(CHROMIUM)
    found = given or next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if not found:
        pytest.fail(f"no Chromium here: install `chromium`, or set {CHROMIUM} to a browser")
    return found
