"""The input records that the results of the touched keys need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.model.version import Version, Window
from headgate.reprocess.ports.spark_jobs import LateTouch
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.processed_records import (
    Ranges,
    arrival,
    cut_since,
    deleted_words,
)
from headgate.text.numbers import plural
from headgate.text.times import from_milliseconds, iso, milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededInput:
    """The `offsets` to read, and the event times `[start, until)`; None: all of them.

    `expired` are topics of which records that are needed may have expired.
    """

    offsets: Ranges
    start: str | None = None
    until: str | None = None
    expired: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many offsets are read."""
        return sum(e - b for parts in self.offsets.values() for b, e in parts.values())


def needed_input(
    request: PlanRequest,
    version: Version,
    topics: Mapping[str, Topic],
    known: Ranges,
    touch: LateTouch,
) -> NeededInput:
    """Return the input of the touched windows, with --lateness only what arrived around them."""
    times = _times(version, touch)
    given = request.options.get("lateness")
    if times is None:
        if given is not None:
            raise ScenarioError(
                "--lateness: the query must have exactly one stateful operator, with a tumbling "
                "or sliding window on the watermark's column. The window must also be a key "
                "column of the results. Add the window's column with --keys or --time-column, or "
                "omit --lateness"
            )
        return NeededInput(offsets=known, expired=_cut(topics))
    start, until = times
    if given is None:
        return NeededInput(offsets=known, start=iso(start), until=iso(until), expired=_cut(topics))
    since, after = arrival(start, until, given)
    offsets, expired = _arrived(request, topics, known, since, after)
    return NeededInput(offsets=offsets, start=iso(start), until=iso(until), expired=expired)


def _times(version: Version, touch: LateTouch) -> tuple[datetime, datetime] | None:
    """Return the event times of the touched windows; None if results depend on others, too."""
    window = _only_window(version)
    if window is None or window.size_us is None or touch.first is None or touch.last is None:
        return None
    # A record is in windows that begin and end at most their size before and after it.
    around = timedelta(microseconds=window.size_us)
    try:
        start = from_milliseconds(touch.first) - around
        # Events have microseconds, the measured times milliseconds.
        until = from_milliseconds(touch.last) + around + timedelta(milliseconds=1)
    except OverflowError:
        return None
    return start, until


def _only_window(version: Version) -> Window | None:
    """Return the window of the only operator with state, if its time is the watermark's."""
    operators = version.stateful or ()
    if len(operators) != 1 or operators[0].window is None:
        return None
    found = operators[0]
    assert found.window is not None
    return found.window if found.window.column == found.watermark_column else None


def _cut(topics: Mapping[str, Topic]) -> tuple[str, ...]:
    return tuple(n for n, t in sorted(topics.items()) if any(p.begin for p in t.partitions))


def _arrived(
    request: PlanRequest,
    topics: Mapping[str, Topic],
    known: Ranges,
    since: datetime,
    after: datetime,
) -> tuple[Ranges, tuple[str, ...]]:
    """Return the offsets whose records arrived in this time, and topics where they may be gone."""
    parts = [(t, int(p)) for t, numbers in known.items() for p in numbers]
    first_at = request.inspector.kafka.first_at
    begins, ends = first_at(parts, milliseconds(since)), first_at(parts, milliseconds(after))
    found: Ranges = {}
    for topic, part in parts:
        low, high = known[topic][str(part)]
        begin, end = begins.get((topic, part)), ends.get((topic, part))
        first = high if begin is None else min(max(begin, low), high)
        last = high if end is None else min(max(end, first), high)
        found.setdefault(topic, {})[str(part)] = (first, last)
    expired = {topic for topic, _ in cut_since(request.inspector, topics, milliseconds(since))}
    return found, tuple(sorted(expired))


def left_out(topics: Mapping[str, Topic], known: Ranges) -> list[tuple[str, int]]:
    """Return the topics of which --scan leaves out earlier offsets or partitions, and how many."""
    found = []
    for name, topic in sorted(topics.items()):
        count = 0
        for part in topic.partitions:
            begin, end = part.begin or 0, part.end or 0
            # What came after a range is newer, and counted as such.
            first, _ = known[name].get(str(part.number), (end, end))
            count += max(first - begin, 0)
        if count:
            found.append((name, count))
    return found


def expired_blockers(
    request: PlanRequest, topics: Mapping[str, Topic], known: Ranges, needed: NeededInput
) -> list[str]:
    """Return the topics whose first records expired or are left out, unless that is accepted."""
    if request.options.get("accept-expired"):
        return []
    found = [
        f"--scan leaves out earlier records of {name} ({plural(count, 'offset')}). New results "
        "would lack these records. For the keys of the late records, results that come only "
        "from such records would be deleted. Include these records, or pass --accept-expired"
        for name, count in left_out(topics, known)
    ]
    for name in needed.expired:
        found.append(
            f"{deleted_words(topics[name])}. New results would lack these records. For the keys "
            "of the late records, results that come only from such records would be deleted. "
            f"{_narrower(request, needed)}To accept incomplete and deleted "
            "results, pass --accept-expired"
        )
    return found


def _narrower(request: PlanRequest, needed: NeededInput) -> str:
    """Say how the plan may do without the expired records; empty if --lateness isn't possible."""
    if needed.start is None:
        return ""
    how = "--lateness with a shorter time" if "lateness" in request.options else "--lateness"
    return f"If the windows of the late records need only later records, pass {how}. "
