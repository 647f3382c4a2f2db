"""What a plan costs: bytes, time and readers, and that unknown is never a number."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.model.progress import BatchProgress, SourceProgress
from headgate.reprocess.impact import Rates, Sizes, again, in_bytes, in_time, measured, with_kept
from headgate.reprocess.plan import UNDO, Plan
from headgate.reprocess.steps.checkpoint.replace import SnapshotCheckpoint
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.usecases.reprocess.estimate_cost import rates_of
from headgate.views.words.impact import impact_lines

SIZES = Sizes(average={"orders": 120.0, "payments": 10.5}, how="a sample")
NOBODY = {
    "known": True, "pipelines": [], "groups": [], "topics": [], "owners": {}, "unowned": [],
}  # fmt: skip


def batch(number, rows, seconds):
    source = SourceProgress(
        description="kafka",
        input_rows=rows,
        processed_rows_per_second=rows / seconds if rows else 0.0,
        input_rows_per_second=rows / 10,
    )
    return BatchProgress(query_id="q", run_id="r", batch=number, at="t", sources=(source,))


def test_bytes_are_records_times_their_average():
    found = in_bytes({"orders": 10, "payments": 4, "empty": 0}, SIZES)
    assert found["bytes"] == {"orders": 1200, "payments": 42, "empty": 0}
    assert found["bytes_total"] == 1242


def test_a_topic_of_unknown_size_makes_the_sum_unknown():
    found = in_bytes({"orders": 10, "strange": 1}, SIZES)
    assert found["bytes"] == {"orders": 1200, "strange": None}
    assert found["bytes_total"] is None


@pytest.mark.parametrize(
    ("backlog", "rates", "seconds", "words"),
    [
        (0, None, 0.0, "no unread records"),
        (
            9_000,
            Rates(reads=1_000, arrives=100),
            10.0,
            "the pipeline reads 1000 records/s while 100 records/s arrive",
        ),
        (
            9,
            Rates(reads=0.5, arrives=0),
            18.0,
            "the pipeline reads 0.5 records/s while 0 records/s",
        ),
        (9_000, Rates(reads=100, arrives=100), None, "never: "),
        (9_000, None, None, "nobody tells"),
    ],
)
def test_time_is_backlog_over_what_is_read_beyond_what_arrives(backlog, rates, seconds, words):
    found = in_time(backlog, rates, "nobody tells")
    assert found["seconds"] == seconds
    assert words in found["seconds_how"]


def test_a_rate_is_the_median_of_batches_that_had_records():
    batches = [batch(0, 0, 1), batch(1, 300, 3), batch(2, 800, 4), batch(3, 900, 3), batch(4, 0, 1)]
    found = rates_of(batches)
    assert (found.reads, found.arrives) == (200, 80)
    assert "of 3 batches" in found.how
    assert rates_of(batches[:3]) is None


def test_a_rate_is_that_of_the_batches_that_had_work():
    begun = [batch(n, 4_000, 4) for n in range(4)]
    found = rates_of([*begun, *(batch(n, 75, 2.5) for n in range(4, 80))])
    assert (found.reads, found.arrives) == (1_000, 7.5)
    assert "4 largest of 80" in found.how
    assert in_time(4_000, found, "")["seconds"] == pytest.approx(4_000 / 992.5, abs=0.1)


def test_batches_that_only_kept_up_do_not_tell_how_fast_a_query_reads():
    steady = rates_of([batch(n, 300, 9.5) for n in range(80)])
    assert round(steady.reads) == 32
    assert in_time(35_000, steady, "")["seconds"] is None
    assert "kept up with 30 incoming records/s" in in_time(35_000, steady, "")["seconds_how"]
    # What is read many times as fast as it comes is a rate also of small batches.
    assert in_time(35_000, rates_of([batch(n, 300, 1) for n in range(80)]), "")["seconds"]


def test_a_plan_says_all_of_its_costs_and_what_is_not_known():
    plan = Plan(
        scenario="from-scratch",
        pipeline="p",
        steps=(RecordOffsets(group="g"),),
        impact={
            "records": {"orders": 1500, "strange": 1},
            "total": 1501,
            "to_read": {"orders": 2000},
            **in_bytes({"orders": 1500, "strange": 1}, SIZES),
            **in_time(2_000, None, "unknown: nobody reports how fast a group reads"),
            "downstream": {
                **NOBODY,
                "pipelines": ["alerts", "billing"],
                "groups": ["someone"],
                "owners": {"growth": ["alerts"]},
            },
        },
    )
    lines = dict(impact_lines(plan))
    assert lines["Records reprocessed"] == "up to 1\u202f501 records, bytes unknown (a sample)"
    assert lines["Records to read"] == "up to 2\u202f000 records"
    assert lines["Duration"] == "unknown: nobody reports how fast a group reads"
    assert lines["Downstream"].startswith(
        "alerts (growth), billing (no owner set), group someone (undeclared) get duplicates"
    )
    assert "Can't be undone" not in lines


def test_nobody_downstream_is_not_the_same_as_not_known():
    plan = Plan(
        scenario="s", pipeline="p", impact={"records": {"a": 0}, "total": 0, "downstream": NOBODY}
    )
    assert "no known consumers" in dict(impact_lines(plan))["Downstream"]
    unknown = replace(plan, impact={**plan.impact, "downstream": {**NOBODY, "known": False}})
    assert dict(impact_lines(unknown))["Downstream"].startswith("unknown")


def test_a_query_over_files_reads_again_nobody_knows_how_much():
    files = {"records": {}, "total": 0, "to_read": {}, "uncounted": ["up to 8 files"]}
    plan = Plan(scenario="s", pipeline="p", impact=files)
    assert again(plan.impact) is None
    assert dict(impact_lines(plan))["Records reprocessed"] == (
        "unknown number of records (up to 8 files)"
    )
    both = replace(plan, impact={**files, "records": {"orders": 12}, "total": 12})
    assert again(both.impact) is None
    assert dict(impact_lines(both))["Records reprocessed"] == (
        "up to 12 records, and an unknown number of records (up to 8 files)"
    )
    continues = replace(plan, impact={**files, "uncounted": []})
    assert again(continues.impact) == 0
    stored = replace(plan, impact={"records": {}, "total": 0, "to_read": {}})
    assert again(stored.impact) is None
    readers = {**NOBODY, "pipelines": ["alerts"]}
    plan = replace(plan, impact={**plan.impact, "downstream": readers})
    assert "alerts (no owner set) gets duplicates" in dict(impact_lines(plan))["Downstream"]
    elsewhere = replace(plan, options={"outputs": "new"})
    assert dict(impact_lines(elsewhere))["Downstream"] == (
        "alerts (no owner set) gets no new results before a switch to the new outputs"
    )
    paused = replace(plan, impact={"downstream": readers})
    assert again(paused.impact) == 0
    retired = replace(plan, impact={"records": {}, "total": 0})
    assert again(retired.impact) == 0
    assert dict(impact_lines(retired)) == {"Records reprocessed": "0 records"}
    assert dict(impact_lines(paused)) == {"Downstream": "alerts (no owner set) gets the results"}


def test_a_snapshot_says_what_it_takes():
    kept = {"files": 1200, "bytes": 3_400_000, "copied": 5_000}
    plan = Plan(scenario="s", pipeline="p", impact={"snapshot": kept})
    assert dict(impact_lines(plan)) == {
        "Snapshot": "1\u202f200 files, 3.4 MB, 5 kB copied, the rest as hard links"
    }
    linked = replace(plan, impact={"snapshot": {**kept, "copied": 0}})
    assert "almost no disk space" in dict(impact_lines(linked))["Snapshot"]


COPY = SnapshotCheckpoint(
    pipeline="p", checkpoint="/c", query_id="q", bytes=3_400_000, copied=3_400_000
)


@pytest.mark.parametrize(
    ("keep", "words"),
    [(timedelta(days=14), "for 14 days"), (timedelta(hours=30), "for 30 hours"),
     (timedelta(days=1), "for 1 day after")],
)  # fmt: skip
def test_a_plan_says_beforehand_what_is_kept_and_for_how_long(keep, words):
    lines = dict(impact_lines(with_kept(Plan(scenario="s", pipeline="p", steps=(COPY,)), keep)))
    assert lines["Snapshot"] == "3.4 MB, full copy"
    assert words in lines["Snapshot retention"]


def test_what_keeps_nothing_says_nothing_of_it():
    unknown = replace(COPY, bytes=None, copied=None)
    plan = with_kept(Plan(scenario="s", pipeline="p", steps=(unknown,)), timedelta(days=14))
    assert "snapshot" not in plan.impact
    for empty in (
        Plan(scenario="s", pipeline="p"),
        Plan(scenario=UNDO, pipeline="p", steps=(COPY,)),
        Plan(scenario="s", pipeline="p", steps=(COPY,), blockers=("it runs",)),
    ):
        assert with_kept(empty, timedelta(days=14)) == empty
    told = Plan(scenario="s", pipeline="p", steps=(COPY,), impact={"snapshot": {"bytes": 1}})
    assert with_kept(told, timedelta(days=14)).impact["snapshot"] == {"bytes": 1}


def test_only_what_was_measured_is_kept_when_a_plan_is_built_anew():
    impact = {"records": {"a": 1}, "total": 1, "bytes_total": 7, "downstream": NOBODY}
    assert measured(impact) == {"bytes_total": 7, "downstream": NOBODY}
