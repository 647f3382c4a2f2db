"""One run in text or JSON, and the wait for its end."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from headgate.cli.shared.follow import as_json, show, until_ended
from headgate.cli.shared.options import emit_json, progress_console, row_json
from headgate.cli.shared.terminal import say
from headgate.store.rows import StepProgress
from headgate.text.numbers import plural
from headgate.usecases.context import Context
from headgate.usecases.runs.read_catch_up import CatchUpPositions, pace, read_positions
from headgate.usecases.runs.read_run import RunDetail, has_worker, kept_until
from headgate.views.words.estimate import truth, truth_words
from headgate.views.words.progress import amount_words, count_words, left_words
from headgate.views.words.run_columns import ACTIONS

_EVERY_SECONDS = 2.0
_KEPT = 15


def follow_run(context: Context, run: str, output: str) -> None:
    """Wait for the run's end, then until its pipeline has caught up, and print it."""
    detail = until_ended(context, run)
    last = follow_catch_up(context, detail)
    show_run(detail, output, context=context, caught_up=asdict(last) if last else None)


def show_run(
    detail: RunDetail,
    output: str,
    *,
    context: Context,
    caught_up: dict[str, Any] | None = None,
) -> None:
    """Print all of a run; `caught_up` is the newest check of how far its pipeline is."""
    until = kept_until(context, detail.row) if detail.can_undo else None
    if output == "json":
        kept = until.isoformat() if until else None
        emit_json({**_detail_json(detail), "kept_until": kept, "catch_up": caught_up})
        return
    show(detail, output=output)
    if detail.row.state.is_active and not has_worker(context, detail.row):
        say(f"No worker is running. To continue the run: headgate resume {detail.row.id}")
    if words := truth_words(truth(detail.row, detail.plan.impact, detail.counts, detail.documents)):
        say(f"Estimated duration: {words}.")
    if until is not None:
        say(f"Snapshots for an undo are kept until {until:%Y-%m-%d %H:%M} UTC.")
    if detail.waits_for is not None:
        asked = detail.waits_for
        say(f"Waiting for a manual step since {asked.asked_at}: {asked.request}.")
        say(f"  After you have done this step, run: headgate confirm {asked.run}")
    for note in detail.progress:
        say(f"  {note.at}  {note.message}")
    for count in detail.counts:
        say(f"  {count.at}  step {count.position + 1}: {count_words(count)}")
    for entry in (e for e in detail.audit if not e.is_of_step):
        say(f"  {entry.at}  {ACTIONS.get(entry.action, entry.action)} by {entry.by}")


def _detail_json(detail: RunDetail) -> dict[str, Any]:
    return {
        **row_json(detail.row),
        **as_json(detail),
        "steps": [asdict(step) for step in detail.steps],
        "undone_by": list(detail.undone_by),
        "can_undo": detail.can_undo,
        "can_resume": detail.can_resume,
        "progress": [asdict(note) for note in detail.progress],
        "counts": [_count_json(count) for count in detail.counts],
        "request": detail.request.id if detail.request else None,
        "waits_for": asdict(detail.waits_for) if detail.waits_for else None,
        "audit": [asdict(entry) for entry in detail.audit],
        **truth(detail.row, detail.plan.impact, detail.counts, detail.documents),
        "plan": detail.plan.document(),
    }


def _count_json(count: StepProgress) -> dict[str, Any]:
    kept = {k: v for k, v in asdict(count).items() if k != "run"}
    return {**kept, "rate": count.rate, "seconds_left": count.seconds_left}


def follow_catch_up(context: Context, detail: RunDetail) -> CatchUpPositions | None:
    """Say how far the pipeline is until nothing waits; Ctrl-C ends only the watching.

    Returns the last check, None if no source reports the pipeline's position.
    """
    console, looks = progress_console(), list[CatchUpPositions]()
    try:
        while (last := read_positions(context, detail)) is not None:
            looks = [*looks, last][-_KEPT:]
            console.print(_line(looks[0], last), markup=False, soft_wrap=True)
            if not last.left:
                break
            time.sleep(_EVERY_SECONDS)
    except KeyboardInterrupt:
        console.print(f"Run {detail.row.id} is done. Its pipeline is still catching up.")
    return looks[-1] if looks else None


def _line(first: CatchUpPositions, last: CatchUpPositions) -> str:
    found = pace(first, last)
    told = amount_words(last.done, last.left, last.at_end, last.partitions)
    rate = f", {found.reads:.0f} records/s" if found else ""
    left = left_words(
        last.left, found.seconds_left if found else None, is_measured=found is not None
    )
    return f"{told}, lag {plural(last.left, 'record')}{rate}, time left: {left}"
