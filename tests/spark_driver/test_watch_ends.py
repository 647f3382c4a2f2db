"""A program that ends still tells the ends of queries that Spark tells it late."""

from __future__ import annotations

import json
import threading
import time

import pytest

from headgate.spark_driver import watch as watch_module
from headgate.spark_driver.records import Kind, Record, now
from headgate.spark_driver.session import Active
from headgate.spark_driver.watch import Watch
from headgate.spark_driver.write_folder import Folder


class Late:
    """A Connect session; that an end is heard late can't be provoked on a real server."""

    key, is_classic = "connect-late", False

    def __init__(self) -> None:
        self.queries: list[Active] = []
        self.hangs = False

    def about(self):
        return {"session": "connect", "spark": "4.1.1"}

    def active(self):
        if self.hangs:
            time.sleep(60)
        return self.queries

    def plan(self, query):
        return None

    facts = plan

    def add(self, listener):
        self.listener = listener

    def remove(self, listener):
        pass


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A watch that has heard the start of one query, and what it has written."""
    session, watch = Late(), Watch(str(tmp_path))
    folder = Folder(tmp_path, part_bytes=1 << 20, most_bytes=1 << 20)
    watch._begin(session, lambda: folder, 100, None, None)
    watch._heard(watch._sender._records, Record(Kind.STARTED, "q", "r", now(), {"name": "n"}))
    monkeypatch.setattr(watch_module, "_open", {("late", "x"): watch})

    def told():
        lines = [x for f in sorted(tmp_path.glob("*.jsonl")) for x in f.open()]
        return [json.loads(x)["event"] for x in lines]

    return session, watch, told


def end(watch):
    body = {"exception": None, "errorClass": None}
    watch._heard(watch._sender._records, Record(Kind.TERMINATED, "q", "r", now(), body))


def test_the_end_of_a_stopped_query_that_is_told_late_is_awaited_as_the_program_ends(watched):
    _session, watch, told = watched
    timer = threading.Timer(0.5, end, [watch])
    timer.start()
    watch_module._at_exit()
    timer.join()
    assert told() == ["started", "terminated"]


def test_a_query_that_runs_on_at_the_server_is_not_waited_for(watched):
    session, _watch, told = watched
    session.queries = [Active("q", "r", "n")]
    watch_module._at_exit()
    assert told() == ["started", "closed"]


def test_a_server_that_does_not_answer_keeps_no_program_from_ending(watched, monkeypatch):
    session, _watch, told = watched
    monkeypatch.setattr(watch_module, "_ENDS_AT_EXIT", 0.3)
    session.hangs = True
    watch_module._at_exit()
    assert told() == ["started", "closed"]
