"""`headgate cancel RUN|REQUEST`: stop a run at its next safe place, or take a request back."""

from __future__ import annotations

import click

from headgate.cli.follow import who
from headgate.cli.options import current_context, emit_json, format_option
from headgate.errors import NotFoundError
from headgate.usecases.cancel_run import cancel_run
from headgate.usecases.context import Context
from headgate.usecases.decide_request import withdraw_request


@click.command("cancel")
@click.argument("name", metavar="RUN|REQUEST")
@format_option()
def command(name: str, output: str) -> int:
    """Ask the worker to stop RUN at its next safe place, or take back one's own REQUEST.

    Exits 3 where the run has ended, or the request was decided on already.
    """
    what = _cancel(current_context(), name)
    if output == "json":
        emit_json({what: name, "cancelled": True})
    elif what == "run":
        click.echo(f"Run {name} stops at its next safe place: see `headgate runs {name}`.")
    else:
        click.echo(f"Request {name} is withdrawn.")
    return 0


def _cancel(context: Context, name: str) -> str:
    try:
        cancel_run(context, name, by=who())
    except NotFoundError:
        try:
            withdraw_request(context, name, by=who())
        except NotFoundError:
            raise NotFoundError(f"there is no run and no request {name}") from None
        return "request"
    return "run"
