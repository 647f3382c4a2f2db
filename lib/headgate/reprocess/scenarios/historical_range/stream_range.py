"""What a stream over a range of event time needs beyond the range, so that its windows close."""

from __future__ import annotations

from datetime import timedelta

from headgate.model.version import OperatorKind, Version
from headgate.reprocess.ports.spark_jobs import EventTimes, Slice
from headgate.reprocess.scenarios.historical_range.time_range import TimeRange
from headgate.reprocess.scenarios.shared.processed_records import Ranges
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso, later, milliseconds


def limit_blockers(version: Version) -> list[str]:
    """Return why the query's results belong to no range as a stream, either."""
    if all(o.kind is not OperatorKind.LIMIT for o in version.stateful or ()):
        return []
    return ["the query has a limit, so its results depend on all earlier records. Use from-scratch"]


def closing_ranges(found: EventTimes, ranges: Ranges, wanted: TimeRange) -> tuple[Ranges, bool]:
    """Return the offsets to the record that closes the last window, and whether there is one.

    The watermark is the latest event time less its delay; with several inputs, the least of them.
    An input without a watermark has no slices.
    """
    at = milliseconds(wanted.input_until) + found.delay_ms
    longer = {topic: dict(parts) for topic, parts in ranges.items()}
    is_closed = True
    for topic in sorted({s.topic for s in found.slices}):
        parts = longer[topic]
        closers = [
            s for s in found.slices if s.topic == topic and s.last is not None and s.last >= at
        ]
        if any(_is_read(s, parts) for s in closers):
            continue
        if not closers:
            is_closed = False
            continue
        nearest = min(closers, key=lambda s: s.end - parts[str(s.partition)][1])
        begin, end = parts[str(nearest.partition)]
        # An empty range begins anywhere: nothing before the record is needed.
        parts[str(nearest.partition)] = (nearest.begin if begin == end else begin, nearest.end)
    return longer, is_closed


def _is_read(one: Slice, parts: dict[str, tuple[int, int]]) -> bool:
    begin, end = parts[str(one.partition)]
    return one.begin < end and begin < one.end


NO_LATER_EVENT = Risk(
    "no measured record has an event time of {time} or later, so the last results "
    "{unfinished}. Pass an earlier --until, or plan again when later records exist",
    unfinished="are missing (append mode) or not final",
)
WATERMARK_ENDS = Risk(
    "the watermark ends at {watermark}, because an input has no measured record with an event "
    "time of {time} or later. Results of windows that end after {watermark} {unfinished}. "
    "Pass an earlier --until, or plan again when later records exist",
    unfinished="are missing (append mode) or not final",
)


def open_risk(found: EventTimes, wanted: TimeRange, output_mode: str) -> str:
    """Say which results aren't final at the end of the stream."""
    newest: dict[str, int] = {}
    for one in found.slices:
        if one.last is not None:
            newest[one.topic] = max(newest.get(one.topic, one.last), one.last)
    needed = iso(later(wanted.input_until, timedelta(milliseconds=found.delay_ms)))
    what = "are missing" if output_mode == "append" else "are not final"
    if not newest:
        return NO_LATER_EVENT(time=needed, unfinished=what)
    watermark = iso(from_milliseconds(max(min(newest.values()) - found.delay_ms, 0)))
    return WATERMARK_ENDS(watermark=watermark, time=needed, unfinished=what)


RISKS = (
    NO_LATER_EVENT,
    WATERMARK_ENDS,
)
