"""`headgate confirm RUN`: say that what a run asked a person to do is done."""

from __future__ import annotations

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import account, system_user
from headgate.model.person import unverified
from headgate.usecases.runs.confirm_run import confirm_run


@click.command("confirm")
@click.argument("run")
@click.option("--by", metavar="NAME", help="Who did it, where it was not this system's user.")
@format_option()
def command(run: str, by: str | None, output: str) -> int:
    """Say that what RUN asked a person to do is done; RUN proves it and goes on.

    Who confirmed, and when, is journalled. Exits 3 where RUN waits for nobody. To say that it was
    not done, use `headgate cancel RUN`.
    """
    me = system_user()
    told = unverified(by, f"reported by {me}") if by and by != account() else me
    found = confirm_run(current_context(), run, by=told)
    if output == "json":
        emit_json({"run": run, "confirmed": found.request, "step": found.position, "by": told})
    else:
        say(f"Confirmed by {told}: {found.request}. Run {run} proves it and goes on.")
    return 0
