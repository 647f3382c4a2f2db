"""Follow a pipeline after a run until it has read everything that waits."""

from __future__ import annotations

import time

from headgate.cli.shared.options import progress_console
from headgate.usecases.context import Context
from headgate.usecases.runs.read_catch_up import Look, look_at, pace
from headgate.usecases.runs.read_run import RunDetail
from headgate.views.words.progress import amount_words, left_words

_EVERY_SECONDS = 2.0
_KEPT = 15


def follow_catch_up(context: Context, detail: RunDetail) -> Look | None:
    """Say how far the pipeline is until nothing waits; Ctrl-C ends only the watching.

    Returns the last look, None where nothing tells where the pipeline is.
    """
    console, looks = progress_console(), list[Look]()
    try:
        while (last := look_at(context, detail)) is not None:
            looks = [*looks, last][-_KEPT:]
            console.print(_line(looks[0], last), markup=False, soft_wrap=True)
            if not last.left:
                break
            time.sleep(_EVERY_SECONDS)
    except KeyboardInterrupt:
        console.print(f"Run {detail.row.id} is done. Its pipeline is still catching up.")
    return looks[-1] if looks else None


def _line(first: Look, last: Look) -> str:
    found = pace(first, last)
    told = amount_words(last.done, last.left, last.at_end, last.partitions)
    rate = f", {found.reads:.0f}/s" if found else ""
    left = left_words(
        last.left, found.seconds_left if found else None, is_measured=found is not None
    )
    return f"{told}, lag {last.left}{rate}, time left: {left}"
