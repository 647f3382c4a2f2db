"""Reset the offsets of a large group: the calls, the plan from the shell, plan and apply.

The peers: the fewest calls of the same admin client that read what there is and commit what is to
be; and Kafka's own tools as a user starts them, `kafka-consumer-groups --reset-offsets` and
`kafka-streams-application-reset`. Both need the same broker, which has nothing else to do.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from harness import Row, least_of

from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import alter_offsets, read_offsets
from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.process.jars import broker_class_path
from headgate.store import open_store
from headgate.store.worker_slots import Slot
from headgate.usecases.context import open_context

COMMAND = str(Path(sys.executable).with_name("headgate"))
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
STREAMS_TOOL = "org.apache.kafka.tools.StreamsResetter"
SMALL, LARGE = 1_000, 5_000
TIMES = 5
# Of a few dozen milliseconds the least of five is as noisy as they are: with so many turns it is
# the same within a tenth.
CALL_TIMES = 30
# As in the command line and in the worker.
NEW_OBJECTS = 50_000


def rows() -> Iterator[Row]:
    """Yield the calls of 1,000 partitions, the plan, plan and apply, and those of 5,000."""
    with (
        tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder,
        running_broker(Path(folder) / "kafka") as broker,
    ):
        groups = {count: _group(broker, count) for count in (SMALL, LARGE)}
        yield _calls(broker, groups[SMALL], SMALL)
        team = _registered(Path(folder), broker, groups)
        yield _plan(team, broker, groups[SMALL])
        yield _streams_plan(team, broker)
        with _worker(team):
            yield _applied(team, broker, groups[SMALL])
            yield _large(team, groups[LARGE])


def _group(broker: str, count: int) -> str:
    """Make a topic of so many partitions, and a group that committed offset 0 of each."""
    name = f"bench-{count}"
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(name, count, 1)])[name].result(120)
    deadline = time.monotonic() + 300
    while True:
        try:
            _commit(admin, name, count)
            return name
        except Exception:
            # Leaders of a new topic, and a coordinator that nobody asked for before.
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _commit(admin: AdminClient, name: str, count: int) -> None:
    parts = [TopicPartition(name, n, 0) for n in range(count)]
    request = ConsumerGroupTopicPartitions(name, parts)
    answer = admin.alter_consumer_group_offsets([request])[name].result(60)
    failed = [p.error for p in answer.topic_partitions if p.error]
    if failed:
        raise RuntimeError(str(failed[0]))


def _calls(broker: str, group: str, count: int) -> Row:
    gc.set_threshold(NEW_OBJECTS)
    targets = {(group, n): (0, None, None) for n in range(count)}
    with Kafka(broker) as kafka:
        admin = AdminClient({"bootstrap.servers": broker})

        def ours() -> None:
            kafka.describe_group(group)
            kafka.topics([group])
            alter_offsets(kafka, group, targets)
            assert len(read_offsets(kafka, group)) == count

        def bare() -> None:
            request = ConsumerGroupTopicPartitions(group)
            admin.describe_consumer_groups([group])[group].result(30)
            admin.list_consumer_group_offsets([request])[group].result(30)
            parts = [TopicPartition(group, n) for n in range(count)]
            for spec in (OffsetSpec.earliest(), OffsetSpec.latest()):
                found = admin.list_offsets(dict.fromkeys(parts, spec))
                for future in found.values():
                    future.result(30)
            _commit(admin, group, count)
            admin.list_consumer_group_offsets([request])[group].result(30)

        for work in (ours, bare):
            work()
        mine, peer = least_of((ours, bare), CALL_TIMES)
    return Row(
        subject=f"calls that read, move and prove {count:,} partitions",
        ours=mine,
        peer=peer,
        peer_is="the same by bare admin calls",
        goal="within twice the bare calls",
        met=mine <= 2 * peer,
    )


def _registered(folder: Path, broker: str, groups: dict[int, str]) -> Path:
    """Write a registry with both groups; both are always stopped."""
    lines = [f'[kafka]\nbootstrap_servers = "{broker}"\n']
    for group in groups.values():
        lines.append(
            f'[[pipeline]]\nname = "{group}"\nengine = "consumer-group"\ngroup = "{group}"\n'
            f'topics = ["{group}"]\n[pipeline.commands]\nstatus = "exit 3"\n'
        )
    (folder / "headgate.toml").write_text("\n".join(lines))
    return folder


def _started(folder: Path, *argv: str, code: int = 0) -> Callable[[], object]:
    # An installed command has its bytecode, also where Python is told to write none.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}

    def run() -> None:
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == code, f"{argv}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    return run


def _tool(broker: str, group: str, how: str) -> Sequence[str]:
    more = ("--group", group, "--reset-offsets", "--to-earliest", "--topic", group, how)
    return ("java", "-cp", broker_class_path(), TOOL, "--bootstrap-server", broker, *more)


def _compared(works: Sequence[Callable[[], object]]) -> list[float]:
    for work in works:
        work()
    return least_of(works, TIMES)


def _plan(folder: Path, broker: str, group: str) -> Row:
    ours = _started(folder, COMMAND, "plan", "from-scratch", group, "-o", "plan.json")
    peer = _started(folder, *_tool(broker, group, "--dry-run"))
    best, other = _compared((ours, peer))
    return Row(
        subject=f"headgate plan, {SMALL:,} partitions, from the shell",
        ours=best,
        peer=other,
        peer_is="kafka-consumer-groups --dry-run",
        goal="3 times faster than Kafka's tool",
        met=best * 3 <= other,
    )


def _streams_plan(folder: Path, broker: str) -> Row:
    topic = f"bench-{SMALL}"
    words = ("--application-id", topic, "--bootstrap-server", broker, "--input-topics", topic)
    ours = _started(folder, COMMAND, "reset", *words)
    tool = ("java", "-cp", broker_class_path(), STREAMS_TOOL, *words, "--dry-run")
    best, other = _compared((ours, _started(folder, *tool)))
    return Row(
        subject=f"headgate reset, {SMALL:,} partitions, a preview",
        ours=best,
        peer=other,
        peer_is="kafka-streams-application-reset --dry-run",
        goal="3 times faster than Kafka's tool",
        met=best * 3 <= other,
    )


@contextmanager
def _worker(folder: Path) -> Iterator[None]:
    config = str(folder / "headgate.toml")
    with (folder / "worker.log").open("wb") as log:
        argv = [sys.executable, "-m", "headgate.worker.main", "--config", config]
        worker = subprocess.Popen(argv, cwd=folder, stdout=log, stderr=log)
        try:
            with closing(open_store(open_context(config).store_url)) as store:
                while Slot(store.database).is_free():
                    assert worker.poll() is None, (folder / "worker.log").read_text()
                    time.sleep(0.2)
            yield
        finally:
            worker.terminate()
            worker.wait(60)


def _through_worker(folder: Path, group: str) -> Callable[[], object]:
    plan = _started(folder, COMMAND, "plan", "from-scratch", group, "-o", "plan.json")
    apply = _started(folder, COMMAND, "apply", "plan.json", "--format", "json")

    def run() -> None:
        plan()
        apply()

    return run


def _applied(folder: Path, broker: str, group: str) -> Row:
    peer = _started(folder, *_tool(broker, group, "--execute"))
    best, other = _compared((_through_worker(folder, group), peer))
    return Row(
        subject=f"headgate plan and apply through a running worker, {SMALL:,} partitions",
        ours=best,
        peer=other,
        peer_is="kafka-consumer-groups --execute",
        goal="no slower than Kafka's tool",
        met=best <= other,
    )


def _large(folder: Path, group: str) -> Row:
    work = _through_worker(folder, group)
    work()
    # As often as the others: a broker that has just begun gets faster from turn to turn.
    (best,) = least_of((work,), TIMES)
    moved = json.loads((folder / "plan.json").read_text())["steps"]
    assert any(len(s["details"].get("offsets", ())) == LARGE for s in moved)
    return Row(
        subject=f"headgate plan and apply through a running worker, {LARGE:,} partitions",
        ours=best,
        goal="under 3 s",
        met=best < 3,
    )
