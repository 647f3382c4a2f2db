"""`headgate requests [REQUEST]`: list the requests, or show one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from headgate.cli.shared.options import current_context, emit_json, format_option, row_json
from headgate.cli.shared.show_plan import show_plan
from headgate.cli.shared.terminal import say
from headgate.usecases.requests.list_requests import RequestDetail, list_requests, read_request
from headgate.views.words.run_columns import scenario_words

if TYPE_CHECKING:
    from headgate.store.rows import RequestRow


@click.command("requests")
@click.argument("request", required=False)
@format_option()
def command(request: str | None, output: str) -> int:
    """List the requests, newest first, or show REQUEST with its plan and history."""
    context = current_context()
    if request is not None:
        _show(read_request(context, request), output)
    elif output == "json":
        emit_json({"requests": [row_json(row, "request") for row in list_requests(context)]})
    else:
        _list(list_requests(context))
    return 0


def _list(rows: Sequence[RequestRow]) -> None:
    if not rows:
        how = "`headgate request SCENARIO PIPELINE --reason TEXT` creates a request."
        say(f"No requests yet. {how}", err=True)
    for row in rows:
        say(
            f"{row.id}  {row.state:<9} {scenario_words(row)} {row.pipeline}"
            f"  by {row.asked_by}: {row.reason}"
        )


def _show(detail: RequestDetail, output: str) -> None:
    row = detail.row
    if output == "json":
        audit = [asdict(entry) for entry in detail.audit]
        emit_json({**row_json(row, "request"), "audit": audit, "plan": detail.plan.document()})
        return
    say(f"Request {row.id} is {row.state}. Requested by {row.asked_by}: {row.reason}")
    if row.decided_by is not None:
        why = f": {row.decision}" if row.decision else ""
        run = f" (run {row.run})" if row.run else ""
        say(f"Decision by {row.decided_by}{run}{why}")
    show_plan(detail.plan, output=output)
