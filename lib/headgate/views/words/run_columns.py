"""The columns of a list of runs: a heading, and what it says of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from headgate.reprocess.run_report import RunReport
from headgate.store.rows import RequestRow, RunFacts
from headgate.text.numbers import moment, short_time


class RunColumn(NamedTuple):
    """One column; `text` returns an empty text if the run has nothing for it."""

    heading: str
    text: Callable[[RunFacts], str]


def took(begun: str | None, ended: str | None) -> str | None:
    """Return how long something took, None if it has not ended."""
    start, end = moment(begun), moment(ended)
    if start is None or end is None:
        return None
    seconds = (end - start).total_seconds()
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def scenario_words(run: RunFacts | RunReport | RequestRow) -> str:
    """Return the scenario of a run or request; one scenario pauses, and resumes with an option."""
    return f"{run.scenario} --resume" if run.resumes else run.scenario


RUN_COLUMNS = (
    RunColumn("State", lambda run: run.state.value),
    RunColumn("Pipeline", lambda run: run.pipeline or ""),
    RunColumn(
        "Scenario", lambda run: f"undo of {run.undo_of}" if run.undo_of else scenario_words(run)
    ),
    RunColumn("Requested (UTC)", lambda run: short_time(run.created_at)),
    RunColumn("Requester", lambda run: run.created_by),
    RunColumn("Duration", lambda run: took(run.started_at, run.ended_at) or ""),
    RunColumn("Run", lambda run: run.id),
)
ACTIONS = {
    "apply": "requested",
    "undo": "requested",
    "resume": "resumed",
    "cancel": "cancel requested",
    "request": "requested",
    "approve": "approved",
    "confirm": "manual step confirmed",
    "done": "done",
    "failed": "failed",
    "refused": "refused",
    "cancelled": "stopped",
    "clean": "snapshots removed",
}
"""Words for the actions in the audit trail of a run."""
