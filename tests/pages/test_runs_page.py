"""The Runs page: journal, who approved, where a stop left things, and a person's confirmation."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from datetime import datetime, timedelta

import pytest

from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.process.stop_start import ManualStep
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState
from headgate.ui.runs import catch_up, run_view
from headgate.ui.shared.keys import RunsKey
from headgate.usecases.context import open_context

pytestmark = pytest.mark.slow


@pytest.fixture
def store(seeded):
    with closing(open_store(open_context(str(seeded)).store_url)) as opened:
        yield opened


def enqueue(store, plan):
    new = NewRun(
        scenario=plan.scenario,
        pipeline="billing",
        plan_hash=plan.hash,
        plan=dump_plan(plan),
        resources=(),
    )
    return store.runs.enqueue(new, by="ann", action="apply")


@pytest.fixture
def run(store):
    """A run that a worker has taken, at work on its only step."""
    plan = Plan(scenario="from-point", pipeline="billing", steps=(RecordOffsets(group="billing"),))
    queued = enqueue(store, plan)
    store.runs.claim("slot-0")
    store.journal.add(queued, 0, Event.BEGUN, {"was": {"file": "x"}})
    return queued


def text(at):
    return " ".join(element.proto.body for element in at.get("html"))


def test_a_run_under_way_shows_how_far_it_is_and_can_be_cancelled(open_page, store, run):
    store.journal.note(run, 0, "looking at the group")
    store.progress.record(run, 0, "partitions", 30, 120)
    at = open_page("runs", run=run)
    shown = text(at)
    assert "30 of 120 partitions" in shown
    assert 'style="width:25.0%"' in shown
    assert "looking at the group" in shown
    at.button(key=RunsKey.CANCEL).click().run()
    assert store.runs.get(run).cancel_requested
    assert at.button(key=RunsKey.CANCEL).disabled
    assert "Step 1 is in progress" in text(at)
    assert not at.exception


def test_a_cancelled_run_says_what_is_left_and_keeps_its_journal(open_page, store, run):
    store.journal.add(run, 0, Event.FAILED, {"error": "the run was cancelled"})
    store.runs.finish(run, RunState.CANCELLED, error="the run was cancelled")
    at = open_page("runs", run=run)
    shown = text(at)
    assert "0 of 1 step is done." in shown
    assert "may be partly applied" in shown
    assert "requested by ann" in shown
    assert "stopped by slot-0: the run was cancelled" in shown
    assert at.button(key=RunsKey.UNDO)
    assert at.button(key=RunsKey.RESUME)
    assert not at.exception


def test_a_person_confirms_what_a_run_waits_for(open_page, store, run):
    store.questions.ask(run, 0, 1, "stop", "stop billing")
    at = open_page("runs", run=run)
    assert [w.value for w in at.warning if "stop billing" in w.value]
    assert at.button(key=RunsKey.CONFIRM).disabled
    at.text_input(key=RunsKey.NAME).set_value("bob").run()
    at.button(key=RunsKey.CONFIRM).click().run()
    assert store.questions.open(run) is None
    assert not at.warning
    assert [(e.action, e.by) for e in store.audit.list(run)][-1] == (
        "confirm",
        "bob (entered in the console, not verified)",
    )
    assert not at.exception


def test_a_queued_run_says_whether_a_worker_is_there(open_page, store, monkeypatch):
    step = ManualStep(pipeline="billing", request="start it", stop=None, has_status=False)
    queued = enqueue(store, Plan(scenario="from-point", pipeline="billing", steps=(step,)))
    assert "To start a worker, run" in text(open_page("runs", run=queued))
    monkeypatch.setattr(run_view, "has_worker", lambda *_: True)
    shown = text(open_page("runs", run=queued))
    assert "The worker executes one run after the other." in shown
    assert "To start a worker" not in shown


def test_an_undone_step_says_so_and_no_duration(open_page, store, run):
    store.journal.add(run, 0, Event.DONE)
    took = text(open_page("runs", run=run))
    assert re.search(r"done · [0-9:]+ · [0-9.]+ s", took)
    store.journal.add(run, 0, Event.UNDONE)
    shown = text(open_page("runs", run=run))
    assert re.search(r"undone · [0-9:]+<", shown)


def test_a_look_that_takes_long_holds_the_page_up_for_a_moment_and_is_asked_once(
    open_page, store, monkeypatch
):
    """A Kafka that is away keeps a look for many seconds; the page says so in one sentence."""
    step = ManualStep(pipeline="billing", request="start it", stop=None, has_status=False)
    plan = Plan(scenario="from-point", pipeline="billing", steps=(step,))
    done = enqueue(store, plan)
    store.runs.claim("slot-0")
    store.runs.finish(done, RunState.DONE)
    answers, asked = threading.Event(), []

    def read_positions(_context, detail):
        asked.append(detail.row.id)
        answers.wait(60)

    monkeypatch.setattr(catch_up, "read_positions", read_positions)
    monkeypatch.setattr(catch_up, "PATIENCE", 0.1)
    at = open_page("runs", run=done)
    assert "Headgate has waited 0 s for Kafka or the checkpoint" in text(at)
    at.run()
    assert "Headgate has waited" in text(at) and asked == [done]
    answers.set()
    monkeypatch.setattr(catch_up, "PATIENCE", 30.0)
    at.run()
    assert "The progress is unknown" in text(at) and asked == [done]
    assert not at.exception


def test_a_run_that_can_be_undone_says_until_which_day(open_page, store, run):
    store.journal.add(run, 0, Event.DONE)
    assert "Undo possible" not in text(open_page("runs", run=run))
    store.runs.finish(run, RunState.DONE)
    until = datetime.fromisoformat(store.runs.get(run).ended_at) + timedelta(days=14)
    assert f"until {until:%Y-%m-%d %H:%M} UTC" in text(open_page("runs", run=run))


def test_runs_come_in_pages(open_page, store):
    plan = Plan(scenario="from-point", pipeline="billing", steps=(RecordOffsets(group="billing"),))
    runs = [enqueue(store, plan) for _ in range(103)]
    at = open_page("runs")
    shown = at.dataframe[0].value["Run"].tolist()
    assert shown == runs[:-101:-1]
    assert "103 runs, 103 active" in text(at)
    assert at.button(key=RunsKey.NEWER).disabled
    at.button(key=RunsKey.OLDER).click().run()
    assert at.dataframe[0].value["Run"].tolist() == runs[2::-1]
    assert at.button(key=RunsKey.OLDER).disabled
    at.button(key=RunsKey.NEWER).click().run()
    assert at.dataframe[0].value["Run"].tolist() == shown


def test_a_run_that_counted_records_has_a_report_to_download(open_page, store, run):
    facts = {"read": 1200, "written": 7, "dropped_by_watermark": 3, "processing_seconds": 8.0}
    store.step_documents.put(run, 0, 1, "job", {"program": "x", "outcome": "done", "facts": facts})
    store.journal.add(run, 0, Event.DONE)
    store.runs.finish(run, RunState.DONE)
    at = open_page("runs", run=run)
    shown = text(at)
    assert "Rows dropped by the watermark</span><b>3</b>" in shown
    assert "Records read</span><b>1.2 k</b>" in shown
    assert "150 records/s" in shown
    assert "Late records" not in shown
    keys = [e.proto.id for e in at.get("download_button")]
    assert [form for form in ("json", "markdown") if any(f"report_{form}" in k for k in keys)] == [
        "json",
        "markdown",
    ]
    assert not at.exception


def test_offsets_by_partition_are_a_chart_in_place_of_bars(open_page, store, run):
    parts = {"orders[0]": [10, 40, 100], "orders[1]": [0, 50, 50], "orders[2]": [7, 7, 7]}
    store.step_documents.put(run, 0, 1, "partitions", {"parts": parts})
    store.progress.record(run, 0, "records of orders[0]", 30, 90)
    store.progress.record(run, 0, "records", 80, 140)
    at = open_page("runs", run=run)
    (chart,) = at.get("plotly_chart")
    assert "orders[1]: 50 of 50 offsets read, at offset 50" in chart.proto.spec
    assert "orders[2]" not in chart.proto.spec
    shown = text(at)
    assert "80 of 140 records" in shown
    assert "records of orders[0]" not in shown
    captions = [c.value for c in at.caption]
    assert "Step 1: 80 of 140 offsets read, 2 of 3 partitions complete." in captions
    assert not at.exception
