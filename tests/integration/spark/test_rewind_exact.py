"""A checkpoint that went back holds, row by row, the state of a query that stopped there."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.rewind_copy import copy_to_batch
from headgate.gateway.checkpoint.rewind_facts import read_rewind
from headgate.gateway.spark.read_state import read_state
from support.file_hashes import hashes
from support.waiting import PATIENCE

pytestmark = [pytest.mark.spark]
STATE = "spark.sql.streaming.stateStore."
PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
ROCKSDB = {f"{STATE}providerClass": f"{PROVIDERS}RocksDBStateStoreProvider"}
CHANGELOG = ROCKSDB | {f"{STATE}rocksdb.changelogCheckpointing.enabled": "true"}
KINDS = {
    "hdfs": {f"{STATE}providerClass": f"{PROVIDERS}HDFSBackedStateStoreProvider"},
    "rocksdb": ROCKSDB,
    "rocksdb-changelog": CHANGELOG,
    "rocksdb-ids": CHANGELOG | {f"{STATE}checkpointFormatVersion": "2"},
}
# Snapshots come soon, so that one of a later version is left behind by the rewind.
QUICK = {f"{STATE}minDeltasForSnapshot": "2", f"{STATE}maintenanceInterval": "300ms"}
SCHEMA = "k string, v long, t timestamp"
# Each file is one batch. Late, duplicate and disordered rows in all.
STOP, ALL = 3, 6


def rows_of(number: int, *, fixed: bool = False) -> list[dict[str, object]]:
    """The rows of one input file; `fixed` is what a repaired producer would have written."""
    minute = [number, number - 2, number, number + 1, 0][:: -1 if number % 2 else 1]
    value = 1000 if fixed else 1
    return [
        {"k": f"k{(number + n) % 3}", "v": value * (n + 1), "t": f"2026-01-01T00:{m:02d}:00Z"}
        for n, m in enumerate(max(m, 0) for m in (*minute, number))
    ]


def write(folder: Path, numbers: range, *, fixed: bool = False) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        text = "\n".join(json.dumps(row) for row in rows_of(number, fixed=fixed))
        file = folder / f"{number:02d}.json"
        file.write_text(text)
        os.utime(file, (1_760_000_000 + number, 1_760_000_000 + number))


@pytest.fixture(scope="module", autouse=True)
def quick_maintenance(spark):
    """How often stores are looked after is what a session's first query asked for.

    That may be another test's, a minute. Stopped, it starts again with the next query. (Never in
    between: Spark waits up to five minutes there for threads that wait for it.)
    """
    getattr(spark._jvm, "org.apache.spark.sql.execution.streaming.state.StateStore").stop()


# The other providers take a minute each.
SHORT = {"rocksdb-changelog"}
MARKED = [kind if kind in SHORT else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]


@pytest.fixture(params=MARKED)
def conf(request, spark):
    """The session with one provider's settings, as it was afterwards."""
    settings = KINDS[request.param] | QUICK | {"spark.sql.shuffle.partitions": "2"}
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield request.param
    for key, value in before.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def run(spark, place: Path) -> None:
    """Do every file that is there, one a batch, and stop."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(place / "in"))
    counted = rows.withWatermark("t", "2 minutes").groupBy("k").agg({"v": "sum", "*": "count"})
    query = (
        counted.writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(place / "ck"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    _wait_until_still(place / "ck" / "state")


def _wait_until_still(folder: Path) -> None:
    """A session that lives on writes snapshots of what it has loaded for a while."""
    names, still = None, 0
    # Nothing says when it has written the last one: two seconds without any.
    deadline = time.monotonic() + PATIENCE
    while still < 8:
        assert time.monotonic() < deadline, "snapshots keep coming"
        time.sleep(0.25)
        now = sorted(str(p) for p in folder.rglob("*"))
        names, still = now, still + 1 if now == names else 0


def state(spark, place: Path, batch: int) -> list[str]:
    """Every row of the state at the end of a batch, key and value."""
    found = spark.read.format("statestore").option("batchId", batch).load(str(place / "ck"))
    return sorted(str((row.partition_id, row.key, row.value)) for row in found.collect())


def last_batch(place: Path) -> int:
    return max(int(p.name) for p in (place / "ck" / "commits").iterdir() if p.name.isdigit())


def new_place(tmp_path: Path, name: str) -> Path:
    place = tmp_path / name
    place.mkdir()
    return place


def test_the_state_is_that_of_a_query_that_stopped_there(spark, conf, tmp_path):
    place = new_place(tmp_path, "live")
    write(place / "in", range(STOP))
    run(spark, place)
    stopped, batch = new_place(tmp_path, "stopped"), last_batch(place)
    shutil.copytree(place / "ck", stopped / "ck")
    write(place / "in", range(STOP, ALL))
    run(spark, place)
    before, wrong = hashes(place / "ck"), state(spark, place, last_batch(place))
    assert read_rewind(place / "ck", batch).missing == ()

    copy_to_batch(place / "ck", place / ".ck.rewound", batch)
    # The session may add a snapshot; nothing that was there is touched.
    assert hashes(place / "ck").items() >= before.items()
    (place / "ck").rename(place / "aside")
    (place / ".ck.rewound").rename(place / "ck")
    assert state(spark, place, batch) == state(spark, stopped, batch)
    for log in ("offsets", "commits", "sources/0"):
        there = {p.name for p in (place / "ck" / log).iterdir()}
        assert there == {p.name for p in (stopped / "ck" / log).iterdir()}
    if conf == "rocksdb-ids":
        (rows,) = read_state(place / "ck", batch, tmp_path / "reading")
        assert rows.rows == len(state(spark, stopped, batch))

    # A producer's error is mended meanwhile; a restart between the files shows what it loads.
    for numbers in (range(STOP, ALL - 1), range(ALL - 1, ALL)):
        for file in (place / "in").glob("0[3-5].json"):
            if int(file.stem) in range(numbers.start, ALL):
                file.unlink()
        write(place / "in", numbers, fixed=True)
        run(spark, place)
    direct = new_place(tmp_path, "direct")
    write(direct / "in", range(STOP))
    write(direct / "in", range(STOP, ALL), fixed=True)
    run(spark, direct)
    mine, other = (state(spark, p, last_batch(p)) for p in (place, direct))
    assert mine == other != wrong
    # What the query wrote over the same batches left the old checkpoint as it was.
    assert hashes(place / "aside").items() >= before.items()
