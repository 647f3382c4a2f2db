"""Run a rehearsal's program beside us and read what the engine said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError, UnreachableError
from headgate.gateway.checkpoint.copy import point_to_itself
from headgate.gateway.spark.capture import PIECES
from headgate.gateway.spark.run_job import (
    ended_early,
    jars_hint,
    joined_jars,
    program_environment,
    run_program,
)
from headgate.model.rehearsal import (
    Batch,
    BatchKind,
    EngineOutcome,
    EngineVerdict,
    RollbackTrial,
    Stage,
    StateRows,
)

_PROGRAM = "headgate.spark_jobs.rehearse_query"
_SAMPLE = 20
# Spark's own start, the recording of the plan and the reading of the state.
_AROUND_S = 60.0
_ENDED = ", so Headgate ended the process. Check whether the function waits for a server, "
_CHECK_LOAD = "and check this machine's load"
# On its own copy, on the touched one, and there once more repaired.
_STARTS = 3


@dataclass(frozen=True, slots=True)
class Given:
    """A copy that another version has changed, and the folder of that version's evidence."""

    checkpoint: str
    pieces: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRequest:
    """What a rehearsal may do: `batch` is real, none or given.

    `given` is what another version has run on, whose batches are taken instead of new ones.
    `touched` is a copy that another version has been tried on after the batch `last_commit`: this
    one is started there, too, once it has done its own.
    """

    batch: str = "real"
    batches: int = 1
    max_records: int = 1000
    seconds: float = 300.0
    query: str | None = None
    conf: Mapping[str, str]
    allow_sources: Sequence[str] = ()
    with_credentials: bool = False
    given: Given | None = None
    touched: str | None = None
    last_commit: int | None = None


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The engine's verdict, every row that was written, its columns, and the query's evidence."""

    engine: EngineVerdict
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    pieces: Path


def rehearse_query(
    entry_point: str,
    checkpoint: Path,
    into: Path,
    wish: RehearsalRequest,
    *,
    importable: Sequence[Path],
    cancelled: Callable[[], bool] = lambda: False,
    if_slow: str = _CHECK_LOAD,
) -> Rehearsed:
    """Start `function(spark)` on a copied checkpoint, for one batch, with its sink replaced.

    `checkpoint` is changed as a real start would change it: it must be a copy. `into` is an empty
    folder on the same disk. CaptureError says what the function did wrong, UnreachableError that
    Spark did not start, or that its process had to be ended, RunCancelledError that somebody did.
    `if_slow` is what else to do if the process had to be ended, such as an option of the command.
    """
    into.mkdir(parents=True, exist_ok=True)
    point_to_itself(checkpoint)
    temporary = into / "tmp"
    temporary.mkdir()
    jars = joined_jars()
    request = into / "request.json"
    fields = asdict(wish) | {
        "entry_point": entry_point,
        "checkpoint": str(checkpoint),
        "into": str(into),
        "jars": jars,
        "conf": dict(wish.conf),
    }
    request.write_text(json.dumps(fields), encoding="utf-8")
    what = f"the rehearsal of {entry_point}"
    code = run_program(
        [_PROGRAM, str(request)],
        importable=importable,
        timeout_s=wish.seconds * (_STARTS if wish.touched else 1) + _AROUND_S,
        what=what,
        environment=program_environment(importable, with_credentials=wish.with_credentials)
        | {"TMPDIR": str(temporary)},
        cancelled=cancelled,
        hint=_ENDED + if_slow,
    )
    scratch = into / ".scratch"
    outcome = scratch / "outcome.json"
    if not outcome.is_file():
        raise UnreachableError(ended_early(what, code, scratch / "spark.log"))
    found = json.loads(outcome.read_text(encoding="utf-8"))
    if found["error"] is not None:
        raise CaptureError(found["error"] + ("" if jars else jars_hint(found["error"])))
    return _read(found["engine"], into)


def evidence(pieces: Path) -> tuple[str, ...]:
    """Return the pieces of evidence that a rehearsal leaves, as a capture does."""
    return tuple(str(pieces / name) for name in PIECES)


def _read(found: dict[str, Any], pieces: Path) -> Rehearsed:
    rows = tuple(Path(found["rows_json"]).read_text(encoding="utf-8").splitlines())
    plain = ("error_class", "condition", "message", "rows_in", "rows_out", "question")
    engine = EngineVerdict(
        outcome=EngineOutcome(found["outcome"]),
        stage=Stage(found["stage"]) if found.get("stage") else None,
        batches=tuple(_batch(b) for b in found["batches"]),
        state=tuple(StateRows(**s) for s in found["state"]),
        rows=tuple(json.loads(row) for row in rows[:_SAMPLE]),
        spark_version=found["spark_version"],
        sink=found["sink"],
        not_exercised=tuple(found["not_exercised"]),
        rollback=_rollback(found["rollback"]) if "rollback" in found else None,
        **{name: found.get(name) for name in plain},
    )
    return Rehearsed(engine, rows, tuple(found["columns"]), pieces)


def _rollback(found: dict[str, Any]) -> RollbackTrial:
    repaired = found.get("repaired")
    return RollbackTrial(
        outcome=EngineOutcome(found["outcome"]),
        error_class=found["error_class"],
        message=found["message"],
        rows_in=found.get("rows_in", 0),
        removed=tuple(found.get("removed", ())),
        repaired=EngineOutcome(repaired) if repaired else None,
        note=found.get("note", ""),
    )


def _batch(found: dict[str, Any]) -> Batch:
    return Batch(**(found | {"kind": BatchKind(found["kind"])}))
