"""`headgate doctor`: one line for each requirement, with the fix if it isn't met."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from headgate.cli.shared.group import Settings
from headgate.cli.shared.options import emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.usecases.setup.diagnose import Check, State, diagnose

MARKS = {State.OK: "ok  ", State.NOTE: "note", State.FAILED: "FAIL"}


@click.command("doctor")
@format_option()
@click.pass_context
def command(ctx: click.Context, output: str) -> int:
    """Check Python, Java, jars, configuration, store, worker, Kafka, registry and checkpoints.

    Exits 0 if every check passed, 4 if something did not respond, 2 if something is missing or
    wrong.
    """
    settings = ctx.find_object(Settings) or Settings()
    checks = diagnose(settings.config)
    if output == "json":
        emit_json({"checks": [_plain(check) for check in checks]})
    else:
        for check in checks:
            say(_line(check))
    return max(check.exit_code for check in checks)


def _line(check: Check) -> str:
    remedy = f" -> {check.remedy}" if check.remedy else ""
    return f"{MARKS[check.state]}  {check.name}: {check.message}{remedy}"


def _plain(check: Check) -> dict[str, Any]:
    return {k: v for k, v in asdict(check).items() if k != "exit_code"}
