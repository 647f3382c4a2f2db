"""DBOS behind one module: launch it for a slot, start a run's workflow, read its state.

Guards, each for a hazard that was seen: the slot's lock is held before `launch` (two processes of
one executor id run a step twice); the application version is ours and not the source's hash (an
older version's workflow would stay pending for ever); values are stored as JSON, not pickled; a
workflow is started once per run and attempt, and never resumed while it lives; one that died with
its thread, as when the disk was full and DBOS could write neither result nor error, stays pending,
and is resumed by the worker itself.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID

from headgate.store.rows import RunRow, RunState
from headgate.worker.runner import Runner

LOG = logging.getLogger("headgate.worker")
# Grows when the steps of the workflow below, or what they return, are others; what an older one
# left is shown, not recovered.
WORKFLOW_VERSION = "2"
# A workflow whose worker ended so often is not recovered again: it may be what ends them.
MOST_RECOVERIES = 100
_GIVEN_UP = "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
_LIVE = frozenset({"PENDING", "ENQUEUED", "DELAYED"})
_RUNNER: list[Runner] = []
# Held while this process executes the workflow of that id: a second execution waits, and then
# finds every step done.
_EXECUTING: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_SUSPECTS: set[str] = set()


def launch(url: sa.URL, slot: str, runner: Runner) -> None:
    """Start DBOS in the store's database and recover what the slot's last worker left."""
    _RUNNER[:] = [runner]
    config: DBOSConfig = {
        "name": "headgate",
        "system_database_url": url.render_as_string(hide_password=False),
        "executor_id": slot,
        "application_version": _version(slot),
        "serializer": DBOSPortableJSONSerializer(),
        "log_level": "WARNING",
        "use_listen_notify": False,
        "max_executor_threads": 16,
        "enable_otlp": False,
    }
    DBOS(config=config)
    DBOS.launch()


def start(row: RunRow) -> None:
    """Start the run's workflow: its id is the run's, with the attempt's number from the second."""
    with SetWorkflowID(workflow_id(row)):
        DBOS.start_workflow(execute_run, row.id, row.attempt)


def workflow_id(row: RunRow) -> str:
    """Return the id of the workflow of a run's attempt."""
    return _name(row.id, row.attempt)


def _name(run: str, attempt: int) -> str:
    return run if attempt == 1 else f"{run}.{attempt}"


def is_known(row: RunRow) -> bool:
    """Return whether there is a workflow of this attempt, living or ended."""
    return DBOS.get_workflow_status(workflow_id(row)) is not None


def is_live(row: RunRow) -> bool:
    """Return whether the workflow of this attempt is under way or will be."""
    status = DBOS.get_workflow_status(workflow_id(row))
    # One that another version of the program left stays pending for ever, without an error.
    return bool(status and status.status in _LIVE and status.app_version == _version(row.slot))


def why_ended(row: RunRow) -> str:
    """Return why a workflow that lives no more has left its run without an end."""
    status = DBOS.get_workflow_status(workflow_id(row))
    if status is not None and status.status == _GIVEN_UP:
        return (
            "the worker crashed each time that it resumed this run. The run may be the cause. "
            "Check the worker's log and the machine's memory, then resume or undo the run"
        )
    return "the worker stopped executing this run before the run ended: resume or undo the run"


def has_died(row: RunRow) -> bool:
    """Return whether the workflow is pending and no thread of this process executes it.

    Only what was so at the call before, too, counts: a workflow that just begins has no thread yet.
    """
    name = workflow_id(row)
    status = DBOS.get_workflow_status(name)
    if status is None or status.status != "PENDING" or _EXECUTING[name].locked():
        _SUSPECTS.discard(name)
        return False
    was_suspect = name in _SUSPECTS
    _SUSPECTS.add(name)
    return was_suspect


def resume_workflow(row: RunRow) -> None:
    """Execute a workflow that has died once more; the journal says where it was."""
    _SUSPECTS.discard(workflow_id(row))
    DBOS.resume_workflow(workflow_id(row))


def _version(slot: str | None) -> str:
    """The slot is in it: another slot's worker must not resume a recovered workflow."""
    return f"{WORKFLOW_VERSION}-{slot}"


def destroy() -> None:
    """Stop DBOS's threads; workflows that are under way stay to be recovered."""
    DBOS.destroy()


@DBOS.workflow(  # type: ignore[untyped-decorator]
    name="execute_run", max_recovery_attempts=MOST_RECOVERIES
)
def execute_run(run: str, attempt: int) -> str:
    """Carry out a run; whatever happens, the run's row says how it ended."""
    with _EXECUTING[_name(run, attempt)]:
        return _execute(run, attempt)


def _execute(run: str, attempt: int) -> str:
    state, error, count = _prepare(run, attempt)
    for position in range(count):
        state, error = _apply_step(run, attempt, position)
        if state is not None:
            break
    if state == RunState.REFUSED and count:
        ended, why = _roll_back(run, attempt)
        if ended is not None:
            state, error = ended, f"{error}; {why}"
    end: str = _finish(run, attempt, state or RunState.DONE.value, error)
    return end


@DBOS.step(name="prepare")  # type: ignore[untyped-decorator]
def _prepare(run: str, attempt: int) -> Any:
    return _guarded(lambda: _RUNNER[0].prepare(run, attempt), 0)


@DBOS.step(name="apply_step")  # type: ignore[untyped-decorator]
def _apply_step(run: str, attempt: int, position: int) -> Any:
    return _guarded(lambda: _RUNNER[0].apply_step(run, attempt, position))


@DBOS.step(name="roll_back")  # type: ignore[untyped-decorator]
def _roll_back(run: str, attempt: int) -> Any:
    return _guarded(lambda: _RUNNER[0].roll_back(run, attempt))


@DBOS.step(name="finish", retries_allowed=True, max_attempts=5)  # type: ignore[untyped-decorator]
def _finish(run: str, attempt: int, state: str, error: str | None) -> str:
    _RUNNER[0].finish(run, attempt, RunState(state), error)
    return state


def _guarded(call: Any, *rest: Any) -> list[Any]:
    """Return the call's result as JSON values; a defect of ours ends the run, not the worker."""
    try:
        return list(call())
    except Exception as error:
        LOG.exception("unexpected error")
        said = f"unexpected error {type(error).__name__}: {str(error).rstrip('.')}"
        return [RunState.FAILED.value, f"{said}. The worker's log has the stack trace", *rest]
