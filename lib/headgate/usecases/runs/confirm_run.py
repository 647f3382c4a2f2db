"""Confirm a manual step of a run."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError
from headgate.store import open_store
from headgate.store.rows import Question
from headgate.usecases.context import Context


def confirm_run(context: Context, run: str, *, by: str) -> Question:
    """Record the confirmation; the run then verifies the step and continues.

    RefusedError if the run doesn't wait for a confirmation.
    """
    with closing(open_store(context.store_url)) as store:
        row = store.runs.get(run)
        if not row.state.is_active:
            raise RefusedError(
                f"run {run} is {row.state} and no longer waits for a manual step. "
                f"`headgate runs {run}` shows the steps"
            )
        return store.questions.confirm(run, by=by, pipeline=row.pipeline)
