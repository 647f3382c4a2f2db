"""Wait until a pipeline has stopped after its stop command, as far as Headgate can see."""

from __future__ import annotations

from headgate.errors import RefusedError
from headgate.model.cluster import Group
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base import verify_stopped
from headgate.reprocess.steps.base.step import active_reason, pending_reason
from headgate.reprocess.steps.base.wait import Wait

# A killed consumer stays a member until its session times out: 45 s unless configured. The watch
# of a driver that was killed on another machine is believed for 100 s.
STOP_SECONDS, TOLD_SECONDS = 90.0, 120.0
# A producer's transactions time out after 60 s unless configured; the broker looks every 10 s.
PENDING_SECONDS = 75.0


def is_running(inspector: Inspector, pipeline: str, group: str | None) -> bool | None:
    """Return whether the pipeline runs, None if no source says so."""
    status = inspector.processes.status(pipeline)
    if status is not Status.UNKNOWN:
        return status is not Status.STOPPED
    if group is not None:
        found = inspector.kafka.group(group)
        return False if found.is_inactive else (True if found.members else None)
    told = inspector.processes.driver_status(pipeline).status
    return None if told is Status.UNKNOWN else told is Status.RUNS


def wait_until_stopped(
    applier: Applier,
    pipeline: str,
    *,
    group: str | None = None,
    checkpoint: str | None = None,
    patient: bool = True,
) -> None:
    """Return once it is verified that the pipeline has stopped; RefusedError says what isn't.

    A group must be empty and have no open transaction with its offsets. For a query, its status
    command or its driver must report the end, else no batch may come for several times as long as
    one usually takes; the logs must not move in any case. Without `patient` nothing was done that
    would need time.
    """
    registered = applier.processes.registered(pipeline)
    has_status = registered is not None and registered.commands.status is not None
    if has_status:
        _wait_for_status(applier, pipeline, patient)
    if group is not None:
        found = _wait_for_empty_group(applier, group, patient, proven=has_status)
        _wait_for_transactions(applier, found)
    told = _wait_for_driver(applier, pipeline, patient)
    if checkpoint is not None:
        proven = has_status or told is Status.STOPPED
        _watch_logs(applier, pipeline, checkpoint, proven=proven)


def _wait_for_status(applier: Applier, pipeline: str, patient: bool) -> None:
    wait, status = Wait(applier=applier), applier.processes.status(pipeline)
    while status is not Status.STOPPED and wait.seconds < STOP_SECONDS and patient:
        wait.pause()
        status = applier.processes.status(pipeline)
    if status is not Status.STOPPED:
        raise RefusedError(
            f"{pipeline} is not stopped{_after(wait)}: its status is {status.word}. "
            f"{verify_stopped.stop_advice(status)}"
        )


def _wait_for_empty_group(applier: Applier, group: str, patient: bool, *, proven: bool) -> Group:
    """Wait until the group is empty; a deleted one counts only if the status shows the stop."""
    wait = Wait(applier=applier)
    while not _is_empty(found := applier.kafka.group(group), proven=proven):
        if wait.seconds >= STOP_SECONDS or not patient:
            raise RefusedError(active_reason(applier, group))
        wait.pause()
    return found


def _is_empty(group: Group, *, proven: bool) -> bool:
    is_gone = group.state == "dead" and group.members == ()
    return group.is_inactive or (proven and is_gone)


def _wait_for_transactions(applier: Applier, found: Group) -> None:
    """Wait also where nothing was done: the broker ends what a killed producer left open."""
    wait = Wait(applier=applier)
    while found.pending:
        if wait.seconds >= PENDING_SECONDS:
            raise RefusedError(pending_reason(found))
        if wait.seconds == 0:
            applier.note(f"waiting for the open transaction of group {found.id} to end")
        wait.pause()
        found = applier.kafka.group(found.id)


def _wait_for_driver(applier: Applier, pipeline: str, patient: bool) -> Status:
    wait, told = Wait(applier=applier), applier.processes.driver_status(pipeline)
    while told.status is Status.RUNS and wait.seconds < TOLD_SECONDS and patient:
        wait.pause()
        told = applier.processes.driver_status(pipeline)
    if told.status is Status.RUNS:
        raise RefusedError(
            f"{pipeline} still runs{_after(wait)} ({told.why}). Stop the pipeline, then try again"
        )
    return told.status


def _after(wait: Wait) -> str:
    """Say how long Headgate waited; nothing if there was nothing to wait for."""
    return f" after {wait.seconds:.0f} s" if wait.seconds else ""


def _watch_logs(applier: Applier, pipeline: str, location: str, *, proven: bool) -> None:
    """Refuse if a batch comes; watch for as long as needed if no other source shows the end."""
    before = applier.checkpoints.read(location)
    if before is None:
        return
    seconds = min(verify_stopped.quiet_needed(before), verify_stopped.QUIET_MAX)
    if proven:
        # Somebody said so already: then the silence up to now counts, too, as in each later proof.
        seconds = min(seconds, max(verify_stopped.QUIET_MIN, verify_stopped.QUIET_MAX / 3))
        seconds = max(seconds - (before.quiet_seconds or 0), verify_stopped.QUIET_MIN)
    elif verify_stopped.quiet_needed(before) > verify_stopped.QUIET_MAX:
        needed = verify_stopped.quiet_needed(before)
        raise RefusedError(
            f"Headgate can't verify that {pipeline} is stopped: its batches are so long or so "
            f"rare that Headgate would have to watch the checkpoint for {needed:.0f} s. Register a "
            "status command, or set `watch` in headgate.toml and call headgate.watch in the driver"
        )
    applier.note(
        f"checking for {seconds:.0f} s that no new batch appears in the logs of checkpoint "
        f"{location}"
    )
    wait = Wait(applier=applier)
    while wait.seconds < seconds:
        wait.pause()
        now = applier.checkpoints.read(location)
        if now is None or now.head != before.head or now.query_id != before.query_id:
            at = _last_batches(now.head if now else (None, None))
            raise RefusedError(
                f"the logs of checkpoint {location} changed ({_last_batches(before.head)} -> "
                f"{at}), so {pipeline} still runs. Stop the pipeline, then try again"
            )


def _last_batches(head: tuple[int | None, int | None]) -> str:
    begun, done = ("none" if batch is None else batch for batch in head)
    return f"offset log at batch {begun}, commit log at batch {done}"
