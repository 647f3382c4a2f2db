"""The program that replays as a stream, record by record against plain Python, killed and whole."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from headgate.errors import StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
from headgate.gateway.process.shell_commands import marked
from headgate.model.registered_pipelines import Registry, SparkSettings
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from integration.spark_data.streamed_orders import (
    COUNT,
    HOUR,
    START,
    moment,
    numbers,
    write_orders,
)
from scenes.records import make_topic
from scenes.small_spark import SMALL

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
DELAY = timedelta(hours=2)


class Replayed:
    """A folder with the functions, and the program run over the topic."""

    def __init__(self, folder, bootstrap, topic, orders):
        self.folder, self.bootstrap, self.topic = folder, bootstrap, topic
        self.reports, self.act = [], lambda report: None
        code = Path(__file__).with_name("stream_queries.py").read_text()
        (folder / "stream_queries.py").write_text(code)
        self.configure()
        spark = SparkSettings(master="local[2]", config=SMALL)
        registry = Registry(path=str(folder / "headgate.toml"), spark=spark)
        self.context = RunContext(
            registry=registry, home=folder / "home", run="r1", pause=time.sleep
        )
        self.orders = orders
        # Four records that were aborted, each with its marker.
        whole = {0: 0, 1: 0, 2: 8, 3: 0}
        for record, _ in self.orders:
            whole[record.partition] = max(whole[record.partition], record.offset + 1)
        self.ranges = {str(part): [0, end] for part, end in whole.items()}

    def configure(self, **more):
        found = {"bootstrap": self.bootstrap, "topic": self.topic, **more}
        (self.folder / "query.json").write_text(json.dumps(found))

    def told(self, report):
        self.reports.append(report)
        self.act(report)

    def run(self, function, *more, to="json"):
        self.reports = []
        given = (
            f"--entry-point=stream_queries:{function}", f"--work={self.folder / 'work'}",
            f"--offsets={json.dumps({self.topic: self.ranges})}",
            f"--to={to}:{self.folder / 'results'}" if ":" not in to else f"--to={to}",
        )  # fmt: skip
        job = SparkJob(program="replay_stream", arguments=(*given, *more), what="the replay")
        return SparkJobAdapter(self.context).run(job, self.told)

    def kill(self, report):
        """Kill driver and JVM."""
        for pid in marked("r1:spark:replay_stream"):
            os.kill(pid, signal.SIGKILL)

    def rows(self):
        files = sorted((self.folder / "results").glob("part-*"))
        assert (self.folder / "results" / "_SUCCESS").is_file()
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def batches(self):
        """The orders of each batch in the checkpoint's log; all that was read and nothing else."""
        log = self.folder / "work" / "checkpoint" / "offsets"
        at, found = {p: begin for p, (begin, _) in self.ranges.items()}, []
        for number in range(len([f for f in log.iterdir() if f.name.isdecimal()])):
            ends = json.loads((log / str(number)).read_text().splitlines()[2])[self.topic]
            found.append(
                [(r, o) for r, o in self.orders
                 if at[str(r.partition)] <= r.offset < ends[str(r.partition)]]
            )  # fmt: skip
            at = ends
        assert at == {p: end for p, (_, end) in self.ranges.items()}
        return found


@pytest.fixture
def replayed(tmp_path, broker, unique):
    topic = unique("orders")
    make_topic(broker, topic, 4, **{"retention.ms": "-1"})
    return Replayed(tmp_path, broker, topic, write_orders(broker, topic))


def as_the_engine(batches):
    """Totals by window and city, how many were late, and the last watermark.

    A record is late if its window ended before the watermark of the batch before.
    """
    totals, counts, dropped = Counter(), Counter(), set()
    newest, watermark, before = START - timedelta(days=9), None, None
    for number, batch in enumerate(batches):
        for _, order in batch:
            at = moment(order["at"])
            begin = at.replace(minute=0, second=0, microsecond=0)
            if before is not None and begin + HOUR <= before:
                dropped.add((number, begin, order["city"]))
                continue
            totals[begin, order["city"]] += order["amount"]
            counts[begin, order["city"]] += 1
        newest = max([newest, *(moment(o["at"]) for _, o in batch)])
        before, watermark = watermark, newest - DELAY
    return totals, counts, len(dropped), watermark


