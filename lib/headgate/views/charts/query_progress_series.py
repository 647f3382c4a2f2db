"""How the batches of a query went, as series to draw: named, thinned, restarts marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from headgate.model.progress import BatchProgress
from headgate.text.numbers import moment

MOST_POINTS = 2_000
"""Maximum number of points in a chart, about the width of a screen in pixels."""
MOST_PARTS = 4
"""Maximum number of phases of a batch that are shown; the smallest are combined."""
_TOTAL = "triggerExecution"
_PHASES = (
    "latestOffset", "setOffsetRange", "getOffset", "getEndOffset", "getBatch", "queryPlanning",
    "walCommit", "addBatch", "commitOffsets", "commitBatch",
)  # fmt: skip
"""Spark's phases of a batch, in order of execution."""

Value = float | None


class Unit(StrEnum):
    """What a chart's values are in."""

    ROWS_PER_SECOND = "rows/s"
    SECONDS = "s"
    ROWS = "rows"
    BYTES = "B"
    RECORDS = "records"


@dataclass(frozen=True, slots=True)
class Line:
    """One series: a value a batch, None where the engine reported none."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart. `at` are the batches' begins, `batches` their numbers, as many as values.

    `stacked` lines are parts of a whole. `of` is the number of batches before thinning. `breaks`
    are indexes whose batch is the first of its run: no line is drawn there from the one before.
    """

    title: str
    unit: Unit
    at: tuple[datetime, ...]
    batches: tuple[int, ...]
    lines: tuple[Line, ...]
    stacked: bool = False
    of: int = 0
    breaks: frozenset[int] = frozenset()

    @property
    def is_thinned(self) -> bool:
        """Whether not every batch is drawn."""
        return len(self.at) < self.of


def charts(progress: Sequence[BatchProgress], most: int = MOST_POINTS) -> tuple[Chart, ...]:
    """Return every chart that the reports have values for, each thinned to about `most` points.

    Thinning cuts the batches into equal parts and keeps the smallest and the largest value of
    each line in each part, so that no spike is lost. Reports without a readable time are left out.
    """
    known = [(p, t) for p in progress if (t := moment(p.at)) is not None]
    made = (_chart(known, *row) for row in _CHARTS)
    return tuple(_thinned(c, most) for c in made if c is not None)


def restarts(progress: Sequence[BatchProgress]) -> tuple[datetime, ...]:
    """Return when runs began that others of the same query came before."""
    out = []
    for before, after in pairwise(progress):
        if before.run_id != after.run_id and (at := moment(after.at)) is not None:
            out.append(at)
    return tuple(out)


Known = Sequence[tuple[BatchProgress, datetime]]
Lines = Callable[[Sequence[BatchProgress]], Iterable[Line]]


def _chart(known: Known, title: str, unit: Unit, lines: Lines, stacked: bool) -> Chart | None:
    made = lines([p for p, _ in known])
    shown = tuple(line for line in made if any(v is not None for v in line.values))
    if not shown:
        return None
    shown = _largest(shown) if stacked else shown
    return Chart(
        title=title, unit=unit, at=tuple(t for _, t in known),
        batches=tuple(p.batch for p, _ in known), lines=shown, stacked=stacked, of=len(known),
        breaks=frozenset(
            i for i in range(1, len(known)) if known[i][0].run_id != known[i - 1][0].run_id
        ),
    )  # fmt: skip


def _rates(progress: Sequence[BatchProgress]) -> Iterable[Line]:
    yield Line("arrived", tuple(_sum(s.input_rows_per_second for s in p.sources) for p in progress))
    yield Line(
        "processed", tuple(_sum(s.processed_rows_per_second for s in p.sources) for p in progress)
    )


def _sum(values: Iterable[Value]) -> Value:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def _durations(progress: Sequence[BatchProgress]) -> Iterable[Line]:
    """Yield the parts of each batch in seconds; the whole where no parts were reported."""
    names = dict.fromkeys(n for p in progress for n in p.durations if n != _TOTAL)
    order = [*(n for n in _PHASES if n in names), *(n for n in names if n not in _PHASES)]
    for name in order:
        yield Line(name, tuple(_seconds(p.durations.get(name)) for p in progress))
    if not order:
        yield Line("batch", tuple(_seconds(p.duration_ms) for p in progress))


