"""How long a stateful operator of Spark keeps a row, as far as its plan shows."""

from __future__ import annotations

import re
from enum import StrEnum

from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.rules.readiness.facts.spans import span_ms
from headgate.rules.spark.facts.event_time import evicts_by_time, output_mode

_COMPARED = re.compile(r"<=|>=|<|>|=")
_OF_OPERATOR = re.compile(r"\bop\d+\.|\bwindow_time\(")


class Bound(StrEnum):
    """TIME: the watermark lets go of rows. KEYS: as many rows as there are keys; ONE: one row.

    GROWS: each day adds rows for ever. FUNCTION: only the user's function removes rows. OPEN: the
    evidence does not show it.
    """

    TIME = "time"
    KEYS = "keys"
    ONE = "one"
    GROWS = "grows"
    FUNCTION = "function"
    OPEN = "open"


def bound_of(operator: StatefulOperator, version: Version) -> Bound:
    """Return what limits the operator's state."""
    match operator.kind:
        case OperatorKind.AGGREGATE | OperatorKind.SESSION_AGGREGATE:
            return _aggregate(operator, version)
        case OperatorKind.DEDUPLICATE_WITHIN_WATERMARK:
            return Bound.TIME
        case OperatorKind.DEDUPLICATE if operator.keys is not None:
            return Bound.TIME if _evicts(operator, version) else Bound.GROWS
        case OperatorKind.STREAM_JOIN if operator.keys is not None:
            return Bound.TIME if _join_evicts(operator, version) else Bound.GROWS
        case OperatorKind.MAP_GROUPS if "timeout" in operator.extra:
            none = str(operator.extra["timeout"]) == "NoTimeout"
            return Bound.FUNCTION if none else Bound.TIME
        case OperatorKind.TRANSFORM_WITH_STATE:
            return _variables(operator)
    return Bound.OPEN


def keeps_ms(operator: StatefulOperator, version: Version) -> int | None:
    """Return how far back in event time rows reach that a watermark bounds; None if unknown."""
    delay = span_ms(operator.watermark_delay)
    window = operator.window
    if delay is None or bound_of(operator, version) is not Bound.TIME:
        return None
    if operator.kind is OperatorKind.AGGREGATE and window is not None and window.size_us:
        return delay + window.size_us // 1000
    within = operator.kind is OperatorKind.DEDUPLICATE_WITHIN_WATERMARK
    return delay if within else None


def _aggregate(operator: StatefulOperator, version: Version) -> Bound:
    if operator.keys is None:
        return Bound.OPEN
    if not operator.keys:
        return Bound.ONE
    timed = operator.window is not None or operator.kind is OperatorKind.SESSION_AGGREGATE
    complete = output_mode(version) == "complete"
    if not complete and _evicts(operator, version):
        return Bound.TIME
    return Bound.GROWS if timed else Bound.KEYS


def _evicts(operator: StatefulOperator, version: Version) -> bool:
    """Whether a watermark reaches the key; the window of an operator beneath carries its time."""
    if evicts_by_time(operator, version.watermarks):
        return True
    if not version.watermarks:
        return False
    named = [*(operator.keys or ()), operator.window.column if operator.window else ""]
    return any(_OF_OPERATOR.search(n) for n in named)


def _join_evicts(operator: StatefulOperator, version: Version) -> bool:
    """Whether both sides let rows go: event time is among the keys, or limited from both sides."""
    times = {w.column for w in version.watermarks}
    if not times:
        return False
    both = zip(operator.keys or (), operator.right_keys or (), strict=False)
    if any(_holds(left, times) and _holds(right, times) for left, right in both):
        return True
    parts = re.split(r"\bAND\b", operator.condition or "")
    ranges = [p for p in parts if _COMPARED.search(p) and sum(t in p for t in times) > 1]
    return len(ranges) > 1 or any(_is_equation(p) for p in ranges)


def _holds(key: str, times: set[str]) -> bool:
    return any(t in key for t in times) or bool(_OF_OPERATOR.search(key))


def _is_equation(part: str) -> bool:
    return bool(re.search(r"(?<![<>])=", part))


def _variables(operator: StatefulOperator) -> Bound:
    """Timers and time-to-live let go of rows; without either only the function does."""
    if str(operator.extra.get("time_mode", "NoTime")) not in ("NoTime", "None"):
        return Bound.OPEN
    variables = operator.extra.get("variables") or {}
    lasting = [v for v in variables.values() if not (isinstance(v, dict) and v.get("ttl"))]
    return Bound.TIME if variables and not lasting else Bound.FUNCTION
