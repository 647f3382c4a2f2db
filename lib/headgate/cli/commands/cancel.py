"""`headgate cancel RUN|REQUEST`: stop a run after its current step, or cancel a request."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli.shared.follow import until_ended
from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.errors import NotFoundError
from headgate.gateway.process.system_user import system_user
from headgate.usecases.context import Context
from headgate.usecases.requests.decide_request import cancel_request
from headgate.usecases.runs.cancel_run import cancel_run
from headgate.usecases.runs.read_run import read_run


@click.command("cancel")
@click.argument("name", metavar="RUN|REQUEST")
@click.option("--wait", is_flag=True, help="Wait until the run has stopped.")
@format_option()
def command(name: str, wait: bool, output: str) -> int:
    """Stop RUN after its current step (earlier if that step waits), or cancel your own REQUEST.

    Reports the state afterwards. Exits 3 if the run has ended or the request is already decided.
    """
    context = current_context()
    if _cancel(context, name) == "request":
        _say({"request": name, "cancelled": True}, [f"Request {name} is cancelled."], output)
        return 0
    detail = until_ended(context, name) if wait else read_run(context, name)
    state, state_after = detail.row.state, list(detail.state_after)
    first = (
        f"Headgate will stop run {name}, at the latest after its current step. To see its state: "
        f"`headgate runs {name}`."
        if state.is_active
        else f"Run {name} is {state}."
    )
    found = {"run": name, "cancelled": True, "state": state.value, "state_after": state_after}
    _say(found, [first, *state_after], output)
    return 0


def _say(found: dict[str, Any], lines: list[str], output: str) -> None:
    if output == "json":
        emit_json(found)
        return
    for line in lines:
        say(line)


def _cancel(context: Context, name: str) -> str:
    try:
        cancel_run(context, name, by=system_user())
    except NotFoundError:
        try:
            cancel_request(context, name, by=system_user())
        except NotFoundError:
            raise NotFoundError(
                f"no run or request {name} found: see `headgate runs` and `headgate requests`"
            ) from None
        return "request"
    return "run"
