"""`headgate plan SCENARIO PIPELINE`: what would be done, and why it may be refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headgate.cli.follow import show_plan
from headgate.cli.options import current_context, format_option
from headgate.cli.scenarios import Scenarios
from headgate.errors import HeadgateError
from headgate.plan.plan import dump_plan
from headgate.usecases.plan_scenario import plan_scenario


def _plan(
    scenario: str, pipeline: str, answers: dict[str, Any], *, file: str | None, output: str
) -> int:
    plan = plan_scenario(current_context(), scenario, pipeline, answers)
    if file is not None:
        _write(Path(file), dump_plan(plan))
    show_plan(plan, output=output)
    return 0 if plan.appliable else 3


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HeadgateError(f"{file} can't be written: {error.strerror}") from error


@click.group(
    "plan",
    cls=Scenarios,
    run=_plan,
    more=(
        click.option("-o", "--output-file", "file", metavar="PLAN", help="Write it to a file."),
        format_option(),
    ),
)
def command() -> None:
    """Plan SCENARIO for PIPELINE; nothing is changed.

    Exits 3 where the plan may not be applied; it is printed and written all the same.
    """
