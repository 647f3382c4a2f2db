"""The type that arithmetic over decimals has, under Spark's default settings.

Source: `DecimalPrecision` and `RoundBase.dataType`; sums of such values on 4.2.0.
"""

from __future__ import annotations

import re
from typing import Any

from headgate.parse.spark.explain.arguments import whole
from headgate.parse.spark.expression.term import Term

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def combined(term: Term, kinds: list[Any]) -> str | None:
    """Return the type of a sum, difference or product of decimals, up to 38 digits.

    Analysis has made a literal a decimal of its digits.
    """
    if not any(_DECIMAL.fullmatch(str(k)) for k in kinds):
        return None
    left, right = (_digits(t, k) for t, k in zip(term.args, kinds, strict=True))
    if left is None or right is None or term.name not in ("+", "-", "*"):
        return None
    if term.name == "*":
        digits, scale = left[0] + right[0] + 1, left[1] + right[1]
    else:
        scale = max(left[1], right[1])
        digits = max(left[0] - left[1], right[0] - right[1]) + scale + 1
    return f"decimal({digits},{scale})" if digits <= 38 else None


def _digits(term: Term, kind: Any) -> tuple[int, int] | None:
    """Return precision and scale of a decimal, or of a literal beside one."""
    if match := _DECIMAL.fullmatch(str(kind)):
        return int(match[1]), int(match[2])
    if term.kind == "literal" and re.fullmatch(r"-?\d+(?:\.\d+)?", term.name):
        ahead, _, behind = term.name.lstrip("-").partition(".")
        return len(ahead.lstrip("0") + behind) or 1, len(behind)
    return None


_OF_WHOLE = {"byte": 3, "short": 5, "integer": 10, "long": 20}


def is_kept(kind: Any, to: Any) -> bool | None:
    """Whether a cast from or to a decimal never gives null; None if neither is a decimal.

    `to` needs enough digits for all values. Source: `Cast.forceNullable` and
    `canNullSafeCastToDecimal`.
    """
    old, new = (_DECIMAL.fullmatch(str(k)) for k in (kind, to))
    if old and new:
        spare = int(new[1]) - int(new[2]) - int(old[1]) + int(old[2])
        return spare >= 0 and int(new[2]) >= int(old[2])
    if new and kind in _OF_WHOLE:
        return int(new[1]) - int(new[2]) >= _OF_WHOLE[kind]
    if new:
        return False if kind in ("float", "double") else None
    return to not in _OF_WHOLE if old and to is not None else None


def rounded(term: Term, value: Any) -> str | None:
    """Return the type of a decimal that is rounded to some digits after the point."""
    match = _DECIMAL.fullmatch(str(value))
    places = whole(term.args[1].text) if len(term.args) > 1 else 0
    if match is None or places is None or places < 0:
        return None
    digits, scale = int(match[1]), int(match[2])
    kept = min(scale, places)
    return f"decimal({min(digits - scale + 1 + kept, 38)},{kept})"
