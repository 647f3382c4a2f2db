"""Counts of batches: each once, over several starts, and nothing that a sink doesn't tell."""

from headgate.spark_jobs.data.kept_counts import BatchCounts


def batch(number, read, written=-1, dropped=None):
    operators = [] if dropped is None else [{"numRowsDroppedByWatermark": dropped}]
    return {
        "batchId": number, "numInputRows": read, "durationMs": {"triggerExecution": 1500},
        "sink": {"numOutputRows": written}, "stateOperators": operators,
    }  # fmt: skip


def test_a_batch_that_is_reported_twice_counts_once():
    counts = BatchCounts()
    assert counts.facts() == {}
    for number in (4, 5, 5):
        counts.add(batch(number, 10, written=3, dropped=2))
    again = BatchCounts(counts.kept)
    again.add(batch(5, 10, written=3, dropped=2))
    again.add(batch(6, 1, written=0, dropped=0))
    assert again.facts() == {
        "read": 21, "processing_seconds": 4.5, "written": 6, "dropped_by_watermark": 4
    }  # fmt: skip


def test_what_is_unknown_is_left_out():
    counts = BatchCounts()
    counts.add(batch(0, 7, written=2))
    counts.add(batch(1, 7))
    counts.add(batch(2, 7, written=2))
    # The program was killed after batch 3, and never saw its progress.
    counts.add(batch(4, 7, written=2))
    assert counts.facts() == {"read": 28, "processing_seconds": 6.0, "uncounted_batches": 1}
