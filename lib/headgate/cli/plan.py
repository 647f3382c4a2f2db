"""`headgate plan SCENARIO PIPELINE`: what would be done, and why it may be refused."""

from __future__ import annotations

from pathlib import Path

import click

from headgate.cli.follow import show_plan
from headgate.cli.options import current_context, format_option
from headgate.errors import HeadgateError
from headgate.plan.build import PLANNED, SCENARIOS
from headgate.plan.plan import dump_plan
from headgate.usecases.plan_scenario import plan_scenario


@click.command("plan")
@click.argument("scenario", type=click.Choice([*SCENARIOS, *PLANNED]), metavar="SCENARIO")
@click.argument("pipeline")
@click.option("-o", "--output-file", "file", metavar="PLAN", help="Write the plan to a file.")
@format_option()
def command(scenario: str, pipeline: str, file: str | None, output: str) -> int:
    """Plan SCENARIO for PIPELINE; nothing is changed.

    Exits 3 where the plan may not be applied; it is printed and written all the same.
    """
    plan = plan_scenario(current_context(), scenario, pipeline)
    if file is not None:
        _write(Path(file), dump_plan(plan))
    show_plan(plan, output=output)
    return 0 if plan.appliable else 3


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HeadgateError(f"{file} can't be written: {error.strerror}") from error
