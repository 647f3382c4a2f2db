"""Verify that a pipeline is stopped, before each step that needs it stopped.

An orchestrator may restart a pipeline at any time, and the broker lets a topic be deleted that the
pipeline uses: what the stop step has verified may be hours old.
"""

from __future__ import annotations

from headgate.errors import RefusedError, StalePlanError
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.step import active_reason, pending_reason

# A query is quiet when no batch came over several times the longest of its usual interval and its
# batches' durations. Below the minimum nothing is proven; beyond the maximum nobody waits.
QUIET_TIMES, QUIET_MIN, QUIET_MAX = 3.0, 3.0, 180.0


def check_stopped(
    inspector: Inspector,
    pipeline: str | None,
    *,
    group: str | None = None,
    checkpoint: str | None = None,
) -> None:
    """Refuse unless every available source says that the pipeline is stopped.

    For the `check` of each destructive step; it is quick and has no effects. The sources are:

    - the status command, which must say `stopped`;
    - what its driver reports (`headgate.watch`, Spark's REST interface);
    - the `group`, which must be verified empty. Static members and those of a killed process count
      until their session times out. So does an open transaction that has committed its offsets;
    - the logs of `checkpoint`, which must not have moved just now, unless one of the first two
      reports the end.

    `pipeline` is None if it isn't registered. RefusedError names what contradicts it.
    """
    proven = pipeline is not None and _said(inspector, pipeline)
    if group is not None:
        _nobody_in(inspector, group)
    if checkpoint is not None and not proven:
        _quiet(inspector, pipeline, checkpoint)


def _nobody_in(inspector: Inspector, group: str) -> None:
    found = inspector.kafka.group(group)
    if not found.is_inactive:
        raise RefusedError(active_reason(inspector, group))
    if found.pending:
        raise RefusedError(pending_reason(found))


def _said(inspector: Inspector, pipeline: str) -> bool:
    """Return whether somebody says that it is stopped; refuse where somebody says otherwise."""
    registered = inspector.processes.registered(pipeline)
    if registered is None:
        raise StalePlanError(
            f"{pipeline} is no longer registered in headgate.toml. Register the pipeline, then "
            "run `headgate plan` again"
        )
    if registered.commands.status is not None:
        status = inspector.processes.status(pipeline)
        if status is not Status.STOPPED:
            raise RefusedError(
                f"{pipeline} must stay stopped, but its status is {status.word}. "
                f"{stop_advice(status)}"
            )
    told = inspector.processes.driver_status(pipeline)
    if told.status is Status.RUNS:
        raise RefusedError(
            f"{pipeline} must stay stopped, but it still runs ({told.why}). Stop the pipeline, "
            "then try again"
        )
    return registered.commands.status is not None or told.status is Status.STOPPED


def stop_advice(status: Status) -> str:
    """Return what to do if a status command doesn't say that the pipeline is stopped."""
    if status is Status.UNKNOWN:
        return (
            "Check that the status command reports a stopped pipeline (a shell command by exit "
            "code 3), then try again"
        )
    return "Stop the pipeline, then try again"


def _quiet(inspector: Inspector, pipeline: str | None, location: str) -> None:
    found = inspector.checkpoints.read(location)
    if found is None or found.quiet_seconds is None:
        return
    wait = min(quiet_needed(found), QUIET_MAX) - found.quiet_seconds
    if wait > 0:
        raise RefusedError(
            f"{pipeline or 'the query'} must stay stopped, but the logs of checkpoint {location} "
            f"changed {found.quiet_seconds:.0f} s ago, so the query may still run. Stop the query. "
            f"If it is already stopped, try again in {wait:.0f} s"
        )


def quiet_needed(found: Checkpoint) -> float:
    """Return for how many seconds no batch must come before silence says anything."""
    longest = max(found.batch_seconds or 0, found.busy_seconds or 0)
    return max(QUIET_TIMES * longest, QUIET_MIN)
