"""`Resettable`, a real Kafka Streams application, and its results computed directly."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from support.waiting import PATIENCE

SOURCE = Path(__file__).parents[1] / "gateway/kafka_streams/Resettable.java"
MINUTE = 60_000
# Enough for a small application on a machine that does other things, too.
JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")

# One key and time (ms) a record: late ones within the grace, ones beyond it, duplicates.
HISTORY = (
    *(("a", 0), ("b", 1_000), ("a", 61_000), ("a", 30_000), ("b", 1_000), ("c", 125_000)),
    *(("a", 59_000), ("a", 70_000), ("b", 190_000), ("b", 100_000), ("a", 61_000)),
    *(("c", 185_000), ("a", 250_000), ("b", 129_000), ("b", 131_000), ("c", 251_000)),
)


def compiled(folder: Path) -> str:
    """Compile the application; returns its class path.

    Kafka's jars come first: so their classes can be read from an archive (`class_archives.py`).
    """
    tool = ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-d", str(folder))
    subprocess.run([java(), *tool, "-cp", streams_class_path(), str(SOURCE)], check=True)
    return f"{streams_class_path()}:{folder}"


def argv(path: str, kind: str, broker: str, **settings: object) -> list[str]:
    """Return the command line; settings are written with `_` for dots."""
    words = [f"{key.replace('_', '.')}={value}" for key, value in settings.items()]
    return [java(), *JVM, "-cp", path, "Resettable", kind, broker, *words]


def commands(words: list[str], state: Path) -> dict[str, str]:
    """Return the registered commands of an application, run in the registry's folder."""
    runs = "grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat app.pid)/status"
    return {
        "start": f"nohup {shlex.join(words)} > app.log 2>&1 & echo $! > app.pid",
        "stop": "[ -e app.pid ] || exit 0; kill $(cat app.pid) 2>/dev/null;"
        f" while {runs}; do sleep 0.1; done",
        "status": f"[ -e app.pid ] && {runs} && exit 0 || exit 3",
        "clean": f"rm -rf {shlex.quote(str(state))}",
    }


def versioned(words: list[str], state: Path) -> dict[str, str]:
    """Return the commands of one whose kind stands in the file `kind`, which `deploy` changes.

    The file `pause`, which its setting `pause` names, holds it.
    """
    found = commands(words, state)
    runs, until = found["status"].removesuffix(" && exit 0 || exit 3"), "do sleep 0.1; done"
    return {
        **found,
        "start": found["start"].replace(" KIND ", " $(cat kind) "),
        "status": f"{runs} || exit 3; grep -qs paused pause.state && exit 4; exit 0",
        "pause": f"touch pause; until grep -qs paused pause.state; {until}",
        "resume": f"rm -f pause; until grep -qs runs pause.state; {until}",
        "deploy": "echo marked > kind",
        "rollback": "echo rekeyed > kind",
        "notify": 'echo "$HEADGATE_MESSAGE" >> told',
    }


def evidence(folder: Path, kind: str, application: str) -> str:
    """Return a folder with a kind's topology, which the application has described in `folder`."""
    found = folder / f"{kind}-version"
    found.mkdir(exist_ok=True)
    (found / "topology.txt").write_text((folder / f"{kind}.txt").read_text())
    (found / "config.json").write_text(json.dumps({"application.id": application}))
    return str(found)


def produce(broker: str, topic: str, records: Iterable[tuple[str, int]]) -> None:
    """Write one record for each key and time to partition 0; the value is the key, too."""
    from confluent_kafka import Producer

    base = base_time()
    producer = Producer({"bootstrap.servers": broker})
    for key, at in records:
        producer.produce(topic, key=key, value=key, partition=0, timestamp=base + at)
    assert producer.flush(30) == 0


def produce_by_key(broker: str, topic: str, records: Iterable[tuple[str, int]]) -> None:
    """Write one record for each key and time to the partition that Java's clients give the key."""
    from confluent_kafka import Producer

    base = base_time()
    producer = Producer({"bootstrap.servers": broker, "partitioner": "murmur2_random"})
    for key, at in records:
        producer.produce(topic, key=key, value=key, timestamp=base + at)
    assert producer.flush(30) == 0


@cache
def base_time() -> int:
    """Return a whole minute, two hours before the day of the process's first call.

    A test asks for it several times, and may last past midnight.
    """
    return (int(time.time()) // 86_400) * 86_400_000 - 2 * 60 * MINUTE


def read(broker: str, topic: str, since: int = 0, *, part: int = 0) -> list[tuple[str, str, int]]:
    """Return key, value and time of every record of a partition from an offset on."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker, "group.id": "reader-of-no-group"})
    there = TopicPartition(topic, part, since)
    consumer.assign([there])
    _, end = consumer.get_watermark_offsets(there, timeout=20)
    found: list[tuple[str, str, int]] = []
    deadline = time.monotonic() + PATIENCE
    while since + len(found) < end and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            words = [(w or b"").decode() for w in (message.key(), message.value())]
            found.append((words[0], words[1], message.timestamp()[1]))
    consumer.close()
    return found


def windowed(records: Iterable[tuple[str, str, int]]) -> list[tuple[str, str]]:
    """Return what the windowed application writes, in order, when it begins with these records."""
    counts: Counter[tuple[str, int]] = Counter()
    written, now = [], 0
    for key, _, at in records:
        now, start = max(now, at), at - at % MINUTE
        if start + MINUTE > now - MINUTE:
            counts[key, start] += 1
            written.append((f"{key}@{start}", str(counts[key, start])))
    return written


def rekeyed(records: Iterable[tuple[str, str, int]]) -> dict[str, list[str]]:
    """Return what the rekeyed application writes by key, in order."""
    totals = Counter(key for key, _, _ in records)
    return {key: [str(n) for n in range(1, count + 1)] for key, count in totals.items()}
