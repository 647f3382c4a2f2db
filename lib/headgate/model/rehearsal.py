"""The result of a rehearsal: the engine's outcome, rows in and out, state before and after."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EngineOutcome(StrEnum):
    """REFUSES: the start or the batch failed. RESUMES: a batch completed. UNKNOWN: undecided."""

    REFUSES = "refuses"
    RESUMES = "resumes"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """When a start failed.

    START: before Spark wrote anything. BEFORE_OFFSETS and AFTER_OFFSETS: before or after Spark
    added a batch to the offset log.
    """

    START = "start"
    BEFORE_OFFSETS = "before_offsets"
    AFTER_OFFSETS = "after_offsets"


class BatchKind(StrEnum):
    """The input of a batch.

    NEW: rows that no earlier batch read. REPEATED: the uncommitted batch, reprocessed. PINNED: the
    same offsets as the other version's batch. EMPTY: no source was read.
    """

    NEW = "new"
    REPEATED = "repeated"
    PINNED = "pinned"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One completed batch; `rows_out` is None if the sink doesn't count its rows."""

    number: int
    kind: BatchKind
    rows_in: int
    rows_out: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRows:
    """Rows of one store, counted by the state reader; None if it can't read the store.

    `memory` is in bytes.
    """

    operator_id: int
    operator: str
    store: str
    before: int | None = None
    after: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDifference:
    """What both versions wrote for the same input, on copies of the same checkpoint.

    Repeated rows are counted; only columns that both versions have are compared. `same_input` is
    False if both runs read different offsets: then nothing is compared. `old` is the outcome of the
    old version on its own copy.
    """

    old: EngineOutcome
    old_error_class: str | None = None
    same_input: bool = False
    equal: int = 0
    only_before: int = 0
    only_after: int = 0
    sample_before: tuple[dict[str, Any], ...] = ()
    sample_after: tuple[dict[str, Any], ...] = ()
    columns: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackTrial:
    """What the old version did on the copy that the new version had changed.

    `outcome` is that of the first start, UNKNOWN if it decided nothing. If this start failed,
    `removed` are the entries that were deleted from the checkpoint's logs, and `repaired` is the
    outcome of the next start. `is_own_entry`: the rehearsal wrote the new entry in the offset log
    (no new rows), so the entry of a real deployment wasn't tested. `rows_in` is the number of rows
    that the old version read; with 0, it only loaded the state.
    """

    outcome: EngineOutcome
    error_class: str | None = None
    message: str | None = None
    rows_in: int = 0
    removed: tuple[str, ...] = ()
    repaired: EngineOutcome | None = None
    is_own_entry: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Untouched:
    """Shows whether the original is unchanged: a hash over all its files, before and after."""

    location: str
    files: int
    bytes: int
    before: str
    after: str
    changed: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether both hashes are the same."""
        return self.before == self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVerdict:
    """What the engine did with a copy of the checkpoint.

    `error_class` is the error condition, or the class of the exception; `condition` also has the
    sub-condition. `rows_in` and `rows_out` are sums over all batches, None if no batch completed.
    `question` says what would decide an UNKNOWN. `rows` are the first rows of the output.
    """

    outcome: EngineOutcome
    error_class: str | None = None
    condition: str | None = None
    message: str | None = None
    stage: Stage | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    batches: tuple[Batch, ...] = ()
    state: tuple[StateRows, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    spark_version: str = ""
    sink: str = ""
    not_exercised: tuple[str, ...] = ()
    question: str | None = None
    output: OutputDifference | None = None
    rollback: RollbackTrial | None = None
    checkpoint: Untouched | None = None
