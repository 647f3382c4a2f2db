"""`headgate decline REQUEST`: end a request without a run."""

from __future__ import annotations

import click

from headgate.cli.shared.options import current_context, emit_json, format_option, row_json
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import system_user
from headgate.usecases.requests.decide_request import decline_request
from headgate.usecases.requests.list_requests import read_request


@click.command("decline")
@click.argument("request")
@click.option("--reason", required=True, metavar="TEXT", help="Reason, shown to the requester.")
@format_option()
def command(request: str, reason: str, output: str) -> int:
    """Decline REQUEST; nothing is run. Exits 3 if the request is already decided."""
    context = current_context()
    decline_request(context, request, by=system_user(), reason=reason)
    if output == "json":
        emit_json(row_json(read_request(context, request).row, "request"))
    else:
        say(f"Request {request} is declined.")
    return 0
