"""How far a step is: only the newest count is kept, and its rate is that of the latest try."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.errors import StoreError
from headgate.store.rows import StepProgress
from headgate.worker.run_journal import ProgressWriter

SEEN = StepProgress(
    run="r",
    position=1,
    unit="records",
    done=300,
    total=1_000,
    first_done=100,
    first_at="2026-11-22T10:00:00+00:00",
    at="2026-11-22T10:00:04+00:00",
)


@pytest.fixture
def run(store, new_run):
    return store.runs.enqueue(new_run(), by="ann", action="apply")


def test_the_newest_count_takes_the_place_of_the_last(store, run):
    for done in (0, 40, 90):
        store.progress.record(run, 2, "partitions", done, 100)
    store.progress.record(run, 2, "records", 7, None)
    partitions, records = store.progress.of(run)
    assert (partitions.done, partitions.total, partitions.first_done) == (90, 100, 0)
    assert (records.unit, records.done, records.total) == ("records", 7, None)
    assert store.progress.of("another") == ()


def test_a_count_that_falls_is_another_try(store, run):
    for done in (50, 80, 10, 20):
        store.progress.record(run, 0, "files", done, 100)
    (found,) = store.progress.of(run)
    assert (found.first_done, found.done) == (10, 20)


def test_rate_and_time_left_are_those_of_the_work():
    assert SEEN.rate == 50
    assert SEEN.seconds_left == 14
    assert replace(SEEN, done=1_000).seconds_left == 0
    assert replace(SEEN, total=None).seconds_left is None
    assert replace(SEEN, done=100).seconds_left is None, "nothing moved: nobody knows"
    assert replace(SEEN, at=SEEN.first_at).rate is None


def test_counts_in_a_loop_are_written_seldom_and_the_last_always(store, run, monkeypatch):
    written = []
    monkeypatch.setattr(store.progress, "record", lambda *count: written.append(count[3]))
    writer = ProgressWriter(store, run, 0)
    for done in range(10_001):
        writer.write(done, 10_000, "records")
    assert written[0] == 0
    assert written[-1] == 10_000
    assert len(written) < 1_000


def test_a_store_that_takes_no_count_fails_no_step(store, run, monkeypatch):
    def refuse(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(store.progress, "record", refuse)
    ProgressWriter(store, run, 0).write(1, 1, "records")
