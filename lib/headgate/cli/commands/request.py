"""`headgate request SCENARIO PIPELINE`: request a run that another person approves."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.scenario_options import Scenarios
from headgate.cli.shared.show_plan import show_plan
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import system_user
from headgate.usecases.reprocess.estimate_cost import with_costs
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.request_run import request_plan


def _request(
    scenario: str, pipeline: str, answers: dict[str, Any], *, reason: str, output: str
) -> int:
    context = current_context()
    plan = plan_scenario(context, scenario, pipeline, answers)
    if not plan.can_apply:
        show_plan(plan, output=output)
        return 3
    plan = with_costs(context, plan)
    request = request_plan(context, plan, reason=reason, by=system_user())
    if output == "json":
        emit_json({"request": request, "state": "open", "plan": plan.document()})
        return 0
    show_plan(plan, output=output)
    say(
        f"Request {request} created. Another person must approve the request: "
        f"`headgate approve {request}`"
    )
    return 0


@click.group(
    "request",
    cls=Scenarios,
    run=_request,
    more=(
        click.option(
            "--reason", required=True, metavar="TEXT", help="Reason, shown to the approver."
        ),
        format_option(),
    ),
)
def command() -> None:
    """Request SCENARIO for PIPELINE: somebody else approves or declines it.

    Exits 3 if the plan is blocked; then no request is created.
    """