def _largest(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return the largest parts of a whole in their order, and what is left as `other`."""
    if len(lines) <= MOST_PARTS:
        return lines
    sizes = {x.name: sum(v or 0 for v in x.values) for x in lines}
    kept = set(sorted(sizes, key=lambda n: -sizes[n])[: MOST_PARTS - 1])
    rest = [x.values for x in lines if x.name not in kept]
    other = Line("other", tuple(_sum(values) for values in zip(*rest, strict=True)))
    return (other, *(x for x in lines if x.name in kept))


def _seconds(milliseconds: int | None) -> Value:
    return None if milliseconds is None else milliseconds / 1000


def _per_operator(field: str) -> Lines:
    """Return the lines of one number of every stateful operator; operators are matched by index."""

    def lines(progress: Sequence[BatchProgress]) -> Iterable[Line]:
        names: dict[int, str] = {}
        for report in progress:
            names.update(enumerate(o.name for o in report.operators))
        for place, name in sorted(names.items()):
            title = f"{name} {place}" if len(names) > 1 else name
            yield Line(title, tuple(_operator(p, place, field) for p in progress))

    return lines


def _operator(progress: BatchProgress, place: int, field: str) -> Value:
    if place >= len(progress.operators):
        return None
    value: Value = getattr(progress.operators[place], field)
    return value


def _watermark(progress: Sequence[BatchProgress]) -> Iterable[Line]:
    """Yield how far the watermark is behind the batch's begin; it is 1970 before any event."""
    yield Line("watermark lag", tuple(map(event_time_lag, progress)))


def event_time_lag(progress: BatchProgress) -> Value:
    """Return the seconds from the watermark to the batch's begin, None without a watermark."""
    at, mark = moment(progress.at), moment(progress.watermark)
    if at is None or mark is None or mark.timestamp() <= 0:
        return None
    return max(0.0, (at - mark).total_seconds())


def _dropped(progress: Sequence[BatchProgress]) -> Iterable[Line]:
    """Yield lines only where rows were dropped at all: a flat zero says less than a sentence."""
    for line in _per_operator("rows_dropped_by_watermark")(progress):
        if any(line.values):
            yield line


def _lags(progress: Sequence[BatchProgress]) -> Iterable[Line]:
    """Yield, by topic, the records that were there and not read when the batch ended."""
    reports = [lag_by_topic(p) for p in progress]
    for topic in dict.fromkeys(t for r in reports for t in r):
        yield Line(topic, tuple(r.get(topic) for r in reports))


def lag_by_topic(progress: BatchProgress) -> dict[str, float]:
    """Return latest less end offset by topic, over the partitions that have both."""
    lags: dict[str, float] = {}
    for source in progress.sources:
        for topic, latest in _topics(source.latest):
            end = dict(_topics(source.end)).get(topic, {})
            for partition, offset in latest.items():
                read = end.get(partition)
                if isinstance(offset, int) and isinstance(read, int):
                    lags[topic] = lags.get(topic, 0.0) + max(0, offset - read)
    return lags


def _topics(offsets: Any) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if isinstance(offsets, Mapping):
        yield from ((t, row) for t, row in offsets.items() if isinstance(row, Mapping))


_CHARTS: tuple[tuple[str, Unit, Lines, bool], ...] = (
    ("Rows per second", Unit.ROWS_PER_SECOND, _rates, False),
    ("Duration of a batch", Unit.SECONDS, _durations, True),
    ("Rows in the state", Unit.ROWS, _per_operator("rows_total"), False),
    ("Memory used by the state", Unit.BYTES, _per_operator("memory_bytes"), False),
    ("Watermark lag", Unit.SECONDS, _watermark, False),
    ("Unread records", Unit.RECORDS, _lags, False),
    ("Late rows dropped", Unit.ROWS, _dropped, False),
)


def _thinned(chart: Chart, most: int) -> Chart:
    if len(chart.at) <= most:
        return chart
    whole = tuple(_sum(values) for values in zip(*(x.values for x in chart.lines), strict=True))
    keys = [whole] if chart.stacked else [x.values for x in chart.lines]
    parts = max(2, most // (2 * len(keys)))
    kept = sorted({i for key in keys for i in extremes(key, parts)})
    begun = sorted(chart.breaks)
    runs = [bisect_right(begun, i) for i in kept]
    return Chart(
        title=chart.title, unit=chart.unit, stacked=chart.stacked, of=chart.of,
        at=tuple(chart.at[i] for i in kept), batches=tuple(chart.batches[i] for i in kept),
        lines=tuple(Line(x.name, tuple(x.values[i] for i in kept)) for x in chart.lines),
        breaks=frozenset(i for i in range(1, len(runs)) if runs[i] != runs[i - 1]),
    )  # fmt: skip


def extremes(values: Sequence[Value], parts: int) -> set[int]:
    """Return the indexes of the smallest and largest value in each of `parts`, and both ends."""
    out = {0, len(values) - 1}
    for part in range(parts):
        places = range(part * len(values) // parts, (part + 1) * len(values) // parts)
        known = [(v, i) for i in places if (v := values[i]) is not None]
        if known:
            out |= {min(known)[1], max(known)[1]}
    return out
