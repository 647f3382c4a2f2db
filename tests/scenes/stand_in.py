"""A pipeline that writes down what it does: `stand_in.py group|query` with its arguments.

    stand_in.py group BOOTSTRAP OUT TOPIC... --group GROUP
    stand_in.py query BOOTSTRAP OUT TOPIC... --checkpoint FOLDER

Both read their topics and append to OUT, one JSON line each: `{"starts": pid, "at": {part: offset},
"query": id}` once at the start, `{"part", "offset"}` for each record, `{"commits": {part: offset}}`
after each commit. A `query` keeps its position as Spark does: a batch is written to `offsets`, then
read, then written to `commits`; one without a commit is read again under its number. Its first
batch begins at the source's own first offsets, where there are some. SIGTERM ends both.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition

GOING = [True]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["group", "query"])
    parser.add_argument("bootstrap")
    parser.add_argument("out")
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--group")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--instance", help="a static member's id")
    parser.add_argument("--poison", default="", help="PART:OFFSET of a record that it dies of")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: GOING.clear())
    (_group if given.kind == "group" else _query)(given)


class Out:
    """The file of what was done; a line is there whole or not at all."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def add(self, **line: Any) -> None:
        os.write(self._handle, (json.dumps(line) + "\n").encode())


def _consumer(given: argparse.Namespace, group: str) -> Consumer:
    static = {"group.instance.id": given.instance} if given.instance else {}
    return Consumer(
        {
            "bootstrap.servers": given.bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 6000,
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.max.ms": 1000,
            "log_level": 0,
            **static,
        }
    )


def _group(given: argparse.Namespace) -> None:
    out, started = Out(given.out), False
    consumer = _consumer(given, given.group)
    consumer.subscribe(given.topics)
    while GOING:
        messages = [m for m in consumer.consume(200, 0.2) if m.error() is None]
        if not started and consumer.assignment():
            out.add(starts=os.getpid(), query=None, at=_committed(consumer))
            started = True
        healthy = _before(messages, given.poison)
        if healthy and not _take(consumer, out, healthy):
            # Not committed: read again, as after a rebalance.
            break
        if len(healthy) < len(messages):
            out.add(dies_of=given.poison)
            break
    consumer.close()


def _before(messages: list[Any], poison: str) -> list[Any]:
    """Return the messages without the poisonous one and what came behind it in its partition."""
    part, _, offset = poison.rpartition(":")
    its = [m for m in messages if f"{m.topic()}-{m.partition()}" == part]
    if not any(m.offset() == int(offset) for m in its):
        return messages
    return [m for m in messages if m not in its or m.offset() < int(offset)]


def _take(consumer: Consumer, out: Out, messages: list[Any]) -> bool:
    for m in messages:
        out.add(part=f"{m.topic()}-{m.partition()}", offset=m.offset())
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    try:
        offsets = [TopicPartition(t, p, o) for (t, p), o in ends.items()]
        consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException as error:
        out.add(failed=str(error))
        return False
    out.add(commits={f"{t}-{p}": o for (t, p), o in ends.items()})
    return True


def _committed(consumer: Consumer) -> dict[str, int | None]:
    while True:
        try:
            found = consumer.committed(consumer.assignment(), timeout=10)
            return {f"{p.topic}-{p.partition}": p.offset if p.offset >= 0 else None for p in found}
        except KafkaException:
            time.sleep(0.3)


def _query(given: argparse.Namespace) -> None:
    out, checkpoint = Out(given.out), given.checkpoint
    consumer = _consumer(given, f"query-{uuid.uuid4().hex[:8]}")
    metadata = checkpoint / "metadata"
    for log in ("offsets", "commits"):
        (checkpoint / log).mkdir(parents=True, exist_ok=True)
    if not metadata.exists():
        _write(metadata, json.dumps({"id": str(uuid.uuid4())}))
    done = _newest(checkpoint / "commits")
    at = _logged(checkpoint, done) or _first(checkpoint) or _begins(consumer, given.topics)
    shown = {f"{t}-{p}": o for t, parts in at.items() for p, o in parts.items()}
    out.add(starts=os.getpid(), query=json.loads(metadata.read_text())["id"], at=shown)
    batch = done + 1
    while GOING:
        to = _logged(checkpoint, batch) or _ends(consumer, given.topics)
        if to != at:
            _log_batch(checkpoint / "offsets" / str(batch), to)
            if not _read(consumer, out, at, to, given.poison):
                # Not committed: done over at the next start, up to the same offsets.
                out.add(dies_of=given.poison)
                break
            _write(checkpoint / "commits" / str(batch), 'v1\n{"nextBatchWatermarkMs":0}')
            at, batch = to, batch + 1
            out.add(commits={f"{t}-{p}": o for t, ps in at.items() for p, o in ps.items()})
        time.sleep(0.3)
    consumer.close()


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    draft.write_text(text)
    draft.rename(path)


def _log_batch(path: Path, to: dict[str, dict[str, int]]) -> None:
    head = {"batchWatermarkMs": 0, "batchTimestampMs": int(time.time() * 1000), "conf": {}}
    _write(path, f"v1\n{json.dumps(head)}\n{json.dumps(to)}")


def _newest(log: Path) -> int:
    return max((int(p.name) for p in log.iterdir() if p.name.isdigit()), default=-1)


def _first(checkpoint: Path) -> dict[str, dict[str, int]] | None:
    """Return the source's first offsets, which Spark takes where no batch is logged."""
    path = checkpoint / "sources" / "0" / "0"
    return json.loads(path.read_text().splitlines()[1]) if path.exists() else None


def _logged(checkpoint: Path, batch: int) -> dict[str, dict[str, int]] | None:
    path = checkpoint / "offsets" / str(batch)
    return json.loads(path.read_text().splitlines()[2]) if path.exists() else None


def _begins(consumer: Consumer, topics: list[str]) -> dict[str, dict[str, int]]:
    return _watermarks(consumer, topics, 0)


def _ends(consumer: Consumer, topics: list[str]) -> dict[str, dict[str, int]]:
    return _watermarks(consumer, topics, 1)


def _watermarks(consumer: Consumer, topics: list[str], side: int) -> dict[str, dict[str, int]]:
    while True:
        try:
            return {
                t: {
                    str(n): consumer.get_watermark_offsets(TopicPartition(t, n), timeout=10)[side]
                    for n in sorted(consumer.list_topics(t, timeout=10).topics[t].partitions)
                }
                for t in topics
            }
        except KafkaException:
            time.sleep(0.3)


def _read(
    consumer: Consumer, out: Out, at: dict[str, Any], to: dict[str, Any], poison: str
) -> bool:
    """Read from `at` up to `to`, also through an outage of the broker; False at the poison."""
    wanted = {(t, int(p)): o for t, parts in to.items() for p, o in parts.items()}
    place = {part: at.get(part[0], {}).get(str(part[1]), 0) for part in wanted}
    consumer.assign([TopicPartition(t, p, o or OFFSET_BEGINNING) for (t, p), o in place.items()])
    while any(place[part] < end for part, end in wanted.items()):
        for m in consumer.consume(200, 0.2):
            part = (m.topic(), m.partition())
            if m.error() is None and place[part] <= m.offset() < wanted[part]:
                if f"{part[0]}-{part[1]}:{m.offset()}" == poison:
                    return False
                out.add(part=f"{part[0]}-{part[1]}", offset=m.offset())
                place[part] = m.offset() + 1
    consumer.unassign()
    return True


if __name__ == "__main__":
    main()
