"""The Runs page of a run that processes records: a chart by partition, and a report."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.outputs.process_records import DeleteResults
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState
from headgate.usecases.context import open_context
from support.console_seed import seed
from support.sampled import sampled

pytestmark = pytest.mark.browser
PARTS = {f"orders[{n}]": [100 * n, 100 * n + 300 * n + 40, 100 * n + 3000] for n in range(6)}
FACTS = {"read": 18_000, "written": 240, "failed": 2, "seconds": 42.0, "startup_seconds": 6.0,
         "processing_seconds": 36.0}  # fmt: skip


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    return seed(tmp_path_factory.mktemp("progress"))


@pytest.fixture(scope="module")
def console(registry, serving):
    yield from serving(registry)


@pytest.fixture
def store(registry):
    with closing(open_store(open_context(str(registry)).store_url)) as opened:
        yield opened


@pytest.fixture
def run(store):
    steps = (DeleteResults(folder="/data/april"), DeleteResults(folder="/data/may"))
    plan = Plan(scenario="historical-range", pipeline="orders-by-city", steps=steps)
    new = NewRun(scenario=plan.scenario, pipeline=plan.pipeline, plan_hash=plan.hash,
                 plan=dump_plan(plan), resources=())  # fmt: skip
    queued = store.runs.enqueue(new, by="ann", action="apply")
    store.runs.claim("slot-0")
    store.journal.add(queued, 0, Event.BEGUN, {"was": {}})
    return queued


def document(store, run, name, told):
    store.step_documents.put(run, 0, 1, name, told)


@sampled("scheme", ["light", "dark"], one_in=2)
def test_partitions_move_and_the_report_is_downloaded(store, run, visit, shoot, console, scheme):
    document(store, run, "partitions", {"parts": PARTS})
    store.progress.record(run, 0, "records of orders[0]", 40, 3000)
    page = visit(f"runs?run={run}", at=console, scheme=scheme, size=(1680, 1100))
    page.get_by_text("Step 1: 4.7 k of 18 k offsets read, 0 of 6 partitions complete").wait_for()
    page.locator(".js-plotly-plot .bars").first.wait_for()
    # The chart has it.
    page.get_by_text("records of orders[0]").wait_for(state="detached")
    shoot(page, f"run-partitions-{scheme}")
    read = {name: [begin, end, end] for name, (begin, _, end) in PARTS.items()}
    document(store, run, "partitions", {"parts": read})
    page.get_by_text("6 of 6 partitions complete").wait_for()
    document(store, run, "job", {"program": "replay_query", "outcome": "done", "facts": FACTS})
    store.journal.add(run, 0, Event.DONE)
    store.runs.finish(run, RunState.DONE)
    page.get_by_text("Records read").wait_for()
    shoot(page, f"run-report-{scheme}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    found = json.loads(download.value.path().read_text())
    assert found["run"] == run
    assert found["totals"] == {"read": 18_000, "written": 240, "failed": 2}
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Markdown").click()
    assert f"## Run {run}: historical-range of orders-by-city, done" in (
        download.value.path().read_text()
    )
