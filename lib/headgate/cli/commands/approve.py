"""`headgate approve REQUEST`: approve another person's request, and run its plan."""

from __future__ import annotations

from functools import partial

import click

from headgate.cli.shared.follow import queue_and_follow
from headgate.cli.shared.options import current_context, format_option
from headgate.gateway.process.system_user import system_user
from headgate.usecases.requests.decide_request import approve_request


@click.command("approve")
@click.argument("request")
@click.option("--plan", "seen", metavar="HASH", help="Approve only if the plan has this hash "
              "(`plan_hash` in `headgate requests REQUEST --format json`).")  # fmt: skip
@click.option("--reason", metavar="TEXT", help="Reason, for the audit trail.")
@click.option("--detach", is_flag=True, help="Queue the run and return without waiting.")
@format_option()
def command(request: str, seen: str | None, reason: str | None, detach: bool, output: str) -> int:
    """Approve REQUEST of another person, and run exactly its plan.

    Exits 3 if the plan is stale, the request is already decided, or the request is your own.
    """
    queue = partial(approve_request, request=request, by=system_user(), seen=seen, reason=reason)
    return queue_and_follow(current_context(), queue, output=output, detach=detach)
