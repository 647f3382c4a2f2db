"""Event time and output mode: what closes groups, and what a mode lets out."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.model.version import OperatorKind, StatefulOperator, Version, Watermark

AGGREGATES = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)


def output_mode(version: Version) -> str | None:
    """Return `append`, `update` or `complete`; None where the evidence does not say."""
    mode = version.output_mode or (version.sink.output_mode if version.sink else None)
    return mode.lower() if mode else None


def evicts_by_time(operator: StatefulOperator | None, watermarks: Sequence[Watermark]) -> bool:
    """Say whether the watermark closes this operator's rows because its key holds event time.

    Joins evict by their condition; what they evict could not have matched any more.
    """
    if operator is None:
        return False
    if operator.kind is OperatorKind.DEDUPLICATE_WITHIN_WATERMARK:
        return True
    if operator.kind not in (*AGGREGATES, OperatorKind.DEDUPLICATE):
        return False
    return keyed_by_time(operator, watermarks)


def goes_by_time(operator: StatefulOperator, watermarks: Sequence[Watermark]) -> bool:
    """Say whether an operator drops rows, evicts state or fires timers by the watermark.

    A join may, by its condition. An aggregate or a deduplication whose keys hold no event time
    does not use it; if its keys are unknown it may.
    """
    if operator.kind in (*AGGREGATES, OperatorKind.DEDUPLICATE):
        return operator.keys is None or keyed_by_time(operator, watermarks)
    if operator.kind is OperatorKind.LIMIT:
        return False
    if operator.kind is OperatorKind.MAP_GROUPS:
        return operator.extra.get("timeout") not in ("NoTimeout", "ProcessingTimeTimeout")
    return True


def keyed_by_time(operator: StatefulOperator, watermarks: Sequence[Watermark]) -> bool:
    """Say whether a key, or its window, is cut over a watermarked column.

    Explain text shows which columns carry the watermark: one that was made before `withWatermark`
    does not. In other evidence the expressions show it.
    """
    marked = operator.extra.get("keys_carry_watermark")
    if marked is not None:
        return bool(marked)
    times = [w.column for w in watermarks]
    if operator.window is not None and operator.window.column in times:
        return True
    return any(time == key or f"({time}" in key for key in operator.keys or () for time in times)
