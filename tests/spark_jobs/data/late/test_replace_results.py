"""A function that keeps its source gives no totals: the second call must read all records."""

from types import SimpleNamespace

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data import replay_query
from headgate.spark_jobs.data.late.late_records import LateRecords
from headgate.spark_jobs.data.late.replace_results import _all_results
from headgate.spark_jobs.data.offset_ranges import OffsetRanges

SPARK = SimpleNamespace()
GIVEN = SimpleNamespace(entry_point="m:f")


@pytest.mark.parametrize(("first", "second"), [(1, 0), (2, 1), (1, 1), (2, 2)])
def test_a_source_of_the_first_call_is_not_used_again(monkeypatch, first, second):
    late = LateRecords(input="orders", offsets=OffsetRanges({}), is_alone=True, reads=first)
    built = SimpleNamespace(counts=["late"] * first, watermarks=[], writers=[])

    def call(_spark, _given, again):
        late.reads += second
        again.counts += ["all"] * second
        return "results"

    monkeypatch.setattr(replay_query, "call_as_batch", call)
    monkeypatch.setattr(replay_query, "forget_call", lambda _spark, _built: None)
    if first == second:
        assert _all_results(SPARK, GIVEN, late, built) == ("results", ["all"] * second)
        return
    with pytest.raises(CaptureError, match="m:f doesn't read orders on a second call"):
        _all_results(SPARK, GIVEN, late, built)