def windows_of(rows):
    found = {(moment(r["window"]["start"]), r["city"]): (r["total"], r["orders"]) for r in rows}
    assert len(found) == len(rows), "a result comes twice"
    return found


def test_windows_are_those_of_the_engine_over_the_given_batches(replayed):
    found = replayed.run("hourly", "--max-records=30")
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    batches = replayed.batches()
    totals, counts, dropped, watermark = as_the_engine(batches)
    expected = {k: (n, counts[k]) for k, n in totals.items() if k[0] + HOUR <= watermark}
    assert windows_of(replayed.rows()) == expected
    assert len(expected) < len(totals), "no window is open at the end"
    assert 0 < dropped == found.facts["dropped"]
    assert found.facts["read"] == len(replayed.orders)
    assert found.facts["written"] == len(expected)
    assert found.facts["state"] == len(totals) - len(expected)
    assert moment(found.facts["watermark"]) == watermark
    # The source's own limit is 7; each batch ends at one time of arrival in both partitions.
    sizes = [len(batch) for batch in batches]
    assert sum(sizes) / len(sizes) > 15 and max(sizes) <= 30
    for before, after in pairwise(b for b in batches if b):
        assert max(r.timestamp for r, _ in before) <= min(r.timestamp for r, _ in after)


@pytest.mark.long
def test_a_function_with_state_is_killed_and_continues(replayed):
    """In a batch, after the last batch, and while the target is written."""
    replayed.configure(seconds=0.2)
    until = replayed.ranges["0"][1] - 40
    replayed.ranges = {"0": [0, until], "1": [3, 30], "2": [0, 5], "3": [0, 0]}
    read = [one for one in replayed.orders if one[0].partition != 0 or one[0].offset < until]
    read = [one for one in read if one[0].partition != 1 or 3 <= one[0].offset < 30]
    times = ("2026-04-01T06:00:00Z", "2026-04-02T18:30:00Z")
    given = ("--max-records=60", "--time-column=at", f"--from={times[0]}", f"--until={times[1]}")

    def kill_after(count, unit):
        def act(report):
            told = [r for r in replayed.reports if r["unit"] == unit]
            if len(told) == count:
                replayed.kill(report)

        return act

    replayed.act = kill_after(2, "records")
    with pytest.raises(StepError, match="ended without a result"):
        replayed.run("numbered", *given)
    log = replayed.folder / "work" / "checkpoint"
    killed_at = max(int(f.name) for f in (log / "commits").iterdir() if f.name.isdecimal())
    ends = (replayed.folder / "work" / "ends.json").read_text()
    assert 0 < killed_at < len(json.loads(ends)) - 1
    # As if it had been killed in a batch whose results are written but not committed.
    for half in (log / "commits" / str(killed_at), log / "offsets" / str(killed_at + 1)):
        half.unlink(missing_ok=True)
        (half.parent / f".{half.name}.crc").unlink(missing_ok=True)
    (log.parent / "done.json").unlink(missing_ok=True)
    replayed.act = lambda report: None
    found = replayed.run("numbered", *given)
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    assert Counter((r["id"], r["city"], r["n"]) for r in replayed.rows()) == numbers(read, *times)
    assert (replayed.folder / "work" / "ends.json").read_text() == ends
    assert found.facts["read"] + 60 * len(found.facts["uncounted"]) >= len(read)
    replayed.batches()
    # Killed before the end was noted, or while it wrote: the target is written once more.
    (log.parent / "done.json").unlink()
    (replayed.folder / "results" / "_SUCCESS").unlink()
    again = replayed.run("numbered", *given)
    assert again.outcome is JobOutcome.DONE
    assert Counter((r["id"], r["city"], r["n"]) for r in replayed.rows()) == numbers(read, *times)


