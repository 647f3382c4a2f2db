"""What a plan and its undo do to outputs, in words: for the command line and the pages."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.reprocess.impact import not_undoable
from headgate.reprocess.plan import UNDO, Plan
from headgate.text.numbers import plural

RUN, BACK = "Outputs", "Outputs after an undo"


def output_lines(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield name and sentence of each statement about outputs."""
    yield from ((RUN, sentence) for sentence in plan.outputs.run)
    back = "Outputs after you undo this undo" if plan.scenario == UNDO else BACK
    yield from ((back, sentence) for sentence in plan.outputs.undo)


def what_remains(plan: Plan) -> str:
    """Return what an undo doesn't restore, in a few words; empty if that is nothing."""
    stuck = len(not_undoable(plan))
    steps = [plural(stuck, "step")] if stuck else []
    return " and ".join([*steps, *(["results"] if plan.outputs.remains else [])])
