"""The newest values of a running query beside its nodes: rates at sources, rows at stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headgate.model.progress import BatchProgress, OperatorProgress, SourceProgress
from headgate.model.version import StatefulOperator, Version
from headgate.text.numbers import as_records, count, duration, exact, plural, size
from headgate.views.charts.query_progress_series import event_time_lag, lag_by_topic


@dataclass(frozen=True, slots=True)
class Newest:
    """`notes` are short texts by node id, `rows` names and values for the panel."""

    notes: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[tuple[str, object]]] = field(default_factory=dict)


def newest_batch(version: Version, progress: Sequence[BatchProgress]) -> Newest:
    """Return what the newest report says of the version's nodes.

    Sources are matched by their index in the report, operators by index and name. If the report
    has others than the version, nothing is said: it is of another version of the query.
    """
    found = Newest()
    if not progress:
        return found
    last = progress[-1]
    for node, source in _sources(version, last):
        rate = source.input_rows_per_second
        if rate is not None:
            found.notes[node] = f"{rows(rate)}/s"
        found.rows[node] = list(_source_rows(source, last))
    for operator, report in _operators(version, last):
        _operator(found, operator, report)
    return found


def _sources(version: Version, last: BatchProgress) -> Iterator[tuple[str, SourceProgress]]:
    sources = sorted(version.sources or (), key=lambda s: s.position)
    if len(sources) == len(last.sources):
        yield from (
            (s.node, r) for s, r in zip(sources, last.sources, strict=True) if s.node is not None
        )


def _operators(
    version: Version, last: BatchProgress
) -> Iterator[tuple[StatefulOperator, OperatorProgress]]:
    """Yield pairs: the report goes from the output up, as the ids of operators do."""
    operators = version.stateful or ()
    if len(operators) == len(last.operators) and all(
        o.name in (None, r.name) for o, r in zip(operators, last.operators, strict=True)
    ):
        yield from zip(operators, last.operators, strict=True)


def _operator(found: Newest, operator: StatefulOperator, report: OperatorProgress) -> None:
    stores = [s.node for s in operator.stores if s.node]
    values = list(_operator_rows(report))
    for node in (operator.node, *stores):
        if node is not None:
            found.rows[node] = values
    # A join's four stores report as one: the number belongs to the join, not to one of them.
    place = stores[0] if len(stores) == 1 else operator.node
    if place is not None and report.rows_total is not None:
        found.notes[place] = plural(report.rows_total, "row", count(report.rows_total))


def _source_rows(source: SourceProgress, last: BatchProgress) -> Iterator[tuple[str, object]]:
    yield "Batch", exact(last.batch)
    yield "Arrived", _rate(source.input_rows_per_second)
    yield "Processed", _rate(source.processed_rows_per_second)
    yield "Rows", None if source.input_rows is None else exact(source.input_rows)
    lags = lag_by_topic(BatchProgress(query_id="", run_id="", batch=0, at="", sources=(source,)))
    if lags:
        unread = int(sum(lags.values()))
        yield "Unread after this batch", as_records(unread, exact(unread))
    behind = event_time_lag(last)
    if behind is not None:
        yield "Watermark", f"{duration(int(behind * 1000))} before the batch's start"


def _operator_rows(report: OperatorProgress) -> Iterator[tuple[str, object]]:
    yield "Rows", None if report.rows_total is None else exact(report.rows_total)
    yield "Updated", None if report.rows_updated is None else exact(report.rows_updated)
    yield "Removed", None if report.rows_removed is None else exact(report.rows_removed)
    yield "Late rows", report.rows_dropped_by_watermark
    yield "Memory", None if report.memory_bytes is None else size(report.memory_bytes)


def _rate(value: float | None) -> str | None:
    return None if value is None else f"{rows(value)} rows/s"


def rows(value: float) -> str:
    """Return a rate with three digits at most."""
    return f"{value:.2g}" if abs(value) < 10 else count(round(value))
