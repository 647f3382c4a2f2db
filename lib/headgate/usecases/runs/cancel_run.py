"""Request that a run stops after its current step, or earlier if that step waits."""

from __future__ import annotations

from contextlib import closing

from headgate.store import open_store
from headgate.usecases.context import Context


def cancel_run(context: Context, run: str, *, by: str) -> None:
    """Request the cancellation; RefusedError if the run has ended."""
    with closing(open_store(context.store_url)) as store:
        store.runs.request_cancel(run, by=by)
