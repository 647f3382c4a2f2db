"""The report of a run: what its steps have read, written and compared, and how long it took.

A number that a scenario doesn't have, or that nothing counted, is missing: it is never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.text.numbers import plural

NUMBERS = {
    "read": "Records read",
    "late": "Late records",
    "duplicates": "Duplicates left out",
    "dropped_by_watermark": "Rows dropped by the watermark",
    "written": "Rows written",
    "replaced": "Rows replaced",
    "failed": "Records failed",
}
"""What a program may count, and its title; the order is that of the report."""
_SECONDS = ("seconds", "startup_seconds", "processing_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one step did; `counts` are its numbers by the names of NUMBERS.

    `attempt` is the run's attempt that the numbers are of. `compared` are the counts of two
    outputs. `seconds` are those of the program, `processing_seconds` without its start-up.
    """

    number: int
    action: str
    describe: str
    state: str
    attempt: int = 1
    counts: Mapping[str, int] = field(default_factory=dict)
    compared: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    startup_seconds: float | None = None
    processing_seconds: float | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def rate(self) -> float | None:
        """Records read per second of processing; None if one of them is unknown."""
        return rate_of(self.counts.get("read"), self.processing_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The report of a run; times are ISO 8601 in UTC, `seconds` from its start to its end.

    `estimate` is what was expected, with the error of the duration; empty if nothing was. A run
    that `resumes` ends a pause of its pipeline.
    """

    run: str
    scenario: str
    pipeline: str | None
    state: str
    requested_by: str
    requested_at: str
    started_at: str | None
    ended_at: str | None
    seconds: float | None
    attempts: int
    steps: tuple[StepReport, ...]
    error: str | None = None
    estimate: Mapping[str, Any] = field(default_factory=dict)
    resumes: bool = False

    @property
    def totals(self) -> dict[str, int]:
        """Return the sum of each number over the steps that have it."""
        counted = {name for step in self.steps for name in step.counts}
        return {
            name: sum(step.counts.get(name, 0) for step in self.steps)
            for name in NUMBERS
            if name in counted
        }

    @property
    def compared(self) -> Mapping[str, Any]:
        """Return the counts of the newest comparison; empty if nothing was compared."""
        return next((s.compared for s in reversed(self.steps) if s.compared), {})

    @property
    def rate(self) -> float | None:
        """Records read per second of processing, over all steps that read."""
        reads = [step for step in self.steps if "read" in step.counts]
        times = [step.processing_seconds for step in reads]
        known = [seconds for seconds in times if seconds is not None]
        if not reads or len(known) < len(times):
            return None
        return rate_of(self.totals["read"], sum(known))

    @property
    def has_numbers(self) -> bool:
        """Whether any step counted or compared something."""
        return any(step.counts or step.compared for step in self.steps)


def rate_of(records: int | None, seconds: float | None) -> float | None:
    """Return records per second, None if one of both is unknown."""
    return records / seconds if records is not None and seconds else None


def counts_of(facts: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers that a program's facts hold."""
    found = {name: facts[name] for name in NUMBERS if isinstance(facts.get(name), int)}
    if isinstance(facts.get("dropped"), int):
        found["dropped_by_watermark"] = facts["dropped"]
    left_out = [facts[name] for name in ("repeated", "in_input") if name in facts]
    return {**found, **({"duplicates": sum(left_out)} if left_out else {})}


def times_of(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds that a program's facts hold."""
    return {name: facts[name] for name in _SECONDS if facts.get(name) is not None}


def notes_of(facts: Mapping[str, Any], outcome: str, attempts: Sequence[int]) -> Iterable[str]:
    """Yield what must be known to read the numbers of a program."""
    if missing := facts.get("uncounted_batches"):
        yield (
            f"the counts of {plural(missing, 'batch')} are missing, because the Spark program of "
            "the step was killed before it saved them"
        )
    if outcome != "done" and counts_of(facts):
        how = "failed" if outcome == "failed" else "stopped"
        yield f"the Spark program of the step {how} before its end"
    if len(attempts) > 1:
        yield f"the step ran in {len(attempts)} attempts. The times are from the last attempt"
