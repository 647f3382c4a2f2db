"""Print a plan."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.cli.shared.options import emit_json
from headgate.cli.shared.terminal import say
from headgate.reprocess.plan import Plan
from headgate.views.reports.plan_outputs import output_lines
from headgate.views.words.impact import impact_lines


def show_plan(plan: Plan, *, output: str) -> None:
    """Print a plan as the contract's JSON, or as text."""
    if output == "json":
        emit_json(plan.document())
        return
    for line in plan_lines(plan):
        say(line)


def plan_lines(plan: Plan) -> Iterator[str]:
    """Yield a plan as text."""
    yield f"{plan.scenario} {plan.pipeline or ''} ({plan.id})"
    for step in plan.steps:
        yield f"  {step.symbol} {step.describe()}"
        for move in plan.moves(step):
            location = f"{move['topic']}[{move['partition']}]"
            yield f"      {location}: {_offset(move.get('from'))} -> {_offset(move['to'])}"
    if not plan.steps and not plan.blockers:
        yield "  Nothing to do: the pipeline is already in the requested state."
    for name, sentence in impact_lines(plan):
        yield f"{name}: {sentence}."
    yield from (f"{name}: {sentence}" for name, sentence in output_lines(plan))
    if plan.steps:
        # With the options that the steps' sentences leave out, such as a range or its offsets.
        yield f"Command: {plan.command}"
    for risk in plan.risks:
        yield f"Risk: {risk}."
    for blocker in plan.blockers:
        yield f"Blocked: {blocker}."


def _offset(offset: int | None) -> str:
    return "none" if offset is None else str(offset)
