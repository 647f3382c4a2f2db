"""`headgate schedules`: what is listed, and what a pause and a resume say."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.store import open_store
from headgate.usecases.context import open_context
from support.console_seed import seed
from support.schedule_seed import add_schedules


@pytest.fixture
def run(tmp_path):
    file = seed(tmp_path)
    with closing(open_store(open_context(str(file)).store_url)) as store:
        add_schedules(store)

    def call(*args, code=0):
        found = CliRunner().invoke(headgate, ["schedules", *args, "--config", str(file)])
        assert found.exit_code == code, found.output
        return found.output

    return call


def test_each_schedule_is_a_line_with_its_newest_tick(run):
    lines = run().splitlines()
    assert lines[0].startswith("billing  every 15 minutes  next ")
    assert "waits for" not in lines[0]
    assert "waits for approval  up to 61\u202f007 records  request " in lines[1]
    assert (
        "city-alerts  when lag exceeds 10\u202f000 records  next tick when the condition is met  "
        "no limits" in lines
    )
    assert any("orders-by-city  cron 0 3 * * 1-5 (UTC)  paused by cora" in line for line in lines)
    assert "No worker is running, so ticks are missed. Start a worker with `headgate up`." in lines


def test_one_is_shown_with_its_ticks_and_who_approved_it(run):
    shown = run("billing")
    assert "created by ann in run" in shown and "approved by bob" in shown
    assert "skipped  includes 2 missed ticks: no worker was running at the scheduled time" in shown
    assert "skipped  0 records: no records are unread" in shown
    assert "  for missed ticks: no run (--missed skip); approved sink: " in shown
    (found,) = json.loads(run("billing", "--format", "json"))["schedules"]
    assert (found["every_seconds"], found["missed"], found["max_run_records"]) == (
        900,
        "skip",
        50_000,
    )
    assert [t["outcome"] for t in found["ticks"]] == ["open", "skipped", "done", "skipped", "done"]


def test_pause_and_resume(run):
    paused = json.loads(run("--pause", "city-alerts", "--format", "json"))["schedules"][1]
    assert paused["paused"] and "not verified" in paused["paused_by"]
    assert "was already paused by" in run("--pause", "city-alerts", code=3)
    again = json.loads(run("--resume", "city-alerts", "--format", "json"))["schedules"][1]
    assert (again["paused"], again["paused_at"]) == (False, None)
    assert "already active" in run("--resume", "city-alerts", code=3)
    assert "give only one" in run("--pause", "a", "--resume", "b", code=2)


def test_what_is_not_there_is_named(run):
    assert "no pipeline nothing is registered" in run("nothing", code=2)
    assert "nothing has no schedule" in run("--pause", "nothing", code=2)
