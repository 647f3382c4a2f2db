"""Have Spark's state reader load a checkpoint's state, in a process beside us."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.errors import RefusedError
from headgate.gateway.checkpoint.batches import commit_of
from headgate.gateway.spark.run_job import ended_early, program_environment, run_program
from headgate.model.restore_points import StoreRows

_PROGRAM = "headgate.spark_jobs.read_state"
SECONDS = 1800.0


def read_state(
    checkpoint: Path,
    batch: int,
    folder: Path,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    seconds: float = SECONDS,
) -> tuple[StoreRows, ...]:
    """Return how many rows each store has at the end of `batch`.

    `folder` is for files of the reading and is removed after it. RefusedError says which store
    Spark could not load and why, or that its process died; UnreachableError that it did not end in
    time.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    request, outcome = folder / "request.json", folder / "outcome.json"
    wish = {
        "checkpoint": str(checkpoint),
        "batch": batch,
        # The reader takes it from the session, not from the checkpoint.
        "format": 1 if commit_of(checkpoint, batch).state_ids is None else 2,
        "outcome": str(outcome),
        "scratch": str(folder),
    }
    request.write_text(json.dumps(wish))
    try:
        what = f"the state reader of {checkpoint}"
        code = run_program(
            [_PROGRAM, str(request)],
            importable=[folder],
            timeout_s=seconds,
            what=what,
            environment=program_environment([folder]) | {"TMPDIR": str(folder)},
            cancelled=cancelled,
        )
        if not outcome.is_file():
            raise RefusedError(ended_early(what, code, folder / "spark.log"))
        return tuple(_store(found) for found in json.loads(outcome.read_text()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _store(found: dict[str, Any]) -> StoreRows:
    if found["error"] is not None:
        raise RefusedError(
            f"Spark can't read the state of operator {found['operator']}, store"
            f" {found['store']}: {found['error'].rstrip('.')}. For a rewind, use an earlier "
            "--batch or another --restore-point"
        )
    return StoreRows(operator=found["operator"], store=found["store"], rows=found["rows"])
