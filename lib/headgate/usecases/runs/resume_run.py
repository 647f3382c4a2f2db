"""Continue a run that failed, was cancelled or lost its worker, at the step where it stopped."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError
from headgate.reprocess.execution.execute import StepState
from headgate.store import Store, open_store
from headgate.store.step_records import step_records
from headgate.store.worker_slots import is_served
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN, overtaken, started_undos


def resume_run(context: Context, run: str, *, by: str) -> str:
    """Queue the run again and return its id; the caller starts a worker if none is running.

    An active run whose worker has ended stays as it is, because the next worker continues it.
    RefusedError if the run is done or refused, if a worker executes the run, if an undo of it has
    started, if a later run uses the same group or checkpoint, or if its snapshots were removed.
    """
    with closing(open_store(context.store_url)) as store:
        row = store.runs.get(run)
        if row.state.is_active and not is_served(store.database, row):
            context.before_queueing()
            store.audit.add(by=by, action="resume", pipeline=row.pipeline, run=run)
            return run
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
            f"run {run} can't be resumed, because steps of the run were rolled back. Plan the "
            "scenario again"
        )
    if begun := started_undos(store, run):
        raise RefusedError(
            f"run {run} can't be resumed, because its undo (run {begun[0]}) has started. To finish "
            f"the undo, run `headgate resume {begun[0]}` or `headgate undo {run}`"
        )
