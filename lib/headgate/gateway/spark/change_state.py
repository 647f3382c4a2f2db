"""Run the programs that read a checkpoint's state and rebuild it, and report how they ended."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headgate.errors import RefusedError, StepError
from headgate.gateway.checkpoint.batches import commit_of
from headgate.gateway.checkpoint.copy import copy_checkpoint, point_to, point_to_itself
from headgate.gateway.checkpoint.folders import make_like, remove_tree, sync, write_file
from headgate.gateway.files.evidence_files import find
from headgate.gateway.spark.run_job import ended_early, program_environment, run_program
from headgate.model.open_state import OpenStore
from headgate.model.restore_points import StoreRows

SECONDS = 3600.0
MANIFEST = "manifest.json"


def repartition(
    checkpoint: Path, copy: Path, partitions: int, folder: Path, cancelled: Callable[[], bool]
) -> tuple[StoreRows, ...]:
    """Copy a checkpoint and have Spark repartition the copy's state; verify that no row differs.

    The copy has a batch more, without input. Nothing is linked: what Spark writes in the copy must
    not reach the original. RefusedError is the engine's own refusal, StepError says that the rows
    differ or the program died.
    """
    place = find(str(checkpoint))
    if place is None:
        raise StepError(
            f"checkpoint {checkpoint} no longer exists. Restore the checkpoint from a copy, then "
            "resume the run"
        )
    remove_tree(copy)
    copy_checkpoint(place, copy)
    make_like(copy, checkpoint)
    point_to_itself(copy)
    batch = _last_commit(copy)
    wish = {"checkpoint": str(copy), "batch": batch, "partitions": partitions}
    found = _run("headgate.spark_jobs.repartition_state", wish, folder, copy, cancelled)
    other = [
        f"operator {row['operator']}, store {row['store']}" for row in found if not row["same"]
    ]
    if other:
        raise StepError(
            f"rows of the repartitioned state differ from the old state: {'; '.join(other)}. The "
            "checkpoint of the pipeline is unchanged: run `headgate undo RUN` to roll back"
        )
    point_to(copy, str(checkpoint))
    _sync_tree(copy)
    return tuple(
        StoreRows(operator=row["operator"], store=row["store"], rows=row["rows"]) for row in found
    )


def export(
    checkpoint: Path, into: Path, folder: Path, cancelled: Callable[[], bool]
) -> Mapping[str, Any]:
    """Write the state at the last committed batch to Parquet below `into`; return the manifest.

    It is stored there, too, as `manifest.json`. What an earlier try left is removed. RefusedError
    is the state reader's own refusal, StepError says that a row is missing or the program died.
    """
    remove_tree(into)
    into.mkdir(parents=True)
    batch = _last_commit(checkpoint)
    wish = {"checkpoint": str(checkpoint), "batch": batch, "folder": str(into)}
    found = _run("headgate.spark_jobs.export_state", wish, folder, checkpoint, cancelled)
    if not found:
        raise RefusedError(
            f"{checkpoint} has no state to export: plan again without --export-state"
        )
    short = [one["folder"] for one in found if one["rows"] != one.pop("rows_read")]
    if short:
        raise StepError(
            "the export is incomplete, because the exported files lack rows of the state "
            f"({', '.join(short)}). Resume the run to export the state again"
        )
    manifest = {
        "schema": 1,
        "checkpoint": str(checkpoint),
        "query_id": json.loads((checkpoint / "metadata").read_text())["id"],
        "batch": batch,
        "operators": found,
    }
    write_file(into / MANIFEST, json.dumps(manifest, indent=1) + "\n")
    _sync_tree(into)
    return manifest


def open_stores(
    checkpoint: Path, batch: int, folder: Path, seconds: float
) -> tuple[OpenStore, ...]:
    """Return what each store holds at the end of `batch`; the checkpoint is only read.

    RefusedError is the state reader's own refusal, UnreachableError says that it took longer,
    StepError that the program died.
    """
    wish = {"checkpoint": str(checkpoint), "batch": batch}
    found = _run("headgate.spark_jobs.open_state", wish, folder, checkpoint, lambda: False, seconds)
    return tuple(OpenStore(**row) for row in found)


def _last_commit(checkpoint: Path) -> int:
    names = [p.name for p in (checkpoint / "commits").glob("*") if p.name.isdecimal()]
    if not names:
        raise RefusedError(
            f"{checkpoint} has no committed batch, so there is no state. Let the query "
            "complete a batch first"
        )
    return max(map(int, names))


def _run(
    program: str,
    wish: Mapping[str, Any],
    folder: Path,
    checkpoint: Path,
    cancelled: Callable[[], bool],
    seconds: float = SECONDS,
) -> list[dict[str, Any]]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    request, outcome = folder / "request.json", folder / "outcome.json"
    ids = commit_of(checkpoint, wish["batch"]).state_ids
    more = {"format": 1 if ids is None else 2, "outcome": str(outcome), "scratch": str(folder)}
    request.write_text(json.dumps({**wish, **more}))
    what = f"the Spark job on the state of {checkpoint}"
    try:
        code = run_program(
            [program, str(request)],
            importable=[folder],
            timeout_s=seconds,
            what=what,
            environment=program_environment([folder]) | {"TMPDIR": str(folder)},
            cancelled=cancelled,
        )
        if not outcome.is_file():
            raise StepError(ended_early(what, code, folder / "spark.log"))
        found = json.loads(outcome.read_text())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if isinstance(found, dict):
        condition = f"{found['condition']}: " if found["condition"] else ""
        step = found.get("step", "Run `headgate plan repair` to check the checkpoint")
        raise RefusedError(f"{what} failed: {condition}{found['error'].rstrip('.')}. {step}")
    rows: list[dict[str, Any]] = found
    return rows


def _sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)
    sync(folder.parent)
