"""How long a large checkpoint takes: 10,000 batches, 10 stateful operators of 200 partitions.

The first peer is the least that anybody can do: list both logs and read the files that we read,
and parse nothing. The second is Spark's state reader, for what we read of the state: its data
source `state-metadata`, in a session that is warm. Reading all batches is measured beside it:
there the peer reads the same files and decodes their JSON.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Row, least_of

from headgate.gateway.checkpoint.files import read_checkpoint_files
from headgate.gateway.files.evidence_files import find
from headgate.usecases.evidence.read_batches import read_batches
from headgate.usecases.evidence.read_version import read_version

BATCHES, OPERATORS, PARTITIONS, VERSIONS = 10_000, 10, 200, 10
GOAL = 1.0
PROVIDER = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
CONF = {
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.streaming.stateStore.providerClass": PROVIDER,
}
SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [{"name": "k", "type": "string", "nullable": True, "metadata": {}}],
    }
)


def rows() -> Iterator[Row]:
    """Yield the whole checkpoint beside both peers, and the listing of all its batches."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        checkpoint = Path(folder) / "checkpoint"
        make(checkpoint)
        yield from _whole(checkpoint)
        yield from _batches(checkpoint)


def _whole(checkpoint: Path) -> Iterator[Row]:
    place = find(str(checkpoint))
    assert place is not None
    files = [checkpoint / path for path in read_checkpoint_files(place)[0]]
    ours, least = least_of(
        (lambda: read_version([str(checkpoint)]), lambda: _listed_and_read(checkpoint, files)), 5
    )
    subject = f"checkpoint of {BATCHES:,} batches, {OPERATORS} operators x {PARTITIONS} partitions"
    yield Row(
        subject=subject,
        ours=ours,
        peer=least,
        goal=f"under {GOAL:g} s",
        met=ours < GOAL,
        peer_is="list both logs, read the same files, parse nothing",
    )
    spark = _spark(checkpoint)
    (theirs,) = least_of((spark,), 3)
    yield Row(
        subject="the same, beside Spark",
        ours=ours,
        peer=theirs,
        peer_is="Spark's state-metadata, the operators alone, warm",
    )


def _listed_and_read(checkpoint: Path, files: list[Path]) -> int:
    for log in ("offsets", "commits"):
        os.listdir(checkpoint / log)  # noqa: PTH208
    return sum(len(f.read_bytes()) for f in files)


def _spark(checkpoint: Path) -> Callable[[], object]:
    """Return a warm session's reading of the operators' metadata."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    return lambda: session.read.format("state-metadata").load(str(checkpoint)).collect()


def _batches(checkpoint: Path) -> Iterator[Row]:
    files = [checkpoint / log / str(n) for log in ("offsets", "commits") for n in range(BATCHES)]
    ours, decoded = least_of(
        (lambda: read_batches(str(checkpoint)), lambda: [_decoded(f) for f in files]), 3
    )
    yield Row(
        subject=f"list {BATCHES:,} batches",
        ours=ours,
        peer=decoded,
        peer_is="read the same files, decode their JSON",
    )


def _decoded(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def make(checkpoint: Path) -> None:
    """Write a checkpoint of that size as Spark lays it out, its `.crc` files included."""
    for log in ("offsets", "commits", "sources/0"):
        (checkpoint / log).mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"6c2a5e0e-0000-4000-8000-000000000000"}')
    (checkpoint / "sources/0/0").write_text('v1\n{"orders":{"0":0}}')
    for n in range(BATCHES):
        head = {"batchWatermarkMs": 0, "batchTimestampMs": 1_700_000_000_000 + n, "conf": CONF}
        offsets = json.dumps({"orders": {str(p): n for p in range(12)}})
        _write(checkpoint / "offsets", str(n), f"v1\n{json.dumps(head)}\n{offsets}")
        _write(checkpoint / "commits", str(n), 'v1\n{"nextBatchWatermarkMs":0}')
    for operator in range(OPERATORS):
        _operator(checkpoint / "state" / str(operator), operator)


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / f".{name}.crc").write_bytes(b"crc\0")


def _operator(folder: Path, number: int) -> None:
    (folder / "_metadata").mkdir(parents=True)
    info = {
        "operatorInfo": {"operatorId": number, "operatorName": "stateStoreSave"},
        "stateStoreInfo": [
            {"storeName": "default", "numColsPrefixKey": 0, "numPartitions": PARTITIONS}
        ],
    }
    (folder / "_metadata/metadata").write_text(f"v1\n{json.dumps(info)}")
    for partition in range(PARTITIONS):
        inner = folder / str(partition)
        inner.mkdir()
        for version in range(VERSIONS):
            (inner / f"{BATCHES - version}.delta").touch()
    (folder / "0/_metadata").mkdir()
    (folder / "0/_metadata/schema").write_bytes(_text("v2") + _chunk(SCHEMA) + _chunk(SCHEMA))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _chunk(text: str) -> bytes:
    return struct.pack(">i", 1) + _text(text)
