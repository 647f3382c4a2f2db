"""A run's journal as one list by time: who asked, what began and ended, what it said."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.text.numbers import short_time
from headgate.ui.shared import markup
from headgate.usecases.runs.read_run import RunDetail
from headgate.views.words.run_columns import ACTIONS


def journal(detail: RunDetail) -> str:
    """Return the entries, oldest first."""
    entries = sorted(_entries(detail), key=lambda entry: entry[0])
    rows = [(short_time(at), location, what) for at, location, what in entries]
    return markup.table(("Time (UTC)", "Source", "Event"), rows)


def _entries(detail: RunDetail) -> Iterator[tuple[str, str, str]]:
    request = detail.request
    if request is not None:
        yield request.asked_at, "request", f"requested by {request.asked_by}: {request.reason}"
    for entry in (e for e in detail.audit if not e.is_of_step):
        error = f": {entry.details['error']}" if entry.details.get("error") else ""
        yield entry.at, "run", f"{ACTIONS.get(entry.action, entry.action)} by {entry.by}{error}"
    for number, step in enumerate(detail.steps, start=1):
        if step.begun_at:
            yield step.begun_at, f"step {number}", f"started: {step.describe}"
        if step.ended_at:
            error = f": {step.error}" if step.error else ""
            yield step.ended_at, f"step {number}", f"{step.state.replace('_', ' ')}{error}"
    for note in detail.progress:
        location = f"step {note.position + 1}" if note.position >= 0 else "run"
        yield note.at, location, note.message
