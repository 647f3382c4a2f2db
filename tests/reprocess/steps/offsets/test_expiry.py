"""Until when an undo of offsets is of use."""

from __future__ import annotations

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.reprocess.steps.offsets.reset_offsets import expiry_risks
from support.flat_ports import FlatPorts

HOUR = 3_600_000
NOW = 1_000 * HOUR
KEEPS = 100


class Log(FlatPorts):
    """A topic with a record an hour: offset n is `age_of(n)` hours old."""

    def __init__(self, *, end=90, begin=0, **facts):
        settings = {"retention_ms": KEEPS * HOUR, "cleanup_policy": "delete", **facts}
        part = Partition(number=0, begin=begin, end=end)
        self._topic = Topic(name="orders", partitions=(part,), **settings)
        self._end = end

    def topics(self, names):
        return {"orders": self._topic} if "orders" in names else {}

    def first_at(self, parts, at):
        offset = -((NOW - at) // HOUR - self._end)
        return {part: max(offset, 0) if offset < self._end else None for part in parts}


def risks(log, offset):
    return expiry_risks(log, {("orders", 0): offset}, now_ms=NOW)


@pytest.mark.parametrize(
    ("offset", "hours"),
    [
        (89, None),  # an hour old: it stays for 99 more
        (70, None),  # 20 hours old
        (20, 72),  # 70 hours old: 30 left
        (15, 72),  # 75 hours old: 25 left
        (8, 24),  # 82 hours old: 18 left
    ],
)
def test_the_nearest_end_is_named(offset, hours):
    told = risks(Log(), offset)
    if hours is None:
        assert told == []
    else:
        assert len(told) == 1
        assert told[0].startswith(
            f"records at the old offsets of 1 partition can expire within {hours} h"
        )


def test_records_that_go_within_the_hour():
    assert "can expire within 1 h: topic orders keeps" in risks(Log(end=100), 0)[0]


def test_what_is_kept_for_ever_or_has_nothing_to_read_has_no_end():
    assert risks(Log(end=100, retention_ms=-1), 0) == []
    assert risks(Log(end=100, retention_ms=None), 0) == []
    assert risks(Log(end=100, cleanup_policy="compact"), 0) == []
    assert risks(Log(end=100), 100) == [], "at the end there is nothing to read"
    assert risks(Log(end=100, begin=10), 5) == [], "what is gone already is told elsewhere"
    assert expiry_risks(Log(), {("payments", 0): 1}, now_ms=NOW) == []


def test_how_long_a_topic_keeps_records_is_said_in_a_unit_that_fits():
    (said,) = risks(Log(end=100, retention_ms=300_000), 0)
    assert "keeps records for 5 min. If the undo runs after that" in said
