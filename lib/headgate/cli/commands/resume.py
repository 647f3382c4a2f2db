"""`headgate resume RUN`: continue a run that failed, was cancelled or lost its worker."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from headgate.cli.shared.follow import as_json, queue_and_follow
from headgate.cli.shared.options import current_context, format_option
from headgate.gateway.process.system_user import system_user
from headgate.usecases.runs.read_run import read_run
from headgate.usecases.runs.resume_run import resume_run


@click.command("resume")
@click.argument("run")
@click.option("--detach", is_flag=True, help="Queue the run and return without waiting.")
@format_option()
def command(run: str, detach: bool, output: str) -> int:
    """Resume RUN at the step where it stopped; start a worker if RUN's worker was killed.

    Headgate uses the current commands of headgate.toml. Exits 0 if the run is done, 1 if the
    results that an ab run compares differ, 3 if the run can't be resumed, 5 if the run failed
    again.
    """
    context = current_context()

    def refused(error: str) -> dict[str, Any]:
        return {**as_json(read_run(context, run)), "state": "refused", "error": error}

    queue = partial(resume_run, run=run, by=system_user())
    return queue_and_follow(context, queue, refused=refused, output=output, detach=detach)
