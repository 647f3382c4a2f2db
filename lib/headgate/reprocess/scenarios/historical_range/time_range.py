"""The requested range, and the input that its results need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.reprocess.ports.spark_jobs import EventTimes, Slice
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.processed_records import (
    Ranges,
    arrival,
    cut_since,
    deleted_words,
    left_since,
    whole_topics,
)
from headgate.text.numbers import name_list
from headgate.text.risk import Risk
from headgate.text.times import (
    duration,
    earlier,
    from_milliseconds,
    iso,
    later,
    milliseconds,
    moment,
)

# Their results depend on records before or after the range, by how much only their owner knows.
_NEED_WARM_UP = frozenset(
    {
        *(OperatorKind.SESSION_AGGREGATE, OperatorKind.STREAM_JOIN, OperatorKind.DEDUPLICATE),
        *(OperatorKind.DEDUPLICATE_WITHIN_WATERMARK, OperatorKind.MAP_GROUPS),
        *(OperatorKind.TRANSFORM_WITH_STATE, OperatorKind.UNKNOWN),
    }
)
_WORDS = {
    OperatorKind.SESSION_AGGREGATE: "a session window",
    OperatorKind.STREAM_JOIN: "a join of two streams",
    OperatorKind.DEDUPLICATE: "a deduplication",
    OperatorKind.DEDUPLICATE_WITHIN_WATERMARK: "a deduplication within the watermark",
    OperatorKind.MAP_GROUPS: "a function with state for each group",
    OperatorKind.TRANSFORM_WITH_STATE: "transformWithState",
    OperatorKind.UNKNOWN: "an unknown operator",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """Results are wanted of `[start, until)`, and need input of `[input_start, input_until)`."""

    start: datetime
    until: datetime
    input_start: datetime
    input_until: datetime

    def needs(self, part: Slice) -> bool:
        """Return whether a record of the slice may be in the input that is needed."""
        if part.first is None or part.last is None:
            return False
        is_before = part.last < milliseconds(self.input_start)
        return not is_before and part.first < milliseconds(self.input_until)


def read_range(request: PlanRequest, operators: Iterable[StatefulOperator]) -> TimeRange:
    """Return the range of the options --from, --until and --warm-up; ScenarioError if it's none."""
    options = request.options
    start = moment(options["from"], option="from")
    until = moment(options["until"], option="until")
    if until <= start:
        raise ScenarioError(
            f"--until: expected a time after --from ({iso(start)}), found {iso(until)}"
        )
    given = options.get("warm-up")
    warm_up = duration(given, option="warm-up") if given else timedelta()
    # A window that begins right before the end holds records up to its own end.
    size = max((o.window.size_us or 0 for o in operators if o.window), default=0)
    return TimeRange(
        start=start,
        until=until,
        input_start=earlier(start, warm_up),
        input_until=later(until, timedelta(microseconds=size) + warm_up),
    )


def operator_blockers(request: PlanRequest, version: Version) -> list[str]:
    """Return why the query's results belong to no range, or depend on more than a range."""
    operators = version.stateful or ()
    kinds = {o.kind for o in operators}
    found = []
    if any(o.kind is OperatorKind.AGGREGATE and o.window is None for o in operators):
        found.append(
            "the query aggregates without a time window, so its results have no event time. Use "
            "from-scratch"
        )
    words = [_WORDS[kind] for kind in sorted(kinds & _NEED_WARM_UP)]
    if sum(o.window is not None for o in operators) > 1:
        words.append("chained time windows")
    if words and "warm-up" not in request.options:
        found.append(
            f"the query has {' and '.join(words)}, so its results also depend on records outside "
            "the range. Pass --warm-up with the time before and after the range that the run "
            "should also process"
        )
    return found


@dataclass(frozen=True, slots=True)
class ExpiredInput:
    """Records that results of the range may need, and that Kafka has deleted: `said` is a sentence.

    `start` is from when on no result needs them, None if there is no such time.
    """

    said: str
    start: datetime | None

    @property
    def blocker(self) -> str:
        """Say how the plan may do without them."""
        later = f"Pass {iso(self.start)} or later as --from. " if self.start else ""
        return f"{self.said}. {later}To accept incomplete results, pass --accept-expired"


def expired_input(
    request: PlanRequest,
    topics: Mapping[str, Topic],
    scanned: Ranges,
    needed: Ranges,
    wanted: TimeRange | None,
) -> Iterator[ExpiredInput]:
    """Yield the topics without the first records of the range; None: all records are needed.

    `needed` are the offsets that --lateness requires. What was measured before it was deleted, and
    what --scan leaves out, is named elsewhere.
    """
    inspector, since = request.inspector, 0
    if wanted is not None:
        late = request.options.get("lateness", "0s")
        since = milliseconds(arrival(wanted.input_start, wanted.input_until, late)[0])
    parts = {
        (name, number)
        for name, number in cut_since(inspector, topics, since)
        for measured in [scanned.get(name, {}).get(str(number), (0, 0))[0]]
        if 0 < measured <= needed[name][str(number)][0]
    }
    for name in sorted({name for name, _ in parts}):
        left = left_since(inspector, {name: topics[name]}, since)
        before = "" if left is None else f" with Kafka timestamps before {iso(left)}"
        start = left + (wanted.start - from_milliseconds(since)) if left and wanted else None
        yield ExpiredInput(_expired_risk(topics[name], before), start)


