"""An estimate comes from earlier runs, is stored before the run, and stands beside the truth."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from headgate.reprocess.estimate import ESTIMATE, read_estimate
from headgate.reprocess.plan import Plan, dump_plan, load_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.outputs.process_records import ProcessRecords
from headgate.store import open_store
from headgate.store.rows import NewRun, RunState, StepProgress
from headgate.store.tables import RUNS, STEP_PROGRESS
from headgate.text.numbers import exact
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.estimate_run import estimate_plan, with_estimate
from headgate.usecases.runs.apply_plan import new_run
from headgate.views.words.estimate import estimate_lines, truth, truth_words

STEPS = (RecordOffsets(group="g"),)


def plan(options=None, **impact):
    given = {"to_read": {"orders": 6000}, "records": {"orders": 0}, "total": 0,
             "bytes_total": 60_000, "bytes_how": "measured", "seconds": None,
             "seconds_how": "unknown: nobody reports a rate"}  # fmt: skip
    return Plan(
        scenario="bounded", pipeline="p", steps=STEPS, impact=given | impact, options=options or {}
    )


@pytest.fixture
def context(tmp_path):
    file = tmp_path / "headgate.toml"
    file.write_text('[[pipeline]]\nname = "p"\nengine = "consumer-group"\ngroup = "g"\n')
    return open_context(str(file))


def add_run(context, *, took, records, rate, scenario="bounded", state=RunState.DONE, options=None):
    """Store a run of 2026 that took so many seconds, and processed at such a rate."""
    with closing(open_store(context.store_url)) as store:
        made = plan(options)
        new = NewRun(scenario=scenario, pipeline="p", plan_hash=made.hash, plan=dump_plan(made),
                     resources=())  # fmt: skip
        run = store.runs.enqueue(new, by="ann", action="apply")
        begun, ended = "2026-01-01T00:00:00+00:00", f"2026-01-01T00:{took // 60:02}:{took % 60:02}"
        values = {"state": state.value, "started_at": begun, "ended_at": f"{ended}+00:00"}
        counted = round((records - 100) / rate)
        with store.database.writing() as connection:
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))
            count = StepProgress(
                run=run, position=0, unit="records", done=records, total=records, first_done=100,
                first_at="2026-01-01T00:00:10+00:00",
                at=f"2026-01-01T00:{(10 + counted) // 60:02}:{(10 + counted) % 60:02}+00:00",
            )  # fmt: skip
            names = [c.name for c in STEP_PROGRESS.columns]
            row = {n: getattr(count, n) for n in names if hasattr(count, n)}
            connection.execute(sa.insert(STEP_PROGRESS).values(**row))
        return run


def test_medians_of_earlier_runs_give_the_duration_with_start_up_apart(context):
    # At 100/s, 50/s and 100/s, beside 20, 30 and 40 s of start-up.
    add_run(context, took=61, records=4100, rate=100)
    add_run(context, took=112, records=4100, rate=50)
    add_run(context, took=81, records=4100, rate=100)
    add_run(context, took=9, records=4100, rate=4000, state=RunState.FAILED)
    found = estimate_plan(context, plan())
    assert (found.records, found.bytes, found.unknown) == (6000, 60_000, ())
    assert found.startup == 30.0
    assert found.expected == 30 + 6000 / 100
    assert found.low == pytest.approx(67.5) and found.high == 30 + 6000 / 50
    lines = dict(estimate_lines(found))
    assert lines["Records"] == f"up to {exact(6000)} records, about 60 kB"
    assert lines["Start-up"] == "about 30 s, included in the duration"
    assert lines["Duration"].endswith("as in 3 earlier runs")


def test_without_earlier_runs_the_duration_is_unknown_with_the_reason(context):
    found = estimate_plan(context, plan())
    assert found.expected is None and found.document()["seconds"] is None
    assert found.unknown == (
        "start-up: no earlier run has measured the start-up time",
        "duration: nobody reports a rate",
    )


def test_a_reported_rate_gives_a_range(context):
    found = estimate_plan(context, plan(seconds=100.0, seconds_how="60 records/s are read"))
    assert (found.expected, found.low, found.high) == (100.0, 75.0, 125.0)


def test_a_rate_limit_makes_a_run_longer_and_says_nothing_of_other_runs(context):
    limited = plan({"rate": 40})
    add_run(context, took=61, records=4100, rate=100)
    add_run(context, took=400, records=4100, rate=10, options={"rate": 10})
    assert estimate_plan(context, plan()).expected == 20 + 6000 / 100
    found = estimate_plan(context, limited)
    assert found.expected == 20 + 6000 / 40
    assert found.how == "40 records/s (the rate limit), and the start-up time of one earlier run"
    faster = estimate_plan(context, plan({"rate": 500}))
    assert (faster.expected, "limit" in faster.how) == (80.0, False)


def test_a_reported_rate_above_the_limit_gives_the_limit(context):
    given = {"seconds": 100.0, "seconds_how": "60 records/s are read"}
    found = estimate_plan(context, plan({"rate": 30}, **given))
    assert (found.expected, found.how) == (200.0, "30 records/s (the rate limit)")
    assert estimate_plan(context, plan({"rate": 90}, **given)).expected == 100.0


def test_it_is_stored_with_the_plan_once_and_read_back(context):
    add_run(context, took=61, records=4100, rate=100)
    stored = with_estimate(context, plan())
    add_run(context, took=161, records=4100, rate=10)
    assert with_estimate(context, stored) == stored
    found = read_estimate(stored.impact)
    assert found == estimate_plan(context, plan()) or found.expected == 80.0
    assert stored.hash == plan().hash, "an estimate isn't part of what is approved"


def test_the_truth_of_a_run_stands_beside_its_estimate(context):
    add_run(context, took=60, records=4100, rate=100)
    stored = with_estimate(context, plan())
    run = add_run(context, took=118, records=6000, rate=100)
    with closing(open_store(context.store_url)) as store:
        told = truth(store.runs.get(run), stored.impact, store.progress.of(run))
    expected = stored.impact[ESTIMATE]["seconds"]["expected"]
    assert told["truth"] == {
        "records": 6000,
        "seconds": 118.0,
        "error": pytest.approx(118 / expected - 1),
    }
    assert truth_words(told) == "about 79 s. Actual duration: 118 s, 49% longer than estimated"
    exact = told | {"truth": told["truth"] | {"error": 0.001}}
    assert truth_words(exact) == "about 79 s. Actual duration: 118 s, as estimated"
    assert truth_words({}) is None


def processing(scenario, *, stream=None, records=6000):
    """Return the plan of a scenario whose programs report what they read."""
    step = ProcessRecords(pipeline="p", entry_point="m:f", topics={}, offsets={}, stream=stream,
                          format="parquet", folder="/out")  # fmt: skip
    impact = {"records": {"orders": records}, "total": records, "seconds": None,
              "bytes_total": 60_000, "bytes_how": "measured",
              "seconds_how": "unknown: nobody reports a rate"}  # fmt: skip
    return Plan(scenario=scenario, pipeline="p", steps=(step,), impact=impact)


def add_reported(context, made, *seconds, took, attempt=1):
    """Store a run of the plan whose programs each processed for so many seconds."""
    with closing(open_store(context.store_url)) as store:
        run = store.runs.enqueue(new_run(made), by="ann", action="apply")
        ended = f"2026-01-01T00:{took // 60:02}:{took % 60:02}+00:00"
        values = {"state": "done", "started_at": "2026-01-01T00:00:00+00:00", "ended_at": ended}
        with store.database.writing() as connection:
            given = values | {"attempt": attempt}
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**given))
        for position, each in enumerate(seconds):
            facts = {"read": made.impact["total"], "seconds": each + 9, "processing_seconds": each}
            store.step_documents.put(run, position, attempt, "job", {"facts": facts})
    return run


@pytest.mark.parametrize("scenario", ["historical-range", "ab", "late-batch"])
def test_what_programs_of_earlier_runs_reported_gives_the_duration(context, scenario):
    # Both versions of an A/B read the records: 40 s of 60 s.
    each = (20, 20) if scenario == "ab" else (40,)
    old = processing(scenario, records=4000)
    add_reported(context, old, *each, took=60)
    add_reported(context, old, *each, took=600, attempt=2)
    add_reported(context, processing(scenario, stream={"max_records": 9}), 300, took=400)
    add_reported(context, old, took=5)
    found = estimate_plan(context, processing(scenario))
    assert (found.records, found.unknown) == (6000, ())
    assert (found.expected, found.startup) == (80.0, 20.0)
    assert found.how == "100 records/s and start-up time, as in one earlier run"
    stored = with_estimate(context, processing(scenario))
    run = add_reported(context, stored, 50, took=88)
    with closing(open_store(context.store_url)) as store:
        row, documents = store.runs.get(run), store.step_documents.of(run)
        told = truth(row, load_plan(row.plan, source="x").impact, (), documents)
    assert told["truth"]["error"] == pytest.approx(0.1)
    assert told["truth"]["records"] == 6000