@pytest.mark.long
def test_the_last_windows_close_if_it_was_killed_after_its_last_data(replayed):
    found = replayed.run("hourly", "--max-records=200")
    assert found.outcome is JobOutcome.DONE
    first = windows_of(replayed.rows())
    log = replayed.folder / "work" / "checkpoint"
    last = max(int(f.name) for f in (log / "offsets").iterdir() if f.name.isdecimal())
    # The no-data batch at the end is gone, as after a kill before it was begun.
    for name in ("offsets", "commits"):
        (log / name / str(last)).unlink()
        (log / name / f".{last}.crc").unlink(missing_ok=True)
    (log.parent / "done.json").unlink()
    assert replayed.run("hourly", "--max-records=200").outcome is JobOutcome.DONE
    assert windows_of(replayed.rows()) == first


@pytest.mark.long
@pytest.mark.parametrize("function", ["changing", "whole"])
def test_a_key_has_its_last_row(replayed, function):
    keys = ("--keys=window", "--keys=city") if function == "changing" else ()
    found = replayed.run(function, "--max-records=60", *keys)
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    totals, counts, dropped, _ = as_the_engine(replayed.batches())
    if function == "whole":
        # In complete mode the engine drops nothing.
        dropped = 0
        totals, counts, _, _ = as_the_engine([replayed.orders])
    assert windows_of(replayed.rows()) == {k: (n, counts[k]) for k, n in totals.items()}
    assert found.facts["dropped"] == dropped


@pytest.mark.long
def test_duplicates_within_the_watermark_come_once(replayed):
    found = replayed.run("once", "--max-records=50")
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    batches = replayed.batches()
    ids, newest, watermark, before = Counter(), START - timedelta(days=9), None, None
    for batch in batches:
        late = [o for _, o in batch if before is not None and moment(o["at"]) <= before]
        new = {o["id"] for _, o in batch} - {o["id"] for o in late}
        ids += Counter(new - ids.keys())
        newest = max([newest, *(moment(o["at"]) for _, o in batch)])
        before, watermark = watermark, newest - DELAY
    assert Counter(r["id"] for r in replayed.rows()) == ids
    assert len(ids) < COUNT, "none was late"


@pytest.mark.long
def test_a_topic_has_the_results_of_each_key_in_order(replayed, topic, consume):
    target = topic("numbers", partitions=2)
    found = replayed.run("numbered_to_topic", "--max-records=40", "--run=r1", to=f"kafka:{target}")
    assert (found.outcome, found.error) == (JobOutcome.DONE, "")
    records = consume(target, len(replayed.orders) + 1, seconds=8)
    rows = [json.loads(r.value()) for r in records]
    assert Counter((r["id"], r["city"], r["n"]) for r in rows) == numbers(replayed.orders)
    by_city = {}
    for record, row in zip(records, rows, strict=True):
        by_city.setdefault(record.key().decode(), []).append(row["n"])
    assert all(found == sorted(found) for found in by_city.values())
    assert {r.headers()[0] for r in records} == {("headgate.run", b"r1")}


@pytest.mark.long
def test_what_is_wrong_is_said_and_nothing_is_written(replayed):
    replayed.configure(poison=77)
    failed = replayed.run("numbered", "--max-records=50")
    assert failed.outcome is JobOutcome.FAILED
    assert "not an order: 77" in failed.error
    assert not (replayed.folder / "results").exists()
    # With the cause removed, it continues.
    replayed.configure()
    assert replayed.run("numbered", "--max-records=50").outcome is JobOutcome.DONE
    rows = Counter((r["id"], r["city"], r["n"]) for r in replayed.rows())
    assert rows == numbers(replayed.orders)
    wrong = (
        (("changing", "--keys=town"), "--keys: the result has no column town. Its columns: window"),
        (
            ("hourly", "--time-column=hour", "--from=2026-04-01T00:00:00Z"),
            "the result has no column hour",
        ),
        (("hourly", "--max-records=0"), "--max-records: expected 1 or more, found 0"),
    )
    for given, said in wrong:
        found = replayed.run(*given)
        assert found.outcome is JobOutcome.FAILED
        assert said in found.error
