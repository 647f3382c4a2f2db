"""What a plan costs beyond its records: bytes, time, and who downstream gets data twice.

A plan's `impact` has `records` by topic, their `total` and `to_read` from its scenario. Inputs that
are reprocessed and whose records can't be counted, such as `up to 4 files`, are in `uncounted`; a
scenario that gives `to_read` gives that list, too. The keys below hold what has to be measured or
looked up elsewhere. None of them is approved, because all of them are estimates. What could not be
found out is None, and `how` says why.

    bytes            by topic, None where unknown; `bytes_total` is their sum
    bytes_how        how they were estimated
    seconds          to read it all again and catch up, None where unknown or never
    seconds_how      from which rate, or why it is not known
    copy_seconds     to copy a checkpoint within a remote file system, None where unknown
    copy_how         from which earlier copies, or why it is not known
    kept_seconds     how long after its end the run keeps what its undo needs
    downstream       `pipelines`, `groups`, `topics` that get its results, `owners` by name,
                     `unowned`; `known` is false where what it writes is not known

The plan of a historical range has measured:

    range            by topic `first` and `last` (event times), and `offsets`: from and to by
                     partition, to not included
    lateness_ms      the most that a record is late, None if no record has an event time
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from headgate.reprocess.plan import UNDO, Plan

UNKNOWN_INPUT = "the checkpoint doesn't show what the query has read"
"""An uncounted input that isn't known at all."""

MEASURED = (
    "bytes", "bytes_total", "bytes_how", "seconds", "seconds_how", "copy_seconds", "copy_how",
    "kept_seconds", "downstream",
)  # fmt: skip
"""The keys that a scenario does not fill in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Average bytes of a record by topic, and how they were found."""

    average: Mapping[str, float] = field(default_factory=dict)
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Records per second that a pipeline reads when it has work, and that arrive meanwhile.

    `idle`: it never had much work, so `reads` is what arrived, not the most that it can read.
    """

    reads: float
    arrives: float = 0.0
    how: str = ""
    idle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """Who gets a pipeline's results, however far down; see `landscape.paths.Reach`.

    `known` is False if no source says what the pipeline writes. Then empty fields mean unknown.
    """

    known: bool = True
    pipelines: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unowned: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as a plan's `impact` keeps it."""
        return {k: _plain(v) for k, v in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return list(value) if isinstance(value, tuple) else value


def in_bytes(records: Mapping[str, int], sizes: Sizes) -> dict[str, Any]:
    """Return what so many records of each topic take; a topic of none takes nothing."""
    found = {name: _bytes(count, sizes.average.get(name)) for name, count in records.items()}
    total = None if None in found.values() else sum(b for b in found.values() if b is not None)
    return {"bytes": found, "bytes_total": total, "bytes_how": sizes.how}


def _bytes(count: int, average: float | None) -> int | None:
    if not count:
        return 0
    return None if average is None else round(count * average)


def in_time(backlog: int, rates: Rates | None, why_not: str) -> dict[str, Any]:
    """Return how long it takes until nothing waits any more: backlog / (reads - arrives).

    `why_not` says why no rate is known.
    """
    if not backlog:
        return {"seconds": 0.0, "seconds_how": "no unread records"}
    if rates is None:
        return {"seconds": None, "seconds_how": why_not}
    left = rates.reads - rates.arrives
    if rates.idle and left <= rates.arrives:
        keeps_up = (
            f"unknown: the pipeline kept up with {_rate(rates.arrives, 'incoming ')}, so "
            f"Headgate could not measure its maximum read rate ({rates.how})"
        )
        return {"seconds": None, "seconds_how": keeps_up}
    if left <= 0:
        never = (
            f"never: {_rate(rates.arrives)} arrive, but the pipeline reads only "
            f"{_rate(rates.reads)} ({rates.how})"
        )
        return {"seconds": None, "seconds_how": never}
    how = (
        f"the pipeline reads {_rate(rates.reads)} while {_rate(rates.arrives)} arrive ({rates.how})"
    )
    return {"seconds": round(backlog / left, 1), "seconds_how": how}


def _rate(per_second: float, what: str = "") -> str:
    """Return a rate; a slow one isn't 0."""
    number = f"{per_second:.2g}" if 0 < per_second < 1 else f"{per_second:.0f}"
    return f"{number} {what}records/s"


def with_kept(plan: Plan, keep: timedelta) -> Plan:
    """Return the plan with how long its run keeps what an undo needs, and how much that is.

    It adds the size if a step copies a checkpoint and the scenario hasn't already given it.
    """
    if not plan.can_apply or plan.scenario == UNDO:
        return plan
    copies = [d for d in (s.details() for s in plan.steps) if d.get("copied") is not None]
    told: dict[str, Any] = {"kept_seconds": round(keep.total_seconds())}
    if copies and "snapshot" not in plan.impact:
        told["snapshot"] = {k: sum(d[k] for d in copies) for k in ("bytes", "copied")}
    return replace(plan, impact={**plan.impact, **told})


def again(impact: Mapping[str, Any]) -> int | None:
    """Return how many records are reprocessed; None if some can't be counted, as those of files."""
    return None if uncounted(impact) else int(impact.get("total") or 0)


def uncounted(impact: Mapping[str, Any]) -> str:
    """Return the inputs that are reprocessed and whose records can't be counted; empty: none."""
    if "uncounted" in impact:
        return ", ".join(impact["uncounted"])
    # A plan that was stored before plans listed them.
    return UNKNOWN_INPUT if "to_read" in impact and not impact.get("records") else ""


def measured(impact: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was measured of a plan, to be kept when it is rebuilt."""
    return {key: impact[key] for key in MEASURED if key in impact}


def not_undoable(plan: Plan) -> tuple[str, ...]:
    """Return what the plan does that an undo doesn't roll back, a line each; empty for an undo."""
    if plan.scenario == UNDO:
        return ()
    return tuple(step.describe() for step in plan.steps if not step.undoable)
