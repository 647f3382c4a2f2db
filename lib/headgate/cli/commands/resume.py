"""`headgate resume RUN`: go on with a run that failed or was cancelled."""

from __future__ import annotations

import click

from headgate.cli.shared.follow import as_json, follow
from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.errors import RefusedError
from headgate.gateway.process.system_user import system_user
from headgate.usecases.runs.read_run import read_run
from headgate.usecases.runs.resume_run import resume_run


@click.command("resume")
@click.argument("run")
@click.option("--detach", is_flag=True, help="Print the run and return at once.")
@format_option()
def command(run: str, detach: bool, output: str) -> int:
    """Go on with RUN at the step where it stopped.

    The commands that are registered now are used. Exits 0 when it is done, 3 where it can't be
    resumed, 5 where it failed again.
    """
    context = current_context()
    try:
        resume_run(context, run, by=system_user())
    except RefusedError as error:
        if output == "json":
            seen = as_json(read_run(context, run))
            emit_json({**seen, "state": "refused", "error": str(error)})
        raise
    return follow(context, run, output=output, detach=detach)
