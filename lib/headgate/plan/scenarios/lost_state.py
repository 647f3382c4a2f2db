"""What it means that a query begins in the middle of its input with empty state."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.plan.moment import from_milliseconds, iso
from headgate.plan.position import QueryPosition

_UNBOUNDED = "its results never become right by themselves: they lack all that came before"
_MEANING = {
    OperatorKind.DEDUPLICATE: "what it let through before passes once more",
    OperatorKind.DEDUPLICATE_WITHIN_WATERMARK: "what it let through before passes once more",
    OperatorKind.STREAM_JOIN: "a row finds no partner that came before",
    OperatorKind.LIMIT: "it counts from zero and lets rows through again",
}


def state_risks(position: QueryPosition, version: Version | None, at: int | None) -> list[str]:
    """Say which results are wrong, and until when; `at` is the time it begins at, if it is one."""
    if not position.operators:
        return []
    count = len(position.operators)
    whose = f"{count} stateful operator{'s' if count > 1 else ''}"
    names = ", ".join(position.operators)
    risks = [f"the state of {whose} ({names}) is not taken over: the new version begins empty"]
    stateful = version.stateful if version else None
    risks += [_operator(op, at) for op in stateful or ()]
    if not stateful:
        risks.append("no stored version tells what its operators do: " + _UNBOUNDED)
    return [*dict.fromkeys([*risks, *_watermark(position)])]


def _watermark(position: QueryPosition) -> Iterator[str]:
    if position.watermark_ms > 0:
        at = iso(datetime.fromtimestamp(position.watermark_ms / 1000, UTC))
        yield (
            f"the watermark (now {at}) begins anew: late records that the old version would have"
            " dropped are taken, and windows that it has emitted can be emitted again"
        )


def _operator(op: StatefulOperator, at: int | None) -> str:
    name = f"operator {op.operator_id}" if op.operator_id is not None else "an operator"
    if op.window is not None and op.window.size_us:
        return _window(name, op.window.size_us, at)
    if op.window is not None and op.window.session_gap:
        return (
            f"sessions of {name} that are open at the point are cut in two: each part is emitted as"
            f" a session of its own (gap {op.window.session_gap})"
        )
    return f"{name}: {_MEANING.get(op.kind, _UNBOUNDED)}"


def _window(name: str, size_us: int, at: int | None) -> str:
    length = f"{size_us / 1_000_000:g} s"
    if at is None:
        return (
            f"windows of {name} ({length}) that are open at the point hold only what comes after"
            " it: their results are too small, and replace or follow the right ones; windows that"
            " begin after the point are whole"
        )
    end = iso(from_milliseconds(at + size_us // 1000))
    start = iso(from_milliseconds(at))
    return (
        f"windows of {name} ({length}) that begin before {start} hold only what comes from then"
        f" on: results of windows that end before {end} can be too small; later ones are whole,"
        " but for records that came late to windows before"
    )
