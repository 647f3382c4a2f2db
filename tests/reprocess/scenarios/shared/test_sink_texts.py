"""What a plan says of a topic that gets results a second time, and of one that has none."""

from headgate.reprocess.scenarios.shared.sink_replay import _written_twice
from headgate.reprocess.steps.checkpoint.record_output import Written


def test_a_topic_without_old_results_gets_no_duplicates():
    said = _written_twice("totals", "batch 4", ())
    assert said.startswith("totals has no records from batch 4, so it gets no duplicates")
    assert "none" not in said
    written = [Written(partition=0, begin=3, end=5)]
    assert "(2 records, totals:0:3-4)" in _written_twice("totals", "batch 4", written)
