"""`headgate confirm RUN`: confirm a manual step of a run."""

from __future__ import annotations

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import account, system_user
from headgate.model.person import unverified
from headgate.usecases.runs.confirm_run import confirm_run


@click.command("confirm")
@click.argument("run")
@click.option(
    "--by", metavar="NAME", help="Person who did the step (default: the current system user)."
)
@format_option()
def command(run: str, by: str | None, output: str) -> int:
    """Confirm the manual step that RUN waits for; RUN checks the step and resumes.

    The journal records who confirmed, and when. Exits 3 if RUN isn't waiting for a manual step. If
    the step was not done, use `headgate cancel RUN`.
    """
    me = system_user()
    told = unverified(by, f"reported by {me}") if by and by != account() else me
    found = confirm_run(current_context(), run, by=told)
    if output == "json":
        emit_json({"run": run, "confirmed": found.request, "step": found.position, "by": told})
    else:
        say(f"Confirmed by {told}: {found.request}. Run {run} checks the step and resumes.")
    return 0
