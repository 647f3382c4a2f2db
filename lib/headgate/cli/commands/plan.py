"""`headgate plan SCENARIO PIPELINE`: the steps of a scenario, or why the plan is blocked."""

from __future__ import annotations

import shlex
from typing import Any

import click

from headgate.cli.shared.options import current_context, format_option
from headgate.cli.shared.output_file import STDOUT, output_option, write_file, write_out
from headgate.cli.shared.scenario_options import Scenarios
from headgate.cli.shared.show_plan import show_plan
from headgate.cli.shared.terminal import say
from headgate.reprocess.plan import Plan, dump_plan
from headgate.usecases.context import Context
from headgate.usecases.reprocess.plan_scenario import plan_scenario


def _plan(
    scenario: str,
    pipeline: str,
    answers: dict[str, Any],
    *,
    file: str | None,
    impact: bool,
    output: str,
) -> int:
    context = current_context()
    plan = plan_scenario(context, scenario, pipeline, answers)
    if impact:
        plan = _with_costs(context, plan)
    if file == STDOUT:
        write_out(dump_plan(plan), None)
    else:
        if file is not None:
            write_file(file, dump_plan(plan).encode(), is_private=True)
        show_plan(plan, output=output)
        if output == "text" and plan.can_apply:
            say(_next_command(file), err=True)
    return 0 if plan.can_apply else 3


def _next_command(file: str | None) -> str:
    if file is None:
        return "To run this plan, save it with `-o FILE`, then run `headgate apply FILE`."
    return f"The plan is saved. To run it: `headgate apply {shlex.quote(file)}`."


def _with_costs(context: Context, plan: Plan) -> Plan:
    # Imported here: a plan without them does not pay for the landscape.
    from headgate.usecases.reprocess.estimate_cost import with_costs

    return with_costs(context, plan)


@click.group(
    "plan",
    cls=Scenarios,
    run=_plan,
    more=(
        click.option(
            "--impact",
            is_flag=True,
            help="Also estimate bytes and duration, and list downstream consumers.",
        ),
        output_option("Plan file to write; - is stdout.", "PLAN"),
        format_option(),
    ),
)
def command() -> None:
    """Plan SCENARIO for PIPELINE; nothing is changed.

    Exits 3 if the plan is blocked; a blocked plan is also printed and written.
    """