INPUT_EXPIRED = Risk(
    "{deleted}. Records{before} may be missing, so results of the range may be incomplete",
    deleted="Kafka has deleted the first records of TOPIC (N offsets)",
    before=" with Kafka timestamps before TIME",
)


def _expired_risk(topic: Topic, before: str) -> str:
    return INPUT_EXPIRED(deleted=deleted_words(topic), before=before)


def within_lateness(request: PlanRequest, topics: Mapping[str, Topic], wanted: TimeRange) -> Ranges:
    """Return the offsets that arrived up to --lateness outside the range, all ones without it.

    A record after the first newer timestamp isn't in them, whatever its own timestamp is: Kafka can
    say where a time first comes, but not where it last comes.
    """
    whole = whole_topics(topics)
    given = request.options.get("lateness")
    if given is None:
        return whole
    since, until = arrival(wanted.input_start, wanted.input_until, given)
    parts = [(t, int(p)) for t, numbers in whole.items() for p in numbers]
    first_at = request.inspector.kafka.first_at
    begins, ends = first_at(parts, milliseconds(since)), first_at(parts, milliseconds(until))
    found: Ranges = {}
    for topic, part in parts:
        end = whole[topic][str(part)][1]
        begin, after = begins.get((topic, part)), ends.get((topic, part))
        limits = (end if begin is None else begin, end if after is None else after)
        found.setdefault(topic, {})[str(part)] = limits
    return found


def result_filter(
    found: EventTimes, version: Version, wanted: TimeRange
) -> tuple[str | None, list[str]]:
    """Return the column by which results are chosen, and why none can be.

    None without a reason: the input's limits are those of the results, because the only operator
    with state has windows that begin and end with the range.
    """
    if found.result_time is not None:
        return found.result_time, []
    operators = version.stateful or ()
    window = operators[0].window if len(operators) == 1 else None
    if (
        window is not None
        and window.column == operators[0].watermark_column
        and window.size_us
        and window.size_us == (window.slide_us or window.size_us)
    ):
        limits = (wanted.start, wanted.until)
        if all(_begins(window.size_us, window.start_us or 0, at) for at in limits):
            return None, []
    return None, [
        "Headgate doesn't know which column has the event time or window of a result. Pass this "
        f"column as --time-column (for JSON: value.FIELD). Columns: {name_list(found.columns)}"
    ]


def _begins(size_us: int, offset_us: int, at: datetime) -> bool:
    return (milliseconds(at) * 1000 - offset_us) % size_us == 0


def ranges_of(slices: Iterable[Slice], wanted: TimeRange) -> Ranges:
    """Return the offsets from the first to the last slice that is needed, by partition.

    A partition that has none gets an empty range: the function may still name its topic.
    """
    found: Ranges = {}
    for part in slices:
        parts = found.setdefault(part.topic, {})
        begin, end = parts.setdefault(str(part.partition), (part.begin, part.begin))
        if wanted.needs(part):
            first = part.begin if begin == end else min(begin, part.begin)
            parts[str(part.partition)] = (first, max(end, part.end))
    return found


def measured_range(slices: Iterable[Slice], offsets: Ranges) -> dict[str, Any]:
    """Return the impact's `range` and `lateness_ms`: the offsets by topic, and their event times.

    A topic without records of the range is left out.
    """
    every = list(slices)
    found: dict[str, Any] = {}
    for topic, parts in sorted(offsets.items()):
        spans = {part: [begin, end] for part, (begin, end) in parts.items() if begin < end}
        inside = [
            s
            for s in every
            for begin, end in [spans.get(str(s.partition), (0, 0))]
            if s.topic == topic and begin <= s.begin and s.end <= end
        ]
        firsts = [s.first for s in inside if s.first is not None]
        lasts = [s.last for s in inside if s.last is not None]
        if firsts and lasts:
            times = {"first": min(firsts), "last": max(lasts)}
            limits = {name: iso(from_milliseconds(at)) for name, at in times.items()}
            found[topic] = {**limits, "offsets": spans}
    return {"range": found, "lateness_ms": lateness(every)}


def lateness(slices: Iterable[Slice]) -> int | None:
    """Return by how many ms an event time can be behind an earlier one of its partition.

    It is a bound: the order within a slice is unknown. None if no record has an event time.
    """
    newest: dict[tuple[str, int], int] = {}
    worst: int | None = None
    for part in sorted(slices, key=lambda s: (s.topic, s.partition, s.begin)):
        if part.first is None or part.last is None:
            continue
        key = (part.topic, part.partition)
        newest[key] = max(newest.get(key, part.last), part.last)
        worst = max(worst or 0, newest[key] - part.first)
    return worst
