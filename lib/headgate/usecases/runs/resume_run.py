"""Continue a run that failed or was cancelled, at the step where it stopped."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError
from headgate.reprocess.execution.execute import StepState
from headgate.store import Store, open_store
from headgate.store.step_records import step_records
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN, overtaken, undo_begun


def resume_run(context: Context, run: str, *, by: str) -> str:
    """Queue the run again and return its id.

    RefusedError if the run neither failed nor was cancelled, if an undo of it has started, if a
    later run uses the same group or checkpoint, or if its snapshots were removed.
    """
    with closing(open_store(context.store_url)) as store:
        _refuse_if_overtaken(store, run)
        context.before_queueing()
        store.runs.requeue(run, by=by)
    return run


def _refuse_if_overtaken(store: Store, run: str) -> None:
    if reasons := overtaken(store, store.runs.get(run)):
        raise RefusedError(
            f"run {run} can't be resumed, because {'; '.join(reasons)}. Undo the later run first"
        )
    if any(entry.action == CLEAN for entry in store.audit.list(run)):
        raise RefusedError(
            f"run {run} can't be resumed, because its snapshots expired and were removed. Plan the "
            "scenario again"
        )
    records = step_records(store.journal.entries(run)).values()
    if any(r.state is StepState.UNDONE for r in records):
        raise RefusedError(
            f"run {run} can't be resumed, because the run was undone. Apply the run's plan again "
            "instead"
        )
    if begun := undo_begun(store, run):
        raise RefusedError(
            f"run {run} can't be resumed, because its undo (run {begun[0]}) has started. To finish "
            f"the undo, run `headgate resume {begun[0]}` or `headgate undo {run}`"
        )
