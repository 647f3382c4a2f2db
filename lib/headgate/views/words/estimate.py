"""An estimate in words, and compared with the actual run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headgate.reprocess.estimate import Estimate, error_of, read_estimate
from headgate.reprocess.run_report import counts_of
from headgate.store.rows import RunFacts, RunState, StepDocument, StepProgress
from headgate.text.numbers import as_records, duration, exact, moment, size


def estimate_lines(found: Estimate) -> Iterator[tuple[str, str]]:
    """Yield name and sentence of what is estimated, start-up apart."""
    if found.records is not None:
        in_bytes = f", about {size(found.bytes)}" if found.bytes is not None else ""
        yield "Records", f"{as_records(found.records, exact(found.records))}{in_bytes}"
    if found.expected is not None and found.low is not None and found.high is not None:
        around = f"{_time(found.low)} to {_time(found.high)}"
        yield "Duration", f"about {_time(found.expected)} ({around}): {found.how}"
    if found.startup is not None:
        yield "Start-up", f"about {_time(found.startup)}, included in the duration"
    for why in found.unknown:
        yield "Unknown", why


def truth(
    row: RunFacts,
    impact: dict[str, Any],
    counts: Iterable[StepProgress],
    documents: Iterable[StepDocument] = (),
) -> dict[str, Any]:
    """Return the estimate and the truth of a run: `error` is 0.25 if it took a quarter longer.

    Empty if nothing was estimated. Values that are not known yet are None, and so is the error of
    a run that did not come to its end at once.
    """
    found = read_estimate(impact)
    if found is None:
        return {}
    begun, ended = moment(row.started_at), moment(row.ended_at)
    took = (ended - begun).total_seconds() if begun and ended else None
    is_whole = row.state is RunState.DONE and row.attempt == 1
    error = error_of(found.expected, took) if is_whole else None
    # A batch counts no records while it runs. Two versions may read the same records.
    reports = [counts_of(d.document.get("facts", {})) for d in documents if d.name == "job"]
    read = [report["read"] for report in reports if "read" in report]
    counted = [c.done for c in counts if c.unit == "records"]
    records = max(counted or read, default=None)
    return {
        "estimate": {**found.document(), "startup": found.startup},
        "truth": {"records": records, "seconds": took, "error": error},
    }


def truth_words(told: dict[str, Any]) -> str | None:
    """Return one sentence of estimate, truth and error; None if nothing was estimated."""
    if not told:
        return None
    seconds = told["estimate"]["seconds"]
    took, error = told["truth"]["seconds"], told["truth"]["error"]
    expected = f"about {_time(seconds['expected'])}" if seconds else "unknown"
    if took is None:
        return expected
    how = "" if error is None else f", {_compared(error)}"
    return f"{expected}. Actual duration: {_time(took)}{how}"


def _compared(error: float) -> str:
    share = f"{abs(error):.0%}"
    if share == "0%":
        return "as estimated"
    return f"{share} {'longer' if error > 0 else 'shorter'} than estimated"


def _time(seconds: float) -> str:
    return duration(round(seconds) * 1000 or 1000)
