"""What an engine did in a rehearsal: its own verdict, rows in and out, state before and after."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EngineOutcome(StrEnum):
    """REFUSES: did not start, or stopped at its batch. RESUMES: did a batch. UNKNOWN: neither."""

    REFUSES = "refuses"
    RESUMES = "resumes"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """How far a refused start came: an entry in the offset log is what a refusal leaves behind."""

    START = "start"
    BEFORE_OFFSETS = "before_offsets"
    AFTER_OFFSETS = "after_offsets"


class BatchKind(StrEnum):
    """NEW: rows that no batch had taken. REPEATED: again what was not committed.

    PINNED: the input that another version was given. EMPTY: none of the sources was asked.
    """

    NEW = "new"
    REPEATED = "repeated"
    PINNED = "pinned"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch that was run to its end; `rows_out` is None where the sink can't tell."""

    number: int
    kind: BatchKind
    rows_in: int
    rows_out: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRows:
    """Rows of one store by the state reader; None where it can't read it. `memory` is in bytes."""

    operator_id: int
    operator: str
    store: str
    before: int | None = None
    after: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDifference:
    """What the old version and the new one wrote for the same input, on copies of one checkpoint.

    Rows are compared as sets that count; by the columns that both have, where those differ.
    `same_input` is False where the offsets of both runs differ: then nothing is compared.
    `old` says whether the old version itself was refused there.
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
    """What the old version did on the very copy that the new one had touched.

    `outcome` is of its first start there, UNKNOWN where that decided nothing. Where it was refused,
    `removed` are the entries of the checkpoint's logs that were taken out, and `repaired` is what
    the start after that came to. `is_own_entry`: what the attempt left in the offset log was
    written by the rehearsal (no new rows), so what a real one leaves there was not tried.
    `rows_in` is what its batches took there: with none, state was loaded and no row of it used.
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
    """The proof that the original is as it was: a hash over all its files, before and after."""

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
    """What the engine itself did with a copy of the checkpoint.

    `error_class` is the main condition, or the exception's class; `condition` with its
    sub-condition. `rows_in` and `rows_out` are over all batches, None where no batch was done.
    `question` says what would decide an UNKNOWN. `rows` are the first rows that were written.
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
