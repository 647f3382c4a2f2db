"""Batches of a replay end in all partitions at one record timestamp, and none is too large."""

import random
from bisect import bisect_left
from itertools import accumulate

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data.arrival_batches import batch_ends
from headgate.spark_jobs.data.kept_counts import CountsByBatch
from headgate.spark_jobs.data.offset_ranges import OffsetRanges
from headgate.spark_jobs.data.replay_stream import remaining

HOUR = 3_600_000
FIRST = 1_775_000_000_000


def kafka_of(logs):
    """What Kafka answers: the first offset whose timestamp is at or after a time."""

    def first_at(parts, at):
        highest = {part: list(accumulate(logs[part], max)) for part in parts}
        found = {part: bisect_left(times, at) for part, times in highest.items()}
        return {part: offset for part, offset in found.items() if offset < len(logs[part])}

    return first_at


def ends_of(logs, at_most, ranges=None):
    whole = {}
    for (topic, part), times in logs.items():
        whole.setdefault(topic, {})[part] = (0, len(times))
    found = batch_ends(OffsetRanges(ranges or whole), at_most, kafka_of(logs))
    return [{(t, int(p)): o for t, parts in end.items() for p, o in parts.items()} for end in found]


def sizes(begin, ends):
    return [
        sum(b[p] - a[p] for p in b)
        for a, b in zip([begin, *ends[:-1]], ends, strict=True)
    ]  # fmt: skip


def test_a_partition_with_few_records_does_not_run_ahead_in_time():
    logs = {
        ("t", 0): [FIRST + n * HOUR for n in range(100)],
        ("t", 1): [FIRST + n * 20 * HOUR for n in range(5)],
        ("t", 2): [],
    }
    ends = ends_of(logs, 21)
    assert ends[-1] == {("t", 0): 100, ("t", 1): 5, ("t", 2): 0}
    assert max(sizes(dict.fromkeys(ends[0], 0), ends)) <= 21
    for end in ends[:-1]:
        # What is read is older than what isn't, over all partitions.
        read = [t for p, times in logs.items() for t in times[: end[p]]]
        left = [t for p, times in logs.items() for t in times[end[p] :]]
        assert max(read) < min(left)


@pytest.mark.parametrize("at_most", [1, 7, 64])
def test_every_record_is_in_one_batch_and_no_batch_is_too_large(at_most):
    rnd = random.Random(at_most)
    logs = {
        # Out of order, all at one time, and from a producer that sets no time.
        ("t", 0): [FIRST + n * HOUR - rnd.randint(0, 9) * HOUR for n in range(120)],
        ("t", 1): [FIRST] * 90,
        ("u", 0): [-1] * 30,
    }
    ranges = {"t": {0: (20, 110), 1: (0, 90)}, "u": {0: (5, 30)}}
    begin = {("t", 0): 20, ("t", 1): 0, ("u", 0): 5}
    ends = ends_of(logs, at_most, ranges)
    assert ends[-1] == {("t", 0): 110, ("t", 1): 90, ("u", 0): 30}
    found = sizes(begin, ends)
    assert all(0 < size <= at_most for size in found), found
    assert sum(found) == 90 + 90 + 25


def test_without_a_record_there_is_one_empty_batch():
    assert ends_of({("t", 0): [FIRST]}, 10, {"t": {0: (1, 1)}}) == [{("t", 0): 1}]


def logged(folder, *positions):
    (folder / "offsets").mkdir()
    for number, position in enumerate(positions):
        (folder / "offsets" / str(number)).write_text("\n".join(["v1", "{}", *position]))
    return folder


def test_a_program_that_is_started_again_takes_what_is_not_logged(tmp_path):
    ends = [{"t": {"0": 5, "1": 0}, "u": {"0": 1}}, {"t": {"0": 9, "1": 2}, "u": {"0": 4}}]
    assert remaining(tmp_path, ends) == ends
    folder = logged(tmp_path, ('{"t":{"0":5,"1":0}}', '{"u":{"0":1}}'))
    assert remaining(folder, ends) == ends[1:]
    (folder / "offsets" / "1").write_text('v1\n{}\n{"t":{"0":9,"1":2}}\n{"u":{"0":4}}')
    assert remaining(folder, ends) == []
    (folder / "offsets" / "2").write_text('v1\n{}\n{"t":{"0":10,"1":2}}\n{"u":{"0":4}}')
    with pytest.raises(CaptureError, match="has processed records after the end of --offsets"):
        remaining(folder, ends)


def test_counts_of_all_starts_are_summed_and_lost_ones_are_named(tmp_path):
    def progress(number, rows, dropped, at):
        state = [{"numRowsDroppedByWatermark": dropped, "numRowsTotal": 3}]
        return {"batchId": number, "numInputRows": rows, "stateOperators": state,
                "eventTime": {"watermark": at}}  # fmt: skip

    CountsByBatch(tmp_path / "counts").take(progress(0, 5, 0, "1970-01-01T00:00:00.000Z"))
    assert CountsByBatch(tmp_path / "counts").facts(range(1))["watermark"] is None
    again = CountsByBatch(tmp_path / "counts")
    # Batch 1 was committed, and the program killed before it was counted. Batch 3 isn't committed.
    again.take(progress(2, 7, 2, "2026-04-01T00:00:00.000Z"))
    again.take(progress(3, 9, 9, "2026-04-02T00:00:00.000Z"))
    found = CountsByBatch(tmp_path / "counts").facts(range(3))
    assert found == {
        "read": 12, "dropped": 2, "batches": 3, "uncounted": [1], "state": 3,
        "watermark": "2026-04-01T00:00:00.000Z",
    }  # fmt: skip
