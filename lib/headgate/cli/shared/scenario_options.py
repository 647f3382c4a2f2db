"""A command for each scenario, made from the scenario's declaration of its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from headgate.cli.shared.group import config_option
from headgate.errors import ScenarioError
from headgate.reprocess.scenario import Kind, Option, Scenario
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.text.numbers import instead

Run = Callable[..., int]


class Scenarios(click.Group):
    """The scenarios that this release plans.

    `run` is called with the scenario's name, the pipeline, the answers that were given and what
    `more` asks; it returns the exit code.
    """

    def __init__(
        self, *args: Any, run: Run, more: Sequence[Callable[[Any], Any]] = (), **kwargs: Any
    ) -> None:
        kwargs["subcommand_metavar"] = "SCENARIO PIPELINE [OPTIONS]"
        super().__init__(*args, **kwargs)
        self._run = run
        self._more = more

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the scenarios' names."""
        return list(SCENARIOS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the scenario's command; ScenarioError for one that there is none of."""
        scenario = SCENARIOS.get(cmd_name)
        if scenario is None:
            meant = instead(cmd_name, SCENARIOS)
            raise ScenarioError(f"unknown scenario {cmd_name}{meant}")
        return self._command(scenario)

    def _command(self, scenario: Scenario) -> click.Command:
        names = {option.name.replace("-", "_") for option in scenario.options}

        def call(pipeline: str, **given: Any) -> int:
            answers = {n: v for n, v in given.items() if n in names and _is_given(v)}
            rest = {n: v for n, v in given.items() if n not in names}
            return self._run(scenario.name, pipeline, answers, **rest)

        wrapped: Any = call
        for decorate in reversed((click.argument("pipeline"), *self._more)):
            wrapped = decorate(wrapped)
        made = click.command(scenario.name, help=scenario.what, short_help=scenario.short)(wrapped)
        made.params += [_option(option) for option in scenario.options]
        made.params.append(config_option())
        return made


def _is_given(value: Any) -> bool:
    # 0 is an answer, and equal to False.
    return value is not False and value not in (None, ())


def _option(option: Option) -> click.Option:
    # Values are checked by the scenario: the page and a plan's file bring the same ones.
    return click.Option(
        [f"--{option.name}"],
        # With False click lets a value be left out, and takes one that begins with a dash for an
        # option.
        is_flag=True if option.kind is Kind.FLAG else None,
        multiple=option.kind is Kind.MANY,
        metavar=option.metavar or ("|".join(option.choices) or None),
        help=option.help,
    )
