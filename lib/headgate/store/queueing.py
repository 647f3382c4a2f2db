"""What a queued run is written as, by the store and by a glance at its file alike."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from headgate.errors import RefusedError
from headgate.store.clock import now
from headgate.store.rows import NewRun, RunState

# The states in which a run has its resources.
ACTIVE = tuple(state.value for state in RunState if state.is_active)


def new_id() -> str:
    """Return an id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def queued_columns(new: NewRun, run: str, *, by: str) -> dict[str, Any]:
    """Return the row of `runs` that is written for a requested run."""
    return {
        "id": run,
        "scenario": new.scenario,
        "pipeline": new.pipeline,
        "plan_hash": new.plan_hash,
        "plan": new.plan,
        "undo_of": new.undo_of,
        "state": RunState.QUEUED.value,
        "created_at": now(),
        "created_by": by,
        "attempt": 1,
        "cancel_requested": False,
        "resumes": new.resumes,
    }


def busy(run: str, state: str, resource: str) -> RefusedError:
    """Return the blocker of a run whose resource an active run has."""
    what = resource.replace(":", " ", 1)
    return RefusedError(
        f"run {run} is {state} and uses {what}: wait until the run ends. If its worker was "
        f"killed, run `headgate resume {run}`"
    )
