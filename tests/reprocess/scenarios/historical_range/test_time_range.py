"""What a range of event time needs of the input, and what its plan can promise."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.errors import ScenarioError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version, Window
from headgate.reprocess.ports.spark_jobs import EventTimes, Slice
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.historical_range.time_range import (
    lateness,
    operator_blockers,
    ranges_of,
    read_range,
    result_filter,
)
from headgate.text.times import milliseconds

HOUR_US = 3_600_000_000
DAY = datetime(2026, 4, 2, tzinfo=UTC)
HOURLY = StatefulOperator(
    kind=OperatorKind.AGGREGATE,
    window=Window(column="at", size_us=HOUR_US, slide_us=HOUR_US),
    watermark_column="at",
)
SLIDING = StatefulOperator(
    kind=OperatorKind.AGGREGATE, window=Window(column="at", size_us=HOUR_US, slide_us=HOUR_US // 4)
)


def request(**options):
    given = {"from": "2026-04-02T00:00:00Z", "until": "2026-04-03T00:00:00Z"} | options
    pipeline = Pipeline(name="p", engine=Engine.SPARK, entry_point="m:f")
    return PlanRequest(
        scenario="historical-range", pipeline=pipeline, inspector=None, options=given
    )


def at(hours):
    return milliseconds(DAY + timedelta(hours=hours))


def part(begin, first, last, number=0):
    times = (None, None) if first is None else (at(first), at(last))
    return Slice(
        topic="t", partition=number, begin=begin, end=begin + 10, first=times[0], last=times[1]
    )


def test_windows_need_input_up_to_their_end_and_a_warm_up_counts_on_both_sides():
    wanted = read_range(request(**{"warm-up": "2h"}), (HOURLY,))
    assert wanted.input_start == DAY - timedelta(hours=2)
    assert wanted.input_until == DAY + timedelta(days=1, hours=3)


@pytest.mark.parametrize("until", ["2026-04-02T00:00:00Z", "2026-04-01T00:00:00Z"])
def test_a_range_that_ends_before_it_begins_is_an_error(until):
    with pytest.raises(ScenarioError, match="--until: expected a time after --from"):
        read_range(request(until=until), ())


def test_offsets_reach_from_the_first_to_the_last_slice_with_a_record_of_the_range():
    wanted = read_range(request(), (HOURLY,))
    slices = [
        part(0, -30, -1),
        part(10, -20, 0),
        part(20, None, None),
        part(30, 26, 40),
        part(40, 24.5, 24.6),
        part(50, 25, 60),
        part(0, -9, -8, number=1),
    ]
    # The window of 23:00 ends at 24:00; a tumbling window's input ends there, plus its size.
    assert ranges_of(slices, wanted) == {"t": {"0": (10, 50), "1": (0, 0)}}


HOUR = 3_600_000


def test_the_lateness_is_a_bound_over_the_partitions_of_their_own():
    assert lateness([part(0, 0, 5), part(10, 3, 9), part(20, 2, 9)]) == 7 * HOUR
    assert lateness([part(0, 0, 1), part(0, -40, -39, number=1)]) == HOUR
    assert lateness([part(0, None, None)]) is None


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        (StatefulOperator(kind=OperatorKind.AGGREGATE), "aggregates without a time window"),
        (
            StatefulOperator(kind=OperatorKind.STREAM_JOIN),
            "a join of two streams, so its results also depend",
        ),
        (
            StatefulOperator(kind=OperatorKind.DEDUPLICATE),
            "a deduplication, so its results also depend",
        ),
    ],
)
def test_what_a_batch_can_not_give_is_a_blocker(operator, said):
    version = Version(engine=Engine.SPARK, stateful=(operator,))
    (reason,) = operator_blockers(request(), version)
    assert said in reason
    if "also depend" in said:
        assert not operator_blockers(request(**{"warm-up": "1h"}), version)


def test_windows_over_windows_need_a_warm_up():
    version = Version(engine=Engine.SPARK, stateful=(HOURLY, SLIDING))
    (reason,) = operator_blockers(request(), version)
    assert "chained time windows, so its results also depend" in reason
    session = StatefulOperator(kind=OperatorKind.SESSION_AGGREGATE)
    both = Version(engine=Engine.SPARK, stateful=(HOURLY, SLIDING, session))
    (reason,) = operator_blockers(request(), both)
    assert "a session window and chained time windows, so its results" in reason
    assert not operator_blockers(request(**{"warm-up": "1h"}), version)


@pytest.mark.parametrize("given", ["9999999d", "900000d"])
def test_a_warm_up_of_millennia_reaches_all_times(given):
    wanted = read_range(request(**{"warm-up": given}), ())
    assert (wanted.input_start.year, wanted.input_until.year >= 4490) == (1970, True)


@pytest.mark.parametrize(
    ("operators", "until", "is_known"),
    [
        ((HOURLY,), "2026-04-03T00:00:00Z", True),
        ((HOURLY,), "2026-04-03T00:30:00Z", False),
        ((SLIDING,), "2026-04-03T00:00:00Z", False),
        ((HOURLY, HOURLY), "2026-04-03T00:00:00Z", False),
        ((replace(HOURLY, watermark_column="ts"),), "2026-04-03T00:00:00Z", False),
        ((), "2026-04-03T00:00:00Z", False),
    ],
)
def test_without_a_column_only_windows_that_end_with_the_range_are_chosen_by_the_input(
    operators, until, is_known
):
    found = EventTimes(
        slices=(), column="at", is_exact=True, result_time=None, columns=("key", "value")
    )
    wanted = read_range(request(until=until), operators)
    version = Version(engine=Engine.SPARK, stateful=operators)
    column, reasons = result_filter(found, version, wanted)
    assert column is None
    assert (reasons == []) is is_known
    if reasons:
        assert (
            "Pass this column as --time-column (for JSON: value.FIELD). Columns: key, value"
            in reasons[0]
        )
