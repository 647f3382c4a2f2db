"""A query's trigger in the words of `DataStreamWriter.trigger`."""

from __future__ import annotations

from typing import Any

_UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))


def trigger_words(trigger: Any) -> dict[str, Any] | None:
    """Return a Java `Trigger` as `{"processingTime": "5 seconds"}`; None for the default one."""
    kind = str(trigger.getClass().getSimpleName()).rstrip("$")
    match kind:
        case "AvailableNowTrigger":
            return {"availableNow": True}
        case "OneTimeTrigger":
            return {"once": True}
        case "ContinuousTrigger":
            return {"continuous": _duration(int(trigger.intervalMs()))}
        case "RealTimeTrigger":
            return {"realTime": _duration(int(trigger.batchDurationMs()))}
        case "ProcessingTimeTrigger":
            interval = int(trigger.intervalMs())
            return {"processingTime": _duration(interval)} if interval else None
    return {kind: True}


def _duration(milliseconds: int) -> str:
    """Return milliseconds in the largest unit that holds them exactly, `90 second`s as seconds."""
    for size, unit in _UNITS:
        if milliseconds and milliseconds % size == 0:
            count = milliseconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{milliseconds} milliseconds"
