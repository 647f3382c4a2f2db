"""Where records go: whole lines, a bound of bytes, no harm where a place does not take them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from headgate.parse.spark.watch.mark import PART
from headgate.spark_driver.bounded_queue import Bounded
from headgate.spark_driver.destinations import WatchedRun, surplus
from headgate.spark_driver.records import Kind, Record, line
from headgate.spark_driver.sender import PlanTurns
from headgate.spark_driver.write_folder import Folder
from headgate.spark_driver.write_object_store import Objects
from support.waiting import PATIENCE

QUERY, RUN = "0b91e356-6bbb-44bf-9ab3-610dd4872629", "154e4c58-2810-4267-a11d-da3cc48b7c5f"


def watched(run: str = RUN, begun: str = "2026-11-21T14:29:46.975Z") -> WatchedRun:
    return WatchedRun(QUERY, run, begun)


def record(run: str = RUN, number: int = 0, kind: Kind = Kind.PROGRESS) -> Record:
    body = {"progress": {"id": QUERY, "runId": run, "batchId": number}}
    return Record(kind, QUERY, run, "2026-11-21T14:30:00.000Z", body)


def test_the_driver_and_the_reader_agree_on_names():
    name = watched().part(3)
    assert name == f"{QUERY}_20261121T142946975Z_154e4c58_000003.jsonl"
    assert PART.fullmatch(name)


def test_a_line_is_one_json_object_and_masks_what_must_not_be_kept():
    body = {"settings": {"a.password": "x"}, "text": "s3://me:geheim@b/p\n?sig=abc", "n": 1}
    data = line(Record(Kind.PLAN, QUERY, RUN, "t", body), dropped=7)
    assert data.count(b"\n") == 1 and data.endswith(b"\n")
    found = json.loads(data)
    assert (found["headgate"], found["schema"], found["dropped"]) == ("watch", 1, 7)
    assert found["settings"] == {"a.password": "********"}
    assert "geheim" not in found["text"] and "abc" not in found["text"]


def test_a_full_queue_drops_its_oldest_and_counts_them_once():
    queue = Bounded(3)
    for number in range(5):
        queue.put(record(number=number))
    assert [r.body["progress"]["batchId"] for r in queue.take(0)] == [2, 3, 4]
    assert (queue.drops(RUN), queue.drops(RUN)) == (2, 0)


def test_what_is_put_back_comes_first():
    queue = Bounded(3)
    taken = [record(number=n) for n in range(2)]
    queue.put(record(number=2))
    queue.return_to_queue(taken)
    assert [r.body["progress"]["batchId"] for r in queue.take(0)] == [0, 1, 2]


def test_parts_follow_each_other_and_each_begins_with_the_head(tmp_path):
    place, run = Folder(tmp_path, part_bytes=100, most_bytes=10_000), watched()
    run.head = [b'{"head":1}\n']
    for number in range(10):
        place.write(run, [b'{"number":%d,"filler":"0123456789"}\n' % number])
    place.close(1)
    files = sorted(tmp_path.iterdir())
    assert [PART.fullmatch(f.name)["number"] for f in files] == [f"{n:06d}" for n in range(5)]
    assert all(f.read_bytes().startswith(b'{"head":1}\n') for f in files)
    told = [json.loads(x) for f in files for x in f.read_text().splitlines()]
    assert [x["number"] for x in told if "number" in x] == list(range(10))


def test_the_oldest_parts_go_and_nothing_else(tmp_path):
    (tmp_path / "mine.jsonl").write_text("x" * 500)
    old = tmp_path / watched("a" * 8 + RUN[8:], "2026-01-01T00:00:00.000Z").part(0)
    old.write_text("x" * 500)
    os.utime(old, (1, 1))
    place, run = Folder(tmp_path, part_bytes=200, most_bytes=600), watched()
    for _ in range(10):
        place.write(run, [b"y" * 99 + b"\n"])
    place.close(1)
    assert not old.exists() and (tmp_path / "mine.jsonl").exists()
    kept = [f for f in tmp_path.iterdir() if PART.fullmatch(f.name)]
    assert sum(f.stat().st_size for f in kept) <= 600


def test_surplus_spares_what_is_open():
    names = [watched().part(n) for n in range(3)]
    sizes = [(n, i, 10) for i, n in enumerate(names)]
    assert surplus(sizes, 10, frozenset(names[:1])) == names[1:]
    assert surplus(sizes, 30, frozenset()) == []


def test_a_file_that_is_removed_is_followed_by_another(tmp_path):
    place, run = Folder(tmp_path, part_bytes=1000, most_bytes=1000), watched()
    place.write(run, [b"1\n"])
    next(tmp_path.iterdir()).unlink()
    place.write(run, [b"2\n"])
    assert next(tmp_path.iterdir()).read_bytes() == b"2\n"


# The kernel's own limit of a file's size stands for a full disk: it also takes a write in part.
LIMITED = """
import resource, sys
from pathlib import Path
from headgate.spark_driver.write_folder import Folder
from headgate.spark_driver.destinations import WatchedRun
place = Folder(Path(sys.argv[1]), part_bytes=10_000, most_bytes=10_000)
query = "0b91e356-6bbb-44bf-9ab3-610dd4872629"
run = WatchedRun(query, "154e4c58-2810", "2026-11-21T14:29:46.975Z")
place.write(run, [b"a" * 59 + b"\\n"])
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    place.write(run, [b"b" * 59 + b"\\n"])
    print("taken")
