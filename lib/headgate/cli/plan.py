"""`headgate plan SCENARIO PIPELINE`: what would be done, and why it may be refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headgate.cli.follow import show_plan
from headgate.cli.group import config_option
from headgate.cli.options import current_context, format_option
from headgate.errors import HeadgateError, ScenarioError
from headgate.plan.build import PLANNED, SCENARIOS
from headgate.plan.plan import dump_plan
from headgate.plan.scenario import Kind, Option, Scenario
from headgate.usecases.plan_scenario import plan_scenario


class Scenarios(click.Group):
    """A command for each scenario, made from its declaration; all its options are its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the scenarios that this release plans."""
        return list(SCENARIOS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the scenario's command; ScenarioError for one that this release has not."""
        if cmd_name in PLANNED:
            raise ScenarioError(
                f"{cmd_name} is not built in this release; there is {', '.join(SCENARIOS)}"
            )
        scenario = SCENARIOS.get(cmd_name)
        return None if scenario is None else _command(scenario)


@click.group("plan", cls=Scenarios, subcommand_metavar="SCENARIO PIPELINE [OPTIONS]")
def command() -> None:
    """Plan SCENARIO for PIPELINE; nothing is changed.

    Exits 3 where the plan may not be applied; it is printed and written all the same.
    """


def _command(scenario: Scenario) -> click.Command:
    @click.argument("pipeline")
    @click.option("-o", "--output-file", "file", metavar="PLAN", help="Write the plan to a file.")
    @format_option()
    def plan(pipeline: str, file: str | None, output: str, **options: Any) -> int:
        return _plan(scenario.name, pipeline, options, file=file, output=output)

    made = click.command(scenario.name, help=scenario.what)(plan)
    made.params += [_option(option) for option in scenario.options]
    made.params.append(config_option())
    return made


def _option(option: Option) -> click.Option:
    # Values are checked by the scenario: the page and a plan's file bring the same ones.
    return click.Option(
        [f"--{option.name}"],
        is_flag=option.kind is Kind.FLAG,
        multiple=option.kind is Kind.MANY,
        metavar=option.metavar or ("|".join(option.choices) or None),
        help=option.help,
    )


def _plan(
    scenario: str, pipeline: str, options: dict[str, Any], *, file: str | None, output: str
) -> int:
    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    plan = plan_scenario(current_context(), scenario, pipeline, given)
    if file is not None:
        _write(Path(file), dump_plan(plan))
    show_plan(plan, output=output)
    return 0 if plan.appliable else 3


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HeadgateError(f"{file} can't be written: {error.strerror}") from error
