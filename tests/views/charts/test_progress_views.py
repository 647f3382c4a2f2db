"""Charts of batches: what is drawn, how it is thinned, where lines break, what nodes show."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.model.progress import BatchProgress, OperatorProgress, SourceProgress
from headgate.views.charts.newest_batch import newest_batch
from headgate.views.charts.query_progress import progress_figure
from headgate.views.charts.query_progress_series import (
    charts,
    event_time_lag,
    extremes,
    lag_by_topic,
    restarts,
)
from support.console_seed import orders_v1

BEGUN = datetime(2026, 11, 21, 6, tzinfo=UTC)


def batch(number, *, run="r1", rows=10, dropped=0, watermark=None, **more):
    at = BEGUN + timedelta(seconds=10 * number)
    return BatchProgress(
        query_id="q", run_id=run, batch=number, at=at.isoformat(), duration_ms=900,
        durations={"addBatch": 700, "walCommit": 50, "getBatch": 1, "latestOffset": 2,
                   "queryPlanning": 40, "commitOffsets": 3, "triggerExecution": 900},
        watermark=watermark,
        sources=(
            SourceProgress(
                description="KafkaV2[Subscribe[orders]]", topics=("orders",),
                end={"orders": {"0": 100, "1": 40}}, latest={"orders": {"0": 130, "1": 40}},
                input_rows=rows, input_rows_per_second=rows / 10,
                processed_rows_per_second=rows / 5,
            ),
        ),
        operators=(
            OperatorProgress(
                name="stateStoreSave", rows_total=rows, memory_bytes=rows * 100,
                rows_dropped_by_watermark=dropped,
            ),
        ),
        **more,
    )  # fmt: skip


def titled(made, title):
    return next(c for c in made if c.title == title)


def test_every_chart_that_has_values_and_no_other():
    made = charts([batch(0), batch(1)])
    assert [c.title for c in made] == [
        "Rows per second", "Duration of a batch", "Rows in the state", "Memory used by the state",
        "Unread records",
    ]  # fmt: skip
    late = charts([batch(0, dropped=3, watermark=(BEGUN - timedelta(minutes=5)).isoformat())])
    assert [c.title for c in late][-2:] == ["Unread records", "Late rows dropped"]
    assert titled(late, "Watermark lag").lines[0].values == (300.0,)


def test_nothing_gives_no_chart_and_a_report_without_a_time_is_left_out():
    assert charts([]) == ()
    made = charts([replace(batch(0), at="yesterday"), batch(1)])
    assert titled(made, "Rows in the state").batches == (1,)


def test_parts_of_a_batch_add_up_and_the_smallest_are_one():
    lines = {x.name: x.values[0] for x in titled(charts([batch(0)]), "Duration of a batch").lines}
    assert lines == {"other": 0.006, "queryPlanning": 0.04, "walCommit": 0.05, "addBatch": 0.7}


@pytest.mark.slow
def test_thinning_keeps_every_spike_and_says_so():
    many = [batch(n, rows=9_999 if n == 4_321 else 10) for n in range(6_000)]
    chart = titled(charts(many, most=200), "Rows in the state")
    assert chart.is_thinned and chart.of == 6_000
    assert len(chart.at) <= 210
    assert 4_321 in chart.batches and max(chart.lines[0].values) == 9_999
    assert (chart.batches[0], chart.batches[-1]) == (0, 5_999)
    assert list(chart.at) == sorted(chart.at)


def test_two_thousand_batches_are_all_drawn():
    chart = titled(charts([batch(n) for n in range(2_000)]), "Rows in the state")
    assert not chart.is_thinned and len(chart.at) == 2_000


def test_extremes_take_the_lowest_and_the_highest_of_each_part():
    assert extremes([5, 1, 9, 4, None, None, 2, 8], parts=2) == {0, 1, 2, 6, 7}


def test_a_restart_is_marked_and_no_line_leads_over_it():
    batches = [batch(0), batch(1), batch(50, run="r2"), batch(51, run="r2")]
    assert restarts(batches) == (BEGUN + timedelta(seconds=500),)
    made = charts(batches)
    assert titled(made, "Rows in the state").breaks == {2}
    figure = progress_figure(made, restarts(batches))
    state = next(t for t in figure.data if t.legend == "legend3")
    assert list(state.y) == [10, 10, None, None, 10, 10]
    assert len(figure.layout.shapes) == len(made)


@pytest.mark.slow
def test_thinning_keeps_the_breaks():
    batches = [batch(n, run="r1" if n < 3_000 else "r2") for n in range(6_000)]
    chart = titled(charts(batches, most=100), "Rows in the state")
    (place,) = chart.breaks
    assert chart.batches[place - 1] < 3_000 <= chart.batches[place]


def test_one_batch_is_drawn_as_a_point_with_time_around_it():
    figure = progress_figure(charts([batch(0)]))
    assert {t.type for t in figure.data} == {"scatter", "bar"}
    first, last = figure.layout.xaxis.range
    assert last - first == timedelta(minutes=2)


def test_an_axis_never_counts_in_thousandths():
    few = charts([batch(n, rows=n) for n in range(3)])
    formats = [axis.tickformat for axis in progress_figure(few).select_yaxes()]
    assert formats[0] == "~g"
    many = charts([batch(n, rows=9000 * n) for n in range(3)])
    assert next(progress_figure(many).select_yaxes()).tickformat == "~s"


def test_names_from_outside_are_text():
    odd = replace(batch(0), operators=(
        OperatorProgress(name="<b>x</b>", rows_total=1), OperatorProgress(name="y", rows_total=2),
    ))  # fmt: skip
    names = [t.name for t in progress_figure(charts([odd])).data]
    assert "&lt;b>x&lt;/b> 0" in names


def test_lag_counts_partitions_that_have_both_offsets():
    assert lag_by_topic(batch(0)) == {"orders": 30}
    odd = SourceProgress(description="f", end={"logOffset": 3}, latest=None)
    assert lag_by_topic(replace(batch(0), sources=(odd,))) == {}


def test_before_any_event_there_is_no_lag_of_the_watermark():
    assert event_time_lag(batch(0, watermark="1970-01-01T00:00:00.000Z")) is None
    assert event_time_lag(batch(0)) is None


def test_newest_values_stand_at_their_nodes():
    version = replace(orders_v1(), sources=orders_v1().sources[:1],
                      stateful=orders_v1().stateful[:1])  # fmt: skip
    found = newest_batch(version, [batch(0), batch(1, rows=1234)])
    assert found.notes == {"source-orders": "123/s", "store-city": "1.2 k rows"}
    assert ("Unread after this batch", "up to 30 records") in found.rows["source-orders"]
    assert dict(found.rows["store-city"])["Memory"] == "123 kB"


def test_a_report_of_another_version_says_nothing_of_the_nodes():
    assert newest_batch(orders_v1(), [batch(0)]).notes == {}
    assert newest_batch(orders_v1(), []).notes == {}
