"""`headgate estimate SCENARIO PIPELINE`: what a plan would cost, without its steps."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.scenario_options import Scenarios
from headgate.cli.shared.terminal import say
from headgate.reprocess.estimate import PROCESSING
from headgate.usecases.reprocess.estimate_cost import with_costs
from headgate.usecases.reprocess.estimate_run import estimate_plan
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.views.reports.plan_outputs import output_lines
from headgate.views.words.estimate import estimate_lines
from headgate.views.words.impact import OF_CATCH_UP, impact_lines


def _estimate(scenario: str, pipeline: str, answers: dict[str, Any], *, output: str) -> int:
    context = current_context()
    plan = with_costs(context, plan_scenario(context, scenario, pipeline, answers))
    found = estimate_plan(context, plan)
    if output == "json":
        kept = ("scenario", "pipeline", "can_apply", "blockers")
        document = plan.document()
        emit_json({**{key: document[key] for key in kept}, **found.document()})
    else:
        if plan.scenario in PROCESSING:
            for name, sentence in estimate_lines(found):
                say(f"{name}: {sentence}.")
        for name, sentence in impact_lines(plan):
            if plan.scenario not in PROCESSING or name not in OF_CATCH_UP:
                say(f"{name}: {sentence}.")
        for name, sentence in output_lines(plan):
            say(f"{name}: {sentence}")
        for blocker in plan.blockers:
            say(f"Blocked: {blocker}.")
    return 0 if plan.can_apply else 3


@click.group("estimate", cls=Scenarios, run=_estimate, more=(format_option(),))
def command() -> None:
    """Estimate the cost of SCENARIO: records, bytes, time, and consumers that get duplicates.

    For bounded, historical-range, late-batch and ab, the duration comes from earlier runs of the
    scenario. A separate line shows the start-up time of Spark. For other scenarios, `headgate plan`
    with --impact shows the same numbers.

    Exits 3 if the plan is blocked.
    """