except OSError as error:
    print("refused", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
place.write(run, [b"c" * 59 + b"\\n"])
"""


def test_a_disk_that_takes_half_a_line_leaves_none(tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert said.stdout.startswith("refused"), said.stderr
    (file,) = tmp_path.iterdir()
    assert [x[:1] for x in file.read_text().splitlines()] == ["a", "c"]


def test_a_store_that_cannot_append_gets_numbered_files(tmp_path):
    place, run = Objects(tmp_path.as_uri(), every=0.3, most_bytes=10_000), watched()
    place.write(run, [b"1\n"])
    place.write(run, [b"2\n"])
    assert len(list(tmp_path.iterdir())) == 1
    run.head = [b"head\n"]
    time.sleep(0.4)  # longer than `every`
    place.write(run, [b"3\n"])
    place.end(run)
    first, second = sorted(tmp_path.iterdir())
    assert (first.read_bytes(), second.read_bytes()) == (b"1\n", b"head\n2\n3\n")


def test_a_plan_is_asked_for_when_other_sources_have_rows_and_seldom_otherwise():
    turns = PlanTurns()

    def report(*rows: int) -> dict:
        return {"sources": [{"numInputRows": n} for n in rows]}

    assert not turns.is_due(report(0, 0), 0)
    assert turns.is_due(report(5, 0), 1)
    turns.asked(0.01, 1)
    assert not turns.is_due(report(5, 0), 8)
    assert not turns.is_due(report(5, 5), 5), "the last answer took 10 ms: 5 s of rest"
    assert turns.is_due(report(0, 0), 7), "it is asked for later"
    turns.asked(0.01, 7)
    assert turns.is_due(report(5, 5), 70)


def test_numbers_make_no_other_plan():
    turns = PlanTurns()
    assert turns.is_new(f"Project [a#1L], ver = 3, {RUN}")
    assert not turns.is_new(f"Project [a#7L], ver = 4, {QUERY}")
    assert turns.is_new("Project [b#7L], ver = 4")


HEAVY = {"streamlit", "dbos", "sqlalchemy", "pandas", "networkx", "pyarrow", "confluent_kafka"}


def test_watching_needs_nothing_but_what_a_driver_has():
    """`msgspec` reads on our side; a driver that only writes may lack it."""
    code = (
        "import sys\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {HEAVY | {'msgspec'}!r}: raise ImportError(name)\n"
        "sys.meta_path.insert(0, No())\n"
        "import headgate\n"
        "from headgate.spark_driver import watch, sender, write_folder, write_topic\n"
        "from headgate.spark_driver import write_object_store, records\n"
        "print(headgate.watch(object(), '/nowhere').problem)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert said.stdout.strip() == "expected a SparkSession, found object", said.stderr
